/** What a Redis cluster says about itself: pure, from the same findings as the plan. */
import type { MemberStatus } from '../../api/status.ts';
import type { StatusReport } from '../../engine/engine.ts';
import { shrinkWarnings, warningClaims } from '../../engine/spec-warnings.ts';
import type { Plan } from '../../plan/plan.ts';
import { isGenerationObserved, outdatedPods } from '../../plan/rollout.ts';
import { expansionConditions, isExpanding, storageStatus } from '../../plan/volume-expansion.ts';
import { podIsReady } from '../../resources/children.ts';
import { selectorLabels } from '../../resources/metadata.ts';
import type { RedisAction } from './action.ts';
import { findingClaims } from './client/findings.ts';
import { passwordSecret } from './client/password.ts';
import type { RedisSpec } from './kind/schema.ts';
import { importSource } from './kind/source.ts';
import { dataPort, redisNames, roleLabel, sentinelPort, tlsPort } from './names.ts';
import type { Situation } from './observe/situation.ts';
import { findingsIn, readinessProblems } from './plan/health.ts';
import { certificateWarnings, heldBackCertificate } from './plan/issuance.ts';
import { otherReplicaWarnings } from './plan/other-replicas.ts';
import { overlapClaims } from './plan/password-overlap.ts';
import { proxyProblem } from './plan/proxy.ts';
import { isUnsecured, portClaims, portWarnings, tlsProblems } from './plan/tls.ts';
import { userClaims } from './plan/users.ts';
import { specWarnings } from './plan/warnings.ts';
import { isBindable } from './status/binding.ts';
import { type Judgement, judged } from './status/judgement.ts';
import { memberOf } from './status/member.ts';

export function redisStatus(situation: Situation, plan: Plan<RedisAction>): StatusReport {
  const { cluster, spec, dataPods } = situation;
  const { claims } = situation.children;
  const storage = storageStatus(claims);
  const primary = situation.topology.primary;
  const version = situation.nodes.find((node) => node.address === primary?.address)?.version ?? cluster.status?.version;
  const initialized = cluster.status?.initialized === true || primary !== undefined;
  const { phase, conditions } = judge(situation, plan, initialized);
  const remembered = primary?.pod ?? cluster.status?.primary;
  return {
    phase,
    conditions: [
      ...conditions,
      ...findingClaims(findingsIn(situation)),
      ...overlapClaims(situation, processCount(situation)),
      ...userClaims(situation),
      ...heldBackCertificate(situation),
      ...portClaims(situation),
      ...expansionConditions(spec.storage.size, situation.children),
      ...warningClaims([
        ...otherReplicaWarnings(situation),
        ...specWarnings(cluster),
        ...certificateWarnings(situation),
        ...portWarnings(situation),
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
      ...(spec.tls === undefined ? {} : { caConfigMapName: redisNames(cluster.metadata.name).serverCa }),
    },
    ...(isBindable(situation) ? { binding: { name: passwordSecret(cluster).name } } : {}),
    ...(initialized ? { initialized } : {}),
  };
}

function processCount({ spec, dataSize, sentinelSize }: Situation): number {
  return dataSize + (spec.mode === 'Sentinel' ? sentinelSize : 0);
}

function judge(situation: Situation, plan: Plan<RedisAction>, initialized: boolean): Judgement {
  const { cluster, spec, children } = situation;
  const { primary } = situation.topology;
  // Services lead to members by their labels: one that is about to be labelled is not reachable yet.
  const isLabelled = situation.dataPods.every(
    (pod) => pod.metadata.labels?.[roleLabel] === (pod.metadata.name === primary?.pod ? 'primary' : 'replica'),
  );
  const findings = primary === undefined ? [] : findingsIn(situation);
  const proxy = proxyProblem(situation);
  const seen =
    primary === undefined
      ? []
      : [...readinessProblems(situation, primary), ...findings.map((one) => one.message), ...tlsProblems(situation)];
  return judged({
    ...{ cluster, outcome: plan.outcome, initialized, findings },
    isServed: primary !== undefined,
    isReachable: isLabelled,
    // Nobody serves before its data is there, however long that takes.
    isAwaited: importSource(cluster) !== undefined && !initialized,
    problems: proxy === undefined || primary === undefined ? seen : [...seen, proxy],
    isChanging: isChanging(situation),
    isGrowing: isExpanding(spec.storage.size, children),
  });
}

/** The spec asks for something that is not there yet: another size, another template. */
function isChanging(situation: Situation): boolean {
  const { cluster, spec, children, dataPods, sentinelPods, dataSize, sentinelSize } = situation;
  if (isUnsecured(situation)) return true;
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
  return [
    ...dataPods.map((pod) => {
      const node = nodes.find((candidate) => candidate.pod === pod.metadata.name);
      const role = node === undefined ? 'unknown' : node.address === topology.primary?.address ? 'primary' : 'replica';
      return memberOf(pod, role, node?.version);
    }),
    ...sentinelPods.map((pod) => memberOf(pod, 'sentinel', undefined)),
  ];
}

function services(name: string, spec: RedisSpec): { role: string; host: string; port: number }[] {
  const names = redisNames(name);
  const isElected = spec.mode === 'Sentinel';
  const data = [
    { role: 'primary', host: names.primary, port: dataPort },
    ...(isElected ? [{ role: 'replicas', host: names.replicas, port: dataPort }] : []),
  ];
  return [
    ...data,
    ...(isElected ? [{ role: 'sentinel', host: names.sentinel, port: sentinelPort }] : []),
    ...(spec.tls === undefined ? [] : data.map(({ role, host }) => ({ role: `${role}-tls`, host, port: tlsPort }))),
  ];
}
