/**
 * Takes a snapshot of an etcd cluster from one of its members: a follower, so that the leader is left to its work.
 *
 * The member first proves, by a linearizable read, that it belongs to the majority and has everything up to a revision:
 * the snapshot holds at least that one. Nothing is taken from a cluster without a majority, since what is left of it may
 * lack what was acknowledged.
 */

import type { AgentContext } from '../../../engine/driver/agent-context.ts';
import { coalesced } from '../../../engine/driver/coalesce.ts';
import { placeOf } from '../../../engine/driver/connection.ts';
import type { Dump } from '../../../engine/driver/dump.ts';
import { Failure, wordsOf } from '../../../engine/driver/failure.ts';
import { optionalLine, tlsFrom } from '../../../engine/driver/secret-files.ts';
import type { EtcdSource, EtcdState } from '../backup/schemas.ts';
import { comparedHash, DataDiffers, refuseCorrupt, refuseCorrupted } from './agreement.ts';
import { type Answer, etcdFailure, etcdMember, type Member } from './gateway.ts';
import { checkedSnapshot } from './snapshot.ts';

const answerMs = 5_000;

/** All keys, from the first on: no more than their number is sent. */
const linearizable = { path: 'kv/range', body: { key: 'AA==', range_end: 'AA==', count_only: true } } as const;

interface Candidate {
  readonly member: Member;
  readonly place: string;
  readonly role: 'leader' | 'follower';
  readonly version: string;
  readonly clusterId: string;
  readonly memberId: string;
  readonly appliedIndex: bigint;
}

export async function dumpEtcd(source: EtcdSource, context: AgentContext): Promise<Dump<EtcdState>> {
  const { candidates, answered } = await survey(source, context);
  let failure: unknown;
  for (const candidate of candidates) {
    try {
      return await dumpFrom(candidate, candidates, answered, context);
    } catch (error) {
      context.signal.throwIfAborted();
      // Whichever else is asked is a member of the same cluster.
      if (error instanceof DataDiffers) throw error;
      failure ??= etcdFailure(error, candidate.place);
      context.log.info({ err: error, member: candidate.place }, 'a member is left out');
    }
  }
  throw failure;
}

async function dumpFrom(
  candidate: Candidate,
  candidates: readonly Candidate[],
  answered: number,
  context: AgentContext,
): Promise<Dump<EtcdState>> {
  const { member, place, role, version, clusterId, memberId } = candidate;
  const idleMs = Math.min(answerMs, context.idleMs);
  const { header, count } = await member.call(linearizable.path, linearizable.body, idleMs);
  const revision = String((header as Answer | undefined)?.revision ?? '0');
  // A member is there twice where the Service leads to it as well.
  const others = candidates.filter(
    (each, i) => each.memberId !== memberId && candidates.findIndex((one) => one.memberId === each.memberId) === i,
  );
  const authentication = await asksForPassword(member, context);
  const hashKv = await comparedHash(candidate, others, revision, context);
  // What was raised before that read is known to this member by now.
  const check = (): Promise<void> => refuseCorrupted(candidates, idleMs);
  await check();
  const broken = (why: string): Failure => new Failure('SourceBroken', `the snapshot of ${place} is not whole: ${why}`);
  const blobs = blobsOf(candidate, idleMs);
  context.log.info({ source: place, role, revision }, 'the snapshot begins');
  return {
    engineVersion: version,
    topology: { members: answered, source: place, role },
    content: followedBy(checkedSnapshot(coalesced(blobs), broken), check),
    state: (): EtcdState => ({
      engine: 'etcd',
      clusterId,
      memberId,
      revision,
      keys: Number(count ?? 0),
      ...(authentication === undefined ? {} : { authentication }),
      ...(hashKv === undefined ? {} : { hashKv }),
    }),
    close: () => void blobs.return(),
  };
}

async function* followedBy(
  content: AsyncIterable<Uint8Array>,
  check: () => Promise<void>,
): AsyncGenerator<Uint8Array, void, undefined> {
  yield* content;
  await check();
}

/** Undefined where the member cannot tell: no backup fails for want of it. */
async function asksForPassword(member: Member, { log }: AgentContext): Promise<boolean | undefined> {
  try {
    return (await member.call('auth/status', {})).enabled === true;
  } catch (error) {
    log.warn({ err: error }, 'the member cannot tell whether it asks for passwords');
    return undefined;
  }
}

/**
 * Who has told the revision may be another member than the one that this connection leads to: that one proves the same, and
 * that it is of this cluster.
 */
async function* blobsOf(
  { member, place, clusterId }: Candidate,
  idleMs: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  const check = (answer: Answer): void => {
    if (headerOf(answer).cluster_id === clusterId) return;
    throw new Failure('SourceBroken', `${place} leads to another cluster by now`);
  };
  try {
    for await (const { result } of member.stream('maintenance/snapshot', {}, { ...linearizable, idleMs, check })) {
      const { blob } = (result ?? {}) as Answer;
      if (typeof blob === 'string') yield Buffer.from(blob, 'base64');
    }
  } catch (error) {
    throw etcdFailure(error, place);
  }
}

interface Survey {
  /** Voting members that are well, followers first, then those that are furthest. */
  readonly candidates: readonly Candidate[];
  readonly answered: number;
}

async function survey(source: EtcdSource, context: AgentContext): Promise<Survey> {
  const { user, passwordFile, clusterId } = source;
  const password = await optionalLine(passwordFile, context);
  const tls = await tlsFrom(source.tls);
  const idleMs = Math.min(answerMs, context.idleMs);
  const found = await Promise.allSettled(
    source.members.map(async (endpoint) => {
      const member = etcdMember({ endpoint, user, password, tls }, context);
      try {
        return { member, place: placeOf(endpoint), status: await member.call('maintenance/status', {}, idleMs) };
      } catch (error) {
        throw etcdFailure(error, placeOf(endpoint));
      }
    }),
  );
  context.signal.throwIfAborted();
  const answers = found.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  const failures = found.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []));
  for (const error of failures) context.log.info({ err: error }, 'a member is left out');
  if (answers.length === 0) {
    const refusal = failures.find((error) => error instanceof Failure && error.reason === 'SourceRefused');
    throw refusal ?? new Failure('SourceUnreachable', `no member answers: ${wordsOf(failures[0])}`);
  }
  const foreign = answers.find(({ status }) => clusterId !== undefined && headerOf(status).cluster_id !== clusterId);
  if (foreign !== undefined) {
    const { cluster_id } = headerOf(foreign.status);
    throw new Failure(
      'SourceRefused',
      `${foreign.place} is of the cluster ${cluster_id}, and ${clusterId} was expected`,
    );
  }
  const [first] = answers;
  const other = answers.find(({ status }) => headerOf(status).cluster_id !== headerOf(first?.status ?? {}).cluster_id);
  if (first !== undefined && other !== undefined) {
    // Nothing here tells which of them is ours: an address that is used again leads to another's member for a while.
    throw new Failure('SourceBroken', `${first.place} and ${other.place} are of different clusters`);
  }
  await requireOwn(answers, source, idleMs);
  for (const { place, status } of answers) refuseCorrupt(place, status);
  const candidates = answers
    .filter(({ status }) => status.isLearner !== true)
    .map(({ member, place, status }): Candidate => {
      const { member_id, cluster_id } = headerOf(status);
      return {
        member,
        place,
        role: status.leader === member_id ? 'leader' : 'follower',
        version: String(status.version),
        clusterId: String(cluster_id),
        memberId: String(member_id),
        appliedIndex: BigInt(String(status.raftAppliedIndex ?? 0)),
      };
    })
    .sort(better);
  if (candidates.length > 0)
    return { candidates, answered: new Set(answers.map(({ status }) => headerOf(status).member_id)).size };
  throw new Failure('SourceBroken', 'no voting member that is well answers');
}

/** All that answer may be of another cluster: an address that is used again leads to it for a while. */
async function requireOwn(
  answers: readonly { readonly member: Member; readonly place: string }[],
  { peerDomain }: EtcdSource,
  idleMs: number,
): Promise<void> {
  if (peerDomain === undefined) return;
  const lists = answers.map(async ({ member, place }) => {
    try {
      return { place, peers: peerHosts(await member.call('cluster/member/list', {}, idleMs)) };
    } catch (error) {
      throw etcdFailure(error, place);
    }
  });
  const { place, peers } = await Promise.any(lists).catch((error: AggregateError) => {
    throw error.errors[0];
  });
  if (peers.some((host) => host === peerDomain || host.endsWith(`.${peerDomain}`))) return;
  const listed = peers.slice(0, 3).join(', ').slice(0, 200);
  throw new Failure('SourceBroken', `${place} is of another cluster: it lists ${listed}, and none in ${peerDomain}`);
}

function peerHosts({ members }: Answer): readonly string[] {
  const urls = (Array.isArray(members) ? members : []).flatMap((each: Answer) =>
    Array.isArray(each.peerURLs) ? each.peerURLs.map(String) : [],
  );
  return urls.map((url) => (URL.canParse(url) ? new URL(url).hostname : url));
}

function better(a: Candidate, b: Candidate): number {
  if (a.role !== b.role) return a.role === 'follower' ? -1 : 1;
  return a.appliedIndex === b.appliedIndex ? 0 : a.appliedIndex > b.appliedIndex ? -1 : 1;
}

function headerOf(status: Answer): Answer {
  return (status.header ?? {}) as Answer;
}
