/** What a Redis cluster says about itself: pure, from the same findings as the plan. */
import type { DesiredCondition } from '../../api/condition.ts';
import type { MemberStatus, Phase } from '../../api/status.ts';
import { desiredConditions } from '../../engine/desired-conditions.ts';
import type { StatusReport } from '../../engine/engine.ts';
import { shrinkWarnings, warningClaims } from '../../engine/spec-warnings.ts';
import type { Plan } from '../../plan/plan.ts';
import { isGenerationObserved, outdatedPods } from '../../plan/rollout.ts';
import {
  awaitedExpansion,
  expandingVolumes,
  expansionConditions,
  isExpanding,
  storageStatus,
} from '../../plan/volume-expansion.ts';
import { type Pod, podIsReady } from '../../resources/children.ts';
import { selectorLabels } from '../../resources/metadata.ts';
import type { RedisAction } from './action.ts';
import { findingClaims } from './client/findings.ts';
import { passwordSecret } from './client/password.ts';
import type { RedisSpec } from './kind/schema.ts';
import { importSource } from './kind/source.ts';
import { dataPort, redisNames, roleLabel, sentinelPort } from './names.ts';
import type { Situation } from './observe/situation.ts';
import { findingsIn, readinessProblems } from './plan/health.ts';
import { otherReplicaWarnings } from './plan/other-replicas.ts';
import { overlapClaims } from './plan/password-overlap.ts';
import { proxyProblem } from './plan/proxy.ts';
import { userClaims } from './plan/users.ts';
import { specWarnings } from './plan/warnings.ts';

export function redisStatus(situation: Situation, plan: Plan<RedisAction>): StatusReport {
  const { cluster, spec, dataPods } = situation;
  const { claims } = situation.children;
  const storage = storageStatus(claims);
  const primary = situation.topology.primary;
  const version = situation.nodes.find((node) => node.address === primary?.address)?.version ?? cluster.status?.version;
  const initialized = cluster.status?.initialized === true || primary !== undefined;
  const judged = judge(situation, plan, initialized);
  const remembered = primary?.pod ?? cluster.status?.primary;
  return {
    phase: judged.phase,
    conditions: [
      ...judged.conditions,
      ...findingClaims(findingsIn(situation)),
      ...overlapClaims(situation),
      ...userClaims(situation),
      ...expansionConditions(spec.storage.size, situation.children),
      ...warningClaims([
        ...otherReplicaWarnings(situation),
        ...specWarnings(cluster),
        ...shrinkWarnings(spec.storage.size, claims),
      ]),
    ],
    replicas: dataPods.length,
    readyReplicas: dataPods.filter(podIsReady).length,
    selector: Object.entries(selectorLabels(cluster, { engine: 'redis', component: 'data' }))
      .map((pair) => pair.join('='))
      .join(','),
    ...(remembered === undefined ? {} : { primary: remembered }),
    ...(version === undefined ? {} : { version }),
    members: members(situation),
    ...(storage === undefined ? {} : { storage }),
    connection: {
      services: services(cluster.metadata.name, spec),
      secretName: passwordSecret(cluster).name,
    },
    ...(isBindable(situation) ? { binding: { name: passwordSecret(cluster).name } } : {}),
    ...(initialized ? { initialized } : {}),
  };
}

/** While nobody has read the Secret, what was read before stands. */
function isBindable({ cluster, spec, observed }: Situation): boolean {
  return spec.auth?.secretRef === undefined && (observed.isBindable ?? cluster.status?.binding !== undefined);
}

interface Judgement {
  readonly phase: Phase;
  readonly conditions: readonly DesiredCondition[];
}

function judge(situation: Situation, plan: Plan<RedisAction>, initialized: boolean): Judgement {
  const { outcome } = plan;
  const { primary } = situation.topology;
  const findings = primary === undefined ? [] : findingsIn(situation);
  const proxy = proxyProblem(situation);
  const problems =
    primary === undefined
      ? []
      : [...readinessProblems(situation, primary), ...findings, ...(proxy === undefined ? [] : [proxy])];
  const changing = isChanging(situation);
  const growing = isExpanding(situation.spec.storage.size, situation.children);
  const [finding] = findings;
  // Services lead to members by their labels: one that is about to be labelled is not reachable yet.
  const labelled = situation.dataPods.every(
    (pod) => pod.metadata.labels?.[roleLabel] === (pod.metadata.name === primary?.pod ? 'primary' : 'replica'),
  );
  if (outcome.state === 'blocked') {
    return {
      phase: 'Blocked',
      conditions: desiredConditions('False', outcome.reason, outcome.message, {
        degraded: initialized && (primary === undefined || problems.length > 0),
        stalled: true,
      }),
    };
  }
  if (primary !== undefined && labelled && problems.length === 0 && !changing && !growing) {
    return {
      phase: 'Ready',
      conditions: desiredConditions('True', 'AllMembersReady', 'every member is in sync and reachable', {}),
    };
  }
  if (finding !== undefined && outcome.state === 'settled' && !changing) {
    const { type, message } = finding;
    return { phase: 'Degraded', conditions: desiredConditions('False', type, message, { degraded: true }) };
  }
  const reason = outcome.state === 'wait' ? outcome.reason : 'Updating';
  const message = outcome.state === 'wait' ? outcome.message : 'changes are being applied';
  const { status = {}, metadata } = situation.cluster;
  const { phase: before, observedGeneration } = status;
  // Nobody serves before its data is there, however long that takes.
  const isImported = importSource(situation.cluster) !== undefined && !initialized;
  if (before === undefined || before === 'Creating' || isImported) {
    return { phase: 'Creating', conditions: desiredConditions('False', reason, message, { progressing: true }) };
  }
  const wasUpdating = before === 'Updating' && !awaitedExpansion(status);
  const asked = changing || wasUpdating || observedGeneration !== metadata.generation;
  // Volumes may take for ever, and no change that anybody asks for fills a disk.
  const isFull = findings.some(({ type }) => type === 'DiskFull');
  const updating = asked ? !isFull : reason === expandingVolumes && problems.length === 0;
  if (updating && primary !== undefined) {
    return { phase: 'Updating', conditions: desiredConditions('False', reason, message, { progressing: true }) };
  }
  return {
    phase: 'Degraded',
    conditions: desiredConditions('False', reason, message, { progressing: true, degraded: true }),
  };
}

/** The spec asks for something that is not there yet: another size, another template. */
function isChanging({ cluster, spec, children, dataPods, sentinelPods, dataSize, sentinelSize }: Situation): boolean {
  const names = redisNames(cluster.metadata.name);
  // A pod too many is on its way out. One too few is a member that is missing, which is no change that anybody asked for.
  if (dataSize !== spec.replicas || dataPods.length > spec.replicas) return true;
  const [dataSet, sentinelSet] = [children.statefulSet(names.data), children.statefulSet(names.sentinel)];
  if (!isGenerationObserved(dataSet) || outdatedPods(dataSet, dataPods).length > 0) return true;
  if (spec.mode === 'Standalone') return false;
  return (
    sentinelSize !== spec.sentinel.replicas ||
    sentinelPods.length > spec.sentinel.replicas ||
    !isGenerationObserved(sentinelSet) ||
    outdatedPods(sentinelSet, sentinelPods).length > 0
  );
}

function members({ dataPods, sentinelPods, nodes, topology }: Situation): MemberStatus[] {
  const member = (pod: Pod, role: string, version: string | undefined): MemberStatus => ({
    name: pod.metadata.name,
    role,
    ready: podIsReady(pod),
    ...(version === undefined || version === '' ? {} : { version }),
    ...(pod.spec?.nodeName === undefined ? {} : { node: pod.spec.nodeName }),
    ...(pod.status?.podIP === undefined ? {} : { address: pod.status.podIP }),
  });
  return [
    ...dataPods.map((pod) => {
      const node = nodes.find((candidate) => candidate.pod === pod.metadata.name);
      const role = node === undefined ? 'unknown' : node.address === topology.primary?.address ? 'primary' : 'replica';
      return member(pod, role, node?.version);
    }),
    ...sentinelPods.map((pod) => member(pod, 'sentinel', undefined)),
  ];
}

function services(name: string, spec: RedisSpec): { role: string; host: string; port: number }[] {
  const names = redisNames(name);
  return [
    { role: 'primary', host: names.primary, port: dataPort },
    ...(spec.mode === 'Sentinel'
      ? [
          { role: 'replicas', host: names.replicas, port: dataPort },
          { role: 'sentinel', host: names.sentinel, port: sentinelPort },
        ]
      : []),
  ];
}
