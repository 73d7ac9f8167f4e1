/**
 * Takes a snapshot of an etcd cluster from one of its members: a follower, so that the leader is left to its work.
 *
 * The member first proves, by a linearizable read, that it belongs to the majority and has everything up to a revision:
 * the snapshot holds at least that one. Nothing is taken from a cluster without a majority, since what is left of it may
 * lack what was acknowledged.
 */
import type { EtcdSource } from '../backup/source.ts';
import type { EtcdState } from '../backup/state.ts';
import type { Dump } from './dump.ts';
import { type Answer, etcdFailure, etcdMember, type Member } from './etcd-gateway.ts';
import { checkedSnapshot } from './etcd-snapshot.ts';
import { Failure, wordsOf } from './failure.ts';
import { gathered } from './gather.ts';
import { secretLine, tlsFrom } from './secrets.ts';
import type { Surroundings } from './surroundings.ts';
import { placeOf } from './wire.ts';

const answerMs = 5_000;

interface Candidate {
  readonly member: Member;
  readonly place: string;
  readonly role: 'leader' | 'follower';
  readonly version: string;
  readonly clusterId: string;
  readonly memberId: string;
  readonly appliedIndex: bigint;
}

export async function dumpEtcd(source: EtcdSource, surroundings: Surroundings): Promise<Dump> {
  const { candidates, answered } = await survey(source, surroundings);
  let failure: unknown;
  for (const candidate of candidates) {
    try {
      return await dumpFrom(candidate, answered, surroundings);
    } catch (error) {
      surroundings.signal.throwIfAborted();
      failure ??= etcdFailure(error, candidate.place);
      surroundings.log.info({ err: error, member: candidate.place }, 'a member is left out');
    }
  }
  throw failure;
}

async function dumpFrom(candidate: Candidate, answered: number, surroundings: Surroundings): Promise<Dump> {
  const { member, place, role, version, clusterId, memberId } = candidate;
  const idleMs = Math.min(answerMs, surroundings.idleMs);
  // All keys, from the first on: no more than their number is sent.
  const { header, count } = await member.call('kv/range', { key: 'AA==', range_end: 'AA==', count_only: true }, idleMs);
  const revision = String((header as Answer | undefined)?.revision ?? '0');
  const hashKv = await hashAt(member, revision, surroundings);
  const broken = (why: string): Failure => new Failure('SourceBroken', `the snapshot of ${place} is not whole: ${why}`);
  const blobs = blobsOf(member, place);
  surroundings.log.info({ source: place, role, revision }, 'the snapshot begins');
  return {
    engineVersion: version,
    topology: { members: answered, source: place, role },
    content: checkedSnapshot(gathered(blobs), broken),
    state: (): EtcdState => ({
      engine: 'etcd',
      clusterId,
      memberId,
      revision,
      keys: Number(count ?? 0),
      ...(hashKv === undefined ? {} : { hashKv }),
    }),
    close: () => void blobs.return(),
  };
}

async function* blobsOf(member: Member, place: string): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    for await (const { result } of member.stream('maintenance/snapshot', {})) {
      const { blob } = (result ?? {}) as Answer;
      if (typeof blob === 'string') yield Buffer.from(blob, 'base64');
    }
  } catch (error) {
    throw etcdFailure(error, place);
  }
}

/** Undefined where the member cannot tell: what it tells is for later comparison, and no backup fails for want of it. */
async function hashAt(member: Member, revision: string, { log }: Surroundings): Promise<EtcdState['hashKv']> {
  try {
    const { hash, compact_revision } = await member.call('maintenance/hashkv', { revision });
    return { hash: Number(hash ?? 0), compactRevision: String(compact_revision ?? '0') };
  } catch (error) {
    log.warn({ err: error }, 'the member cannot tell the hash of its keys: the backup will be without');
    return undefined;
  }
}

interface Survey {
  /** Voting members that are well, followers first, then those that are furthest. */
  readonly candidates: readonly Candidate[];
  readonly answered: number;
}

async function survey(source: EtcdSource, surroundings: Surroundings): Promise<Survey> {
  const { user, passwordFile, clusterId } = source;
  const password = passwordFile === undefined ? undefined : await secretLine(passwordFile, surroundings);
  const tls = await tlsFrom(source.tls);
  const idleMs = Math.min(answerMs, surroundings.idleMs);
  const found = await Promise.allSettled(
    source.members.map(async (endpoint) => {
      const member = etcdMember({ endpoint, user, password, tls }, surroundings);
      try {
        return { member, place: placeOf(endpoint), status: await member.call('maintenance/status', {}, idleMs) };
      } catch (error) {
        throw etcdFailure(error, placeOf(endpoint));
      }
    }),
  );
  surroundings.signal.throwIfAborted();
  const answers = found.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  const failures = found.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []));
  for (const error of failures) surroundings.log.info({ err: error }, 'a member is left out');
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
  const corrupt = new Set(answers.flatMap(({ status }) => corruptMembers(status)));
  const candidates = answers
    .filter(({ status }) => status.isLearner !== true && !corrupt.has(String(headerOf(status).member_id)))
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
  if (candidates.length > 0) return { candidates, answered: answers.length };
  throw new Failure('SourceBroken', 'no voting member that is well answers');
}

function better(a: Candidate, b: Candidate): number {
  if (a.role !== b.role) return a.role === 'follower' ? -1 : 1;
  return a.appliedIndex === b.appliedIndex ? 0 : a.appliedIndex > b.appliedIndex ? -1 : 1;
}

function headerOf(status: Answer): Answer {
  return (status.header ?? {}) as Answer;
}

/** Ids of members of which the cluster knows that their data differs. */
function corruptMembers({ errors }: Answer): readonly string[] {
  const lines = Array.isArray(errors) ? errors.map(String) : [];
  return lines.flatMap((line) => /memberID:(\d+) alarm:CORRUPT/.exec(line)?.[1] ?? []);
}
