/** A kind for content as the runtime serves it: who may have a name, which cluster it is about, and what the status says. */
import type { Cluster } from '../api/cluster.ts';
import type { DesiredCondition } from '../api/condition.ts';
import type { ContentSpec } from '../api/content.ts';
import type { KubeObject } from '../api/object.ts';
import type { Phase } from '../api/status.ts';
import { blocked, type EngineAction, type Outcome, type Plan, settled, wait } from '../plan/plan.ts';
import { isBindable } from '../resources/secret.ts';
import { absentTarget } from './absent-target.ts';
import type { ContentKind, ContentSituation } from './content-kind.ts';
import { desiredConditions } from './desired-conditions.ts';
import type { KindHandler, StatusReport } from './engine.ts';
import type { EngineContext } from './engine-context.ts';

/** When an older resource gives a name up, nothing tells. */
const rivalRecheckMs = 10_000;
const pausedRecheckMs = 10_000;

export function contentHandler<Spec extends ContentSpec, TargetSpec, Observed, Action extends EngineAction>(
  content: ContentKind<Spec, TargetSpec, Observed, Action>,
): KindHandler {
  const typed = (resource: Cluster): Cluster<Spec> => resource as Cluster<Spec>;
  const typedTarget = (target: Cluster): Cluster<TargetSpec> => target as Cluster<TargetSpec>;
  const { name, kind, reference, permissions } = content;

  async function observed(
    resource: Cluster,
    target: Cluster,
    io: EngineContext,
  ): Promise<ContentSituation<Spec, TargetSpec, Observed>> {
    const [own, about] = [typed(resource), typedTarget(target)];
    return { resource: own, target: about, observed: await content.observe(own, about, io) };
  }
  // Only actions of this very plan come back here.
  const acting = (resource: Cluster, target: Cluster, io: EngineContext) => (action: EngineAction) =>
    content.act(action as Action, typed(resource), typedTarget(target), io);

  return {
    name,
    kind,
    ...(reference === undefined ? {} : { reference }),
    permissions,
    ports: [],
    asksTarget: true,
    targetRef: (resource) => typed(resource).spec.cluster,
    resources: (resource, target) =>
      content.resources(typed(resource), target === undefined ? undefined : typedTarget(target)),
    async assess(resource, _children, io, target, peers = []) {
      const outcome = target === undefined ? absent(typed(resource), io) : obstacle(typed(resource), target, peers);
      if (outcome !== undefined || target === undefined) {
        const plan: Plan = { steps: [], outcome: outcome ?? settled };
        return { plan, status: statusOf(resource, plan, ''), act: noAction };
      }
      const situation = await observed(resource, target, io);
      const plan = content.plan(situation);
      const findings = content.findings?.(situation) ?? [];
      const secretName = secretOf(content.resources(situation.resource, situation.target));
      // One that is older lacks the type.
      const isBound = secretName !== undefined && isBindable(await io.secret(secretName, 'ours'));
      const login =
        secretName === undefined ? {} : { secretName, ...(isBound ? { binding: { name: secretName } } : {}) };
      return {
        plan,
        status: { ...statusOf(resource, plan, content.ready(situation), findings), ...login },
        act: acting(resource, target, io),
      };
    },
    async removal(resource, io, target) {
      if (target === undefined) return undefined;
      const held = pausedBy(target);
      if (held !== undefined) return { plan: { steps: [], outcome: held }, act: noAction };
      const situation = await observed(resource, target, io);
      return { plan: content.planRemoval(situation), act: acting(resource, target, io) };
    },
    planOffline({ status: _, ...resource }, target) {
      if (target === undefined) return { steps: [], outcome: absent(typed(resource)) };
      return content.plan({
        resource: typed(resource),
        target: typedTarget(target),
        observed: content.offlineObservation,
      });
    },
  };
}

const noAction = (): Promise<void> => Promise.reject(new Error('this plan holds no actions'));

function absent({ spec: { cluster } }: Cluster<ContentSpec>, io?: EngineContext): Outcome {
  return absentTarget(cluster, io, `valid ${cluster.kind}`);
}

function obstacle(resource: Cluster<ContentSpec>, target: Cluster, peers: readonly KubeObject[]): Outcome | undefined {
  const rival = peers.find((peer) => isSameContent(resource, peer) && isOlder(peer, resource));
  if (rival !== undefined) {
    const message = `${resource.spec.name} in ${target.kind} ${target.metadata.name} is that of ${rival.kind} ${rival.metadata.name}, which is older`;
    return blocked('NameTaken', message, rivalRecheckMs);
  }
  return pausedBy(target);
}

function pausedBy({ kind, metadata, spec }: Cluster): Outcome | undefined {
  const isPaused = (spec as { readonly paused?: unknown }).paused === true;
  return isPaused
    ? wait('Paused', `${kind} ${metadata.name} is paused: nothing is changed`, pausedRecheckMs)
    : undefined;
}

/** `peer` is as somebody wrote it. */
function isSameContent({ spec, metadata }: Cluster<ContentSpec>, peer: KubeObject): boolean {
  const other = (peer.spec ?? {}) as { readonly name?: unknown; readonly cluster?: { readonly name?: unknown } | null };
  return peer.metadata.name !== metadata.name && other.name === spec.name && other.cluster?.name === spec.cluster.name;
}

/** Of two of the same second, the one whose name comes first. */
function isOlder({ metadata: a }: KubeObject, { metadata: b }: KubeObject): boolean {
  const [first, second] = [a.creationTimestamp ?? '', b.creationTimestamp ?? ''];
  // One that does not exist yet is younger than all.
  if (second === '') return true;
  return first === second ? a.name < b.name : first !== '' && first < second;
}

function secretOf(desired: ReturnType<KindHandler['resources']>): string | undefined {
  return desired.find(({ object }) => object.kind === 'Secret')?.object.metadata.name;
}

function statusOf(
  resource: Cluster,
  { steps, outcome }: Plan,
  ready: string,
  findings: readonly DesiredCondition[] = [],
): StatusReport & { readonly secretName?: string } {
  const judged = judge(resource, outcome, steps.length > 0, ready);
  return {
    phase: judged.phase,
    conditions: [...judged.conditions, ...findings],
  };
}

interface Judgement {
  readonly phase: Phase;
  readonly conditions: readonly DesiredCondition[];
}

function judge({ status, metadata }: Cluster, outcome: Outcome, isChanging: boolean, ready: string): Judgement {
  const { phase: before, observedGeneration } = status ?? {};
  switch (outcome.state) {
    case 'settled':
      return { phase: 'Ready', conditions: desiredConditions('True', 'InPlace', ready, {}) };
    case 'blocked':
      return {
        phase: 'Blocked',
        conditions: desiredConditions('False', outcome.reason, outcome.message, { stalled: true }),
      };
    case 'wait': {
      const told = (phase: Phase, degraded: boolean): Judgement => ({
        phase,
        conditions: desiredConditions('False', outcome.reason, outcome.message, { progressing: true, degraded }),
      });
      if (before === undefined || before === 'Creating') return told('Creating', false);
      const isAsked = isChanging || before === 'Updating' || observedGeneration !== metadata.generation;
      return isAsked ? told('Updating', false) : told('Degraded', true);
    }
    default:
      return outcome satisfies never;
  }
}
