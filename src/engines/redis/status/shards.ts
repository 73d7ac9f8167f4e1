/** What a Redis Cluster says about itself: pure, from the same findings as the plan. */
import { shortened } from '../../../api/bounds.ts';
import type { MemberStatus } from '../../../api/status.ts';
import type { StatusReport } from '../../../engine/engine.ts';
import { shrinkWarnings, warningClaims } from '../../../engine/spec-warnings.ts';
import type { Plan } from '../../../plan/plan.ts';
import { isGenerationObserved, outdatedPods } from '../../../plan/rollout.ts';
import { expansionConditions, isExpanding, storageStatus } from '../../../plan/volume-expansion.ts';
import { podIsReady } from '../../../resources/children.ts';
import { selectorLabels } from '../../../resources/metadata.ts';
import type { RedisAction } from '../action.ts';
import { findingClaims } from '../client/findings.ts';
import { passwordSecret } from '../client/password.ts';
import { longestSlots, replicasPerShardOf, shardsOf } from '../kind/shards.ts';
import { slotText } from '../kind/slots.ts';
import { dataPort, redisNames } from '../names.ts';
import { isEven } from '../observe/shards/distribution.ts';
import { isLeaving, type ShardsSituation, wantedPods } from '../observe/shards/situation.ts';
import { areAllServed } from '../observe/shards/views.ts';
import { overlapClaims } from '../plan/password-overlap.ts';
import { electionProblems, findingsIn, readinessProblems } from '../plan/shards/health.ts';
import { placementOf } from '../plan/shards/placement.ts';
import { userClaims } from '../plan/users.ts';
import { specWarnings } from '../plan/warnings.ts';
import { isBindable } from './binding.ts';
import { judged } from './judgement.ts';
import { memberOf } from './member.ts';

export function shardsStatus(situation: ShardsSituation, plan: Plan<RedisAction>): StatusReport {
  const { cluster, spec, dataPods, nodes, children } = situation;
  const { claims } = children;
  const storage = storageStatus(claims);
  const version = nodes.map((node) => node.version).sort()[0] ?? cluster.status?.version;
  const initialized = cluster.status?.initialized === true || situation.isFormed;
  const placement = placementOf(situation) ?? cluster.status?.placement;
  const findings = findingsIn(situation);
  const { phase, conditions } = judged({
    ...{ cluster, outcome: plan.outcome, initialized, findings },
    isServed: situation.isFormed && areAllServed(nodes),
    isReachable: true,
    problems: [
      ...readinessProblems(situation),
      ...electionProblems(situation),
      ...findings.map(({ message }) => message),
    ],
    isChanging: isChanging(situation),
    isGrowing: isExpanding(spec.storage.size, children),
  });
  return {
    phase,
    conditions: [
      ...conditions,
      ...findingClaims(findings),
      ...overlapClaims(situation, wantedPods(situation).length),
      ...userClaims(situation),
      ...expansionConditions(spec.storage.size, children),
      ...warningClaims([...specWarnings(cluster), ...shrinkWarnings(spec.storage.size, claims)]),
    ],
    replicas: dataPods.length,
    readyReplicas: dataPods.filter(podIsReady).length,
    selector: Object.entries(selectorLabels(cluster, { engine: 'redis', component: 'data' }))
      .map((pair) => pair.join('='))
      .join(','),
    ...(version === undefined ? {} : { version }),
    members: members(situation),
    ...(storage === undefined ? {} : { storage }),
    connection: {
      services: [{ role: 'nodes', host: redisNames(cluster.metadata.name).nodes, port: dataPort }],
      secretName: passwordSecret(cluster).name,
    },
    ...(isBindable(situation) ? { binding: { name: passwordSecret(cluster).name } } : {}),
    ...(placement === undefined ? {} : { placement }),
    ...(initialized ? { initialized } : {}),
  };
}

/** The spec asks for something that is not there yet: another size, another template. */
function isChanging(situation: ShardsSituation): boolean {
  const { spec, shards, children, dataPods } = situation;
  if (shards.length !== shardsOf(spec) || !isEven(situation)) return true;
  if (dataPods.some(({ metadata }) => isLeaving(situation, metadata.name))) return true;
  return shards.some(({ set, size, pods }) => {
    const live = children.statefulSet(set);
    return size !== replicasPerShardOf(spec) + 1 || !isGenerationObserved(live) || outdatedPods(live, pods).length > 0;
  });
}

function members({ shards }: ShardsSituation): MemberStatus[] {
  return shards.flatMap(({ set, pods, nodes }) =>
    pods.map((pod) => {
      const node = nodes.find((one) => one.pod === pod.metadata.name);
      const role = node === undefined ? 'unknown' : node.self.role;
      const slots = node === undefined || role !== 'primary' ? '' : slotText(node.self.slots);
      return {
        ...memberOf(pod, role, node?.version),
        ...(node === undefined ? {} : { id: node.id }),
        shard: set,
        ...(slots === '' ? {} : { slots: shortened(slots, longestSlots) }),
      };
    }),
  );
}
