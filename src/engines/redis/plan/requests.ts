/** What a person asks for with an annotation on the custom resource: another primary, or a restart of all members. */
import { restartAnnotation, switchoverAnnotation } from '../../../api/maintenance.ts';
import type { KubeObject } from '../../../api/object.ts';
import { type ActStep, blocked, type ObjectStep, type Outcome, type Plan, wait } from '../../../plan/plan.ts';
import { refOf } from '../../../plan/ref.ts';
import type { Children, StatefulSet } from '../../../resources/children.ts';
import type { RedisAction } from '../action.ts';
import { redisKind } from '../kind/schema.ts';
import { preferredPriority } from '../names.ts';
import type { DataNode } from '../observe/observed.ts';
import type { Situation } from '../observe/situation.ts';
import { target } from './repair.ts';
import { switchoverStep } from './switchover-step.ts';

type RequestPlan = Plan<RedisAction>;

export const switchoverRefused = 'SwitchoverRefused';
/** A sentinel asks its nodes for their priority every ten seconds. */
const recheckMs = 500;

const usualPriority = 100;

/** Undefined where nobody asks. The cluster is whole. */
export function planSwitchover(situation: Situation, primary: DataNode): RequestPlan | undefined {
  const wanted = situation.cluster.metadata.annotations?.[switchoverAnnotation];
  if (wanted === undefined) return undefined;
  if (wanted === primary.pod) {
    return { steps: dropRequest(situation), outcome: wait('SwitchingOver', `${primary.pod} is primary`, recheckMs) };
  }
  if (situation.spec.mode === 'Standalone') return refused(wanted, 'and a single node has no successor');
  const successor = situation.nodes.find(({ pod }) => pod === wanted);
  if (successor === undefined) return refused(wanted, 'no node of this cluster');
  if (!successor.failoverEligible || !primary.replicas.includes(successor.address)) {
    return refused(wanted, 'which is no replica in sync');
  }
  const message = `${primary.pod} hands over to ${wanted}, as ${switchoverAnnotation} says`;
  if (successor.preferred !== true) {
    return {
      steps: [preferenceStep(successor, preferredPriority)],
      outcome: wait('SwitchingOver', message, recheckMs),
    };
  }
  const isUnaware = situation.topology.watching.some(({ view }) =>
    view.replicas.some(({ address, priority }) => address === successor.address && priority !== preferredPriority),
  );
  if (isUnaware) {
    const words = `${message}; Sentinel has yet to see that it is preferred`;
    return { steps: [], outcome: wait('SwitchingOver', words, recheckMs) };
  }
  const step = switchoverStep(situation, primary, message);
  return step === undefined ? undefined : { steps: [step], outcome: wait('SwitchingOver', message, recheckMs) };
}

/** Nodes that Sentinel prefers, and that nobody asks for any more. */
export function preferenceSteps({ cluster, nodes }: Situation): ActStep<RedisAction>[] {
  const wanted = cluster.metadata.annotations?.[switchoverAnnotation];
  return nodes
    .filter(({ pod, preferred }) => preferred === true && pod !== wanted)
    .map((node) => preferenceStep(node, usualPriority));
}

function preferenceStep(node: DataNode, priority: number): ActStep<RedisAction> {
  const isPreferred = priority === preferredPriority;
  return {
    type: 'act',
    action: { type: 'redis.configure', node: target(node), settings: { 'replica-priority': String(priority) } },
    summary: `let Sentinel ${isPreferred ? 'prefer' : 'no longer prefer'} ${node.pod}`,
  };
}

export function dropRequest({ cluster }: Pick<Situation, 'cluster'>): ObjectStep[] {
  const from = cluster.metadata.annotations?.[switchoverAnnotation];
  const ref = refOf(cluster, redisKind.resource);
  if (from === undefined || ref === undefined) return [];
  const patch = { metadata: { annotations: { [switchoverAnnotation]: null } } };
  return [{ type: 'patch', ref, patch, changes: [{ path: `metadata.annotations[${switchoverAnnotation}]`, from }] }];
}

/** `why`: of the pod that is named. */
export function refused(wanted: string, why: string): RequestPlan {
  const outcome: Outcome = blocked(
    switchoverRefused,
    `${switchoverAnnotation} names ${wanted.slice(0, 64)}, ${why}; correct or remove the annotation`,
    30_000,
  );
  return { steps: [], outcome };
}

/** What a person has written, as it is on the pods: it stays there when the annotation goes, so that nobody restarts for that. */
export function restartWanted(
  { cluster, children }: Pick<Situation, 'cluster' | 'children'>,
  sets: readonly string[],
): string | undefined {
  const written = sets.map((name) => restartIn(children, name));
  return cluster.metadata.annotations?.[restartAnnotation] ?? written.find((text) => text !== undefined);
}

function restartIn(children: Children, set: string): string | undefined {
  return children.statefulSet(set)?.spec?.template?.metadata?.annotations?.[restartAnnotation];
}

export function withRestart(object: KubeObject, text: string | undefined): KubeObject {
  if (text === undefined) return object;
  const spec = (object as StatefulSet).spec ?? {};
  const { metadata, ...template } = spec.template ?? {};
  const annotations = { ...metadata?.annotations, [restartAnnotation]: text };
  return { ...object, spec: { ...spec, template: { ...template, metadata: { ...metadata, annotations } } } };
}
