/** What an etcd cluster says about itself: pure, from the same findings as the plan. */
import type { DesiredCondition } from '../../api/condition.ts';
import type { MemberStatus, Phase } from '../../api/status.ts';
import { desiredConditions } from '../../engine/desired-conditions.ts';
import type { StatusReport } from '../../engine/engine.ts';
import { shrinkWarnings, warningClaims } from '../../engine/spec-warnings.ts';
import type { Plan } from '../../plan/plan.ts';
import {
  awaitedExpansion,
  expandingVolumes,
  expansionConditions,
  isExpanding,
  storageStatus,
  volumesTooSmall,
} from '../../plan/volume-expansion.ts';
import { type Pod, podIsReady } from '../../resources/children.ts';
import { selectorLabels } from '../../resources/metadata.ts';
import type { EtcdAction } from './action.ts';
import { passwordSecret } from './client/password.ts';
import { clientPort, etcdNames, peerPort } from './names.ts';
import { hexadecimal, type Member, type Situation, voters } from './observe/situation.ts';
import { givenQuota } from './plan/given-quota.ts';
import { memberProblems } from './plan/health.ts';
import { heldBack } from './plan/issuance.ts';
import { isOutdated, isUnsettled } from './plan/outdated.ts';
import { replacedCaClaims } from './plan/replaced-ca.ts';
import { isVersionDue } from './plan/version.ts';
import { volumeBytes, volumesOf } from './plan/volume-size.ts';
import { specWarnings } from './plan/warnings.ts';
import { clientSecret } from './resources/certificates.ts';
import { component } from './resources/resources.ts';

export function etcdStatus(situation: Situation, plan: Plan<EtcdAction>): StatusReport {
  const pods = [...situation.pods.values()];
  const { claims } = volumesOf(situation);
  const storage = storageStatus(claims);
  const { cluster, leader, members } = situation;
  const version = leader?.live.version ?? cluster.status?.version;
  const primary = leader?.live.pod ?? cluster.status?.primary;
  const initialized = cluster.status?.initialized === true || members !== undefined;
  const names = etcdNames(cluster.metadata.name);
  const certificates = clientSecret(cluster);
  const judged = judge(situation, plan, initialized);
  return {
    ...judged,
    conditions: [
      ...judged.conditions,
      ...heldBackClaims(situation),
      ...expansionConditions(cluster.spec.storage.size, volumesOf(situation)),
      ...warningClaims([
        ...specWarnings(cluster, volumeBytes(situation), givenQuota(situation)),
        ...shrinkWarnings(cluster.spec.storage.size, claims),
      ]),
    ],
    replicas: pods.length,
    readyReplicas: pods.filter(podIsReady).length,
    selector: Object.entries(selectorLabels(cluster, { engine: 'etcd', component }))
      .map((pair) => pair.join('='))
      .join(','),
    ...(primary === undefined ? {} : { primary }),
    ...(version === undefined ? {} : { version }),
    members: memberStatus(situation),
    ...(storage === undefined ? {} : { storage }),
    connection: {
      services: [
        { role: 'client', host: names.client, port: clientPort },
        { role: 'peer', host: names.peers, port: peerPort },
      ],
      ...(cluster.spec.auth.enabled ? { secretName: passwordSecret(cluster).name } : {}),
      ...(certificates === undefined ? {} : { certificateSecretName: certificates }),
    },
    ...(initialized ? { initialized } : {}),
  };
}

/** One condition, whichever side it is about: those that wait for a person come first. */
function heldBackClaims(situation: Situation): DesiredCondition[] {
  return [...replacedCaClaims(situation), ...heldBack(situation)].slice(0, 1);
}

interface Judgement {
  readonly phase: Phase;
  readonly conditions: readonly DesiredCondition[];
}

function judge(situation: Situation, plan: Plan<EtcdAction>, initialized: boolean): Judgement {
  const { outcome, defers } = plan;
  const { cluster, spec, members, pods } = situation;
  if (outcome.state === 'blocked') {
    const degraded = initialized && outcome.reason !== volumesTooSmall;
    return {
      phase: 'Blocked',
      conditions: desiredConditions('False', outcome.reason, outcome.message, { degraded, stalled: true }),
    };
  }
  if (spec.replicas === 0 && pods.size === 0) {
    return { phase: 'Ready', conditions: desiredConditions('True', 'Parked', 'no member runs, as is wanted', {}) };
  }
  const changing = isChanging(situation, members ?? [], defers === true);
  const growing = isExpanding(spec.storage.size, volumesOf(situation));
  const alarmed = (situation.observed.agreed?.alarms ?? []).length > 0;
  if (members !== undefined && !changing && !growing && !alarmed && memberProblems(situation, members).length === 0) {
    return {
      phase: 'Ready',
      conditions: desiredConditions('True', 'AllMembersReady', 'every member votes and answers', {}),
    };
  }
  const reason = outcome.state === 'wait' ? outcome.reason : 'Updating';
  const message = outcome.state === 'wait' ? outcome.message : 'changes are being applied';
  const { status = {} } = cluster;
  const { phase: before, observedGeneration } = status;
  if (before === undefined || before === 'Creating') {
    return { phase: 'Creating', conditions: desiredConditions('False', reason, message, { progressing: true }) };
  }
  // Another minor may have waited for long.
  const isBeginning = defers !== true && before !== 'Degraded' && isVersionDue(situation);
  const asked =
    observedGeneration !== cluster.metadata.generation || isBeginning || isRolling(situation, members ?? []);
  const wasUpdating = before === 'Updating' && !awaitedExpansion(status);
  const updating = asked || wasUpdating || reason === expandingVolumes;
  const isLed = members !== undefined || spec.replicas === 0;
  const repairs = alarmed || reason === 'Replacing' || reason === 'QuorumLost';
  if (updating && isLed && !repairs) {
    return { phase: 'Updating', conditions: desiredConditions('False', reason, message, { progressing: true }) };
  }
  return {
    phase: 'Degraded',
    conditions: desiredConditions('False', reason, message, { progressing: true, degraded: true }),
  };
}

/** The spec asks for something that is not there yet: more or fewer members, another template. `defers`: but for what can wait. */
function isChanging(situation: Situation, members: readonly Member[], defers: boolean): boolean {
  const { spec, sets } = situation;
  const votes = voters(members).length;
  return (
    votes !== spec.replicas ||
    sets.size !== votes ||
    (!defers && isVersionDue(situation)) ||
    isRolling(situation, members)
  );
}

/** Members too many, or on an older template. One too few may be one that was lost, which nobody has asked for. */
function isRolling(situation: Situation, members: readonly Member[]): boolean {
  const isTooMany = voters(members).length > situation.spec.replicas;
  return isTooMany || isUnsettled(situation) || members.some((member) => isOutdated(situation, member));
}

function memberStatus({ pods, members = [], leader }: Situation): MemberStatus[] {
  const role = (member: Member | undefined): string => {
    if (member === undefined) return 'unknown';
    if (member.isLearner) return 'learner';
    return member.id === leader?.id ? 'leader' : 'voter';
  };
  return [...pods]
    .sort(([a], [b]) => a - b)
    .map(([index, pod]: [number, Pod]) => {
      const member = members.find((candidate) => candidate.index === index);
      const { live } = member ?? {};
      return {
        name: pod.metadata.name,
        role: role(member),
        ready: podIsReady(pod),
        ...(live === undefined || live.version === '' ? {} : { version: live.version }),
        ...(pod.spec?.nodeName === undefined ? {} : { node: pod.spec.nodeName }),
        ...(pod.status?.podIP === undefined ? {} : { address: pod.status.podIP }),
        ...(member === undefined ? {} : { id: hexadecimal(member.id) }),
        ...(live === undefined ? {} : { dataSize: roundedSize(live.dbSize) }),
      };
    });
}

/** Up to the next power of two of mebibytes: a status that follows every page would be written all the time. */
export function roundedSize(bytes: number): string {
  const mebibytes = Math.max(1, bytes / 1024 ** 2);
  return `${2 ** Math.ceil(Math.log2(mebibytes))}Mi`;
}
