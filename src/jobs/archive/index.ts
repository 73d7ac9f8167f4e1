/**
 * `backup.archive`: the log of a cluster is archived by a pod of its own. It stands beside the engine and not in it: what an engine adds
 * is how its agent follows the log, and what the database says of the part that it keeps.
 */
import type { Cluster, CommonSpec } from '../../api/cluster.ts';
import { durationMs } from '../../api/duration.ts';
import type { KubeObject } from '../../api/object.ts';
import { configMaps, statefulSets } from '../../api/resource.ts';
import { archiveReportPort } from '../../backup/archive-report.ts';
import type { KindHandler } from '../../engine/engine.ts';
import { withJudgements } from '../../engine/judgement.ts';
import { objectSteps, ownerOf } from '../../plan/objects.ts';
import type { ObjectStep } from '../../plan/plan.ts';
import { refOf } from '../../plan/ref.ts';
import { outdatedPods, restartSteps } from '../../plan/rollout.ts';
import type { Children, StatefulSet } from '../../resources/children.ts';
import { configName } from '../agent-job.ts';
import { withConsent } from './consent.ts';
import { judgeArchive } from './judge.ts';
import { archiveName, archiveObjects } from './objects.ts';
import { observeArchive } from './observe.ts';
import { judged } from './status.ts';

/** `engine`, with archives of its log. `image` holds the agent. */
export function withArchive(engine: KindHandler, image: string): KindHandler {
  const support = engine.backup?.archive;
  if (support === undefined) return engine;
  const objectsFor = (cluster: Cluster): readonly KubeObject[] => {
    const place = (cluster.spec as CommonSpec).backup;
    const from = engine.backup?.source(cluster);
    if (place?.archive === undefined || from === undefined) return [];
    const replicas = support.isParked(cluster) ? 0 : 1;
    return archiveObjects(cluster, { engine: engine.name, image, place, from, replicas });
  };
  const desiredFor = (cluster: Cluster) => objectsFor(cluster).map((object) => ({ object }));
  return {
    ...engine,
    ports: [...engine.ports, archiveReportPort],
    resources: (cluster) => [...engine.resources(cluster), ...desiredFor(cluster)],
    async assess(cluster, children, io) {
      const others = withoutArchive(cluster, children);
      const assessment = await engine.assess(cluster, others, io);
      // Before there is a database there is no log.
      if (assessment.status.initialized !== true) return assessment;
      const set = children.statefulSet(archiveName(cluster.metadata.name)) as StatefulSet | undefined;
      const own = set !== undefined && ownerOf(set) === cluster.metadata.uid ? set : undefined;
      const wanted = archiveSteps(cluster, desiredFor(cluster), children);
      const { steps: consented, refusal } = await withConsent(cluster, wanted, own, io);
      const steps = [...consented, ...leftovers(cluster, objectsFor(cluster), children)];
      const planned = withJudgements(assessment, ({ plan, status }) => ({
        plan: { ...plan, steps: [...plan.steps, ...steps] },
        status,
      }));
      const { archive } = (cluster.spec as CommonSpec).backup ?? {};
      if (archive === undefined || support.isParked(cluster)) return planned;
      const seen = await observeArchive(cluster, archivePods(cluster, children)[0], others, support, io);
      const told = refusal === undefined ? seen : { ...seen, silence: refusal };
      const found = judgeArchive(told, durationMs(archive.maxLag), cluster.status?.archive);
      // One that is there follows the log as before, and not as the spec says.
      const verdict = refusal === undefined ? found : { ...found, interruption: refusal };
      return withJudgements(planned, (one) => judged(one, verdict));
    },
    planOffline(cluster) {
      const plan = engine.planOffline(cluster);
      const steps = desiredFor(cluster).map(({ object }): ObjectStep => ({ type: 'create', object }));
      return { ...plan, steps: [...plan.steps, ...steps] };
    },
  };
}

function archivePods(cluster: Cluster, { pods }: Children) {
  return pods.filter(({ metadata }) => metadata.name === `${archiveName(cluster.metadata.name)}-0`);
}

/** The engine takes every pod for one of its members. */
function withoutArchive(cluster: Cluster, children: Children): Children {
  const own = archivePods(cluster, children);
  return own.length === 0 ? children : { ...children, pods: children.pods.filter((pod) => !own.includes(pod)) };
}

function archiveSteps(
  cluster: Cluster,
  desired: readonly { readonly object: KubeObject }[],
  children: Children,
): readonly ObjectStep[] {
  if (desired.length === 0) return [];
  const steps = objectSteps(desired, children);
  if (steps.length > 0) return steps;
  const set = children.statefulSet(archiveName(cluster.metadata.name));
  // It keeps nothing of its own: the next one goes on where it was.
  const [outdated] = outdatedPods(set as StatefulSet | undefined, archivePods(cluster, children));
  return outdated === undefined ? [] : restartSteps(outdated);
}

/** Of an archive that is not wanted any more. What is in the store stays. */
function leftovers(cluster: Cluster, wanted: readonly KubeObject[], children: Children): readonly ObjectStep[] {
  if (wanted.length > 0) return [];
  const name = archiveName(cluster.metadata.name);
  const found = [
    [children.get('StatefulSet', name), statefulSets],
    [children.get('ConfigMap', configName({ name })), configMaps],
  ] as const;
  return found.flatMap(([object, resource]): ObjectStep[] => {
    if (object === undefined || ownerOf(object) !== cluster.metadata.uid) return [];
    const ref = refOf(object, resource);
    if (ref === undefined || object.metadata.deletionTimestamp !== undefined) return [];
    return [{ type: 'delete', ref, reason: 'backup.archive is not in the spec any more' }];
  });
}
