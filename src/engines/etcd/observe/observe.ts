/** Asks every member of a cluster at once, each within a second, and then what they agree on. Reads only. */
import { shortened } from '../../../api/bounds.ts';
import type { Cluster } from '../../../api/cluster.ts';
import type { EngineContext } from '../../../engine/engine-context.ts';
import type { Children, Pod } from '../../../resources/children.ts';
import { isAnyStuckCreating } from '../../../resources/stuck-creating.ts';
import { type Answer, EtcdRefusal } from '../client/gateway.ts';
import { type EtcdSession, SecretUnusable, sessionOf } from '../client/session.ts';
import type { EtcdSpec } from '../kind/schema.ts';
import { hostOf, indexInPodName } from '../names.ts';
import { observeCertificates } from './certificates.ts';
import { downgradeOf, downgradeTold } from './downgrade.ts';
import { compareVoters, isInDoubt } from './hashes.ts';
import type { Agreement, Alarm, EtcdObserved, ListedMember, LiveMember, SilentMember } from './observed.ts';
import { answering } from './observed.ts';
import { withProgress } from './progress.ts';
import { heldBy, quorumOf, situationOf } from './situation.ts';
import { snapshotFailures } from './snapshot-failures.ts';
import { unknownVolumes } from './unknown-volumes.ts';

/** A key that hardly anybody has; in base64, as the gateway wants it. */
const zeroByte = 'AA==';

export async function observeEtcd(
  cluster: Cluster<EtcdSpec>,
  children: Children,
  io: EngineContext,
): Promise<EtcdObserved> {
  const session = sessionOf(cluster, io);
  const refusals: string[] = [];
  const asked = await Promise.all(
    children.pods.map(async (pod) => {
      try {
        return await ask(pod, cluster, session);
      } catch (error) {
        io.signal.throwIfAborted();
        if (error instanceof SecretUnusable) refusals.push(error.message);
        return silent(pod, (error as Error).message);
      }
    }),
  );
  const [{ agreed, members }, certificates] = await Promise.all([
    agreement(cluster, asked, session, io, (refusal) => refusals.push(refusal)),
    observeCertificates(cluster, io, isAnyStuckCreating(children, io.now()), children),
  ]);
  const isOld = children.claims.some((claim) => heldBy(claim) !== undefined);
  const comparison =
    agreed !== undefined && isInDoubt(cluster, children, agreed, members)
      ? await compareVoters(agreed, members, session, io)
      : undefined;
  const seen = { members, at: io.now(), ...(agreed === undefined ? {} : { agreed }) };
  const unknown = await unknownVolumes(situationOf(cluster, children, seen), io);
  const failedSnapshots = agreed === undefined ? undefined : await snapshotFailures(children.pods, io);
  return {
    members: agreed === undefined && isOld ? await withProgress(members, children.pods, io) : members,
    at: io.now(),
    ...(agreed === undefined ? {} : { agreed }),
    ...(unknown === undefined ? {} : { unknownVolumes: unknown }),
    ...(comparison === undefined ? {} : { comparison }),
    ...(failedSnapshots === undefined ? {} : { failedSnapshots }),
    ...certificates,
    ...(refusals.length >= quorumOf(asked.length) ? { credentialsProblem: refusals[0] ?? '' } : {}),
  };
}

/**
 * A pod that is on its way out may be long gone, and the watch that would tell may have fallen silent: its name leads to
 * whoever is there now.
 */
async function ask(pod: Pod, cluster: Cluster<EtcdSpec>, session: EtcdSession): Promise<LiveMember | SilentMember> {
  const { podIP, phase } = pod.status ?? {};
  const index = indexInPodName(cluster.metadata.name, pod.metadata.name);
  const isGoing = pod.metadata.deletionTimestamp !== undefined && index !== undefined;
  const at = async (place: string): Promise<LiveMember> =>
    liveMember(pod.metadata.name, place, await session.call(place, 'maintenance/status', {}));
  const isThere = podIP !== undefined && phase === 'Running';
  const own: Promise<LiveMember | SilentMember> = isThere
    ? at(podIP)
    : Promise.resolve(silent(pod, `the pod is ${phase ?? 'not scheduled'}`));
  if (!isGoing) return own;
  const found = await own.catch(() => undefined);
  if (found?.state === 'answering') return found;
  const byName = await at(hostOf(cluster, index)).catch(() => undefined);
  return byName ?? own;
}

function silent(pod: Pod, why: string): SilentMember {
  return { state: 'silent', pod: pod.metadata.name, why };
}

/** Reads a member from its status: pure, so that every odd answer can be a test row. */
export function liveMember(pod: string, address: string, status: Answer): LiveMember {
  const header = fieldsOf(status.header);
  const leader = text(status.leader);
  const dbSize = number(status.dbSize);
  return {
    state: 'answering',
    pod,
    address,
    memberId: text(header.member_id),
    clusterId: text(header.cluster_id),
    ...(leader === '0' ? {} : { leaderId: leader }),
    isLearner: status.isLearner === true,
    version: version(status.version),
    ...downgradeTold(status),
    applied: number(status.raftAppliedIndex),
    dbSize,
    dbInUse: number(status.dbSizeInUse),
    revision: text(header.revision),
  };
}

/**
 * The first list that a majority has confirmed: those who know a leader are asked in turn. Who could not confirm it, or
 * follows another leader than the one who did, has lost the majority since it told its status, and knows no leader.
 */
async function agreement(
  cluster: Cluster<EtcdSpec>,
  members: EtcdObserved['members'],
  session: EtcdSession,
  io: EngineContext,
  onRefusal: (words: string) => void,
): Promise<Pick<EtcdObserved, 'agreed' | 'members'>> {
  const live = answering(members);
  const led = live.filter((member) => member.leaderId !== undefined && !member.isLearner);
  const leaderFirst = [...led].sort((a, b) => Number(b.leaderId === b.memberId) - Number(a.leaderId === a.memberId));
  const cutOff = new Set<string>();
  for (const { address, pod, leaderId } of leaderFirst) {
    try {
      const agreed = await agreementBy(address, cluster, live, session);
      const knowsLeader = (member: LiveMember): boolean => member.leaderId === leaderId && !cutOff.has(member.pod);
      return { agreed, members: members.map((member) => leading(member, knowsLeader)) };
    } catch (error) {
      io.signal.throwIfAborted();
      // A member may answer with its status without a login, and refuse the list of members.
      if (error instanceof SecretUnusable) onRefusal(error.message);
      cutOff.add(pod);
    }
  }
  return { members: members.map((member) => leading(member, () => false)) };
}

type Asked = EtcdObserved['members'][number];

function leading(member: Asked, knowsLeader: (live: LiveMember) => boolean): Asked {
  if (member.state === 'silent' || knowsLeader(member)) return member;
  const { leaderId: _, ...rest } = member;
  return rest;
}

async function agreementBy(
  address: string,
  cluster: Cluster<EtcdSpec>,
  live: readonly LiveMember[],
  session: EtcdSession,
): Promise<Agreement> {
  const [list, alarms, access] = await Promise.all([
    session.call(address, 'cluster/member/list', { linearizable: true }),
    session.call(address, 'maintenance/alarm', { action: 'GET' }),
    session.call(address, 'auth/status', {}),
  ]);
  const raised = alarmsOf(alarms);
  const compacted = raised.some(({ type }) => type === 'NOSPACE') ? await compactedOf(address, live, session) : {};
  const late = session.usedPreviousPassword ? ({ hasPreviousPassword: true } as const) : {};
  const downgrade = await downgradeOf(cluster, live, (body) => session.call(address, 'maintenance/downgrade', body));
  return {
    ...listOf(list),
    alarms: raised,
    isAuthenticated: access.enabled === true,
    ...late,
    ...compacted,
    ...downgrade,
  };
}

/**
 * Whether history is left to drop. etcd tells up to which revision it is gone only beside a hash of the whole database,
 * for which it holds up all writes: a read of one key at the revision before the last is refused where nothing is left.
 */
async function compactedOf(
  address: string,
  live: readonly LiveMember[],
  session: EtcdSession,
): Promise<Pick<Agreement, 'compacted'>> {
  const revision = live.find(({ memberId, leaderId }) => memberId === leaderId)?.revision;
  if (revision === undefined) return {};
  const before = BigInt(revision) - 1n;
  // 0 would be the revision of now, and the first one has no history.
  if (before < 1n) return { compacted: revision };
  try {
    await session.call(address, 'kv/range', { key: zeroByte, count_only: true, revision: String(before) });
    return { compacted: '0' };
  } catch (error) {
    if (!(error instanceof EtcdRefusal) || !/revision has been compacted/.test(error.message)) throw error;
    return { compacted: revision };
  }
}

export function listOf(answer: Answer): Pick<Agreement, 'clusterId' | 'members'> {
  return {
    clusterId: text(fieldsOf(answer.header).cluster_id),
    members: rows(answer.members).map(
      (row): ListedMember => ({
        id: text(row.ID),
        name: String(row.name ?? ''),
        peerUrls: Array.isArray(row.peerURLs) ? row.peerURLs.map(String) : [],
        hasStarted: Array.isArray(row.clientURLs) && row.clientURLs.length > 0,
        isLearner: row.isLearner === true,
      }),
    ),
  };
}

export function alarmsOf(answer: Answer): Alarm[] {
  return rows(answer.alarms).map((row) => ({ memberId: text(row.memberID), type: String(row.alarm ?? 'NONE') }));
}

function fieldsOf(value: unknown): Answer {
  return typeof value === 'object' && value !== null ? (value as Answer) : {};
}

/** More than the members of any etcd, and their alarms. */
const mostRows = 256;

function rows(value: unknown): Answer[] {
  if (!Array.isArray(value)) return [];
  if (value.length > mostRows) throw new Error(`a list has ${value.length} entries`);
  return value.map(fieldsOf);
}

/**
 * The gateway writes 64-bit numbers as text, and leaves zeros out; a history that was never compacted is compacted to -1.
 * Throws on what is no number: that is no etcd.
 */
function text(value: unknown): string {
  const digits = value === undefined ? '0' : String(value);
  if (!/^-?\d{1,20}$/.test(digits)) throw new Error(`a number reads ${JSON.stringify(shortened(digits, 40))}`);
  return digits;
}

/** Empty where it says none. It becomes a label of the member's pod, so its form is checked. */
function version(value: unknown): string {
  const told = String(value ?? '');
  if (!/^(\d{1,5}\.\d{1,5}\.\d{1,5}([-+][A-Za-z0-9.+-]{0,40}[A-Za-z0-9])?)?$/.test(told)) {
    throw new Error(`a version reads ${JSON.stringify(shortened(told, 40))}`);
  }
  return told;
}

function number(value: unknown): number {
  return Number(value ?? 0);
}
