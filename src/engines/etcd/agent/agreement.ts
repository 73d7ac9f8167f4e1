/**
 * Whether the data of a cluster is one. From members whose data has come apart no backup is good, whichever it is taken
 * from: it might age out the ones that are.
 */

import type { AgentContext } from '../../../engine/driver/agent-context.ts';
import { Failure } from '../../../engine/driver/failure.ts';
import { sleep } from '../../../system/clock.ts';
import { type Answer, EtcdRefusal, type Member } from './gateway.ts';

/** Who is asked, and under which name it is spoken of. */
export interface Asked {
  readonly member: Member;
  readonly place: string;
}

/** A member may be some entries behind the one that told the revision. */
const behindMs = 200;
const attempts = 10;

/** Of the whole cluster: another member is no better. */
export class DataDiffers extends Failure {
  constructor(message: string) {
    super('SourceBroken', message);
  }
}

/** Fails where a member's status tells of a CORRUPT alarm: of whom, or of nobody. */
export function refuseCorrupt(place: string, { errors }: Answer): void {
  const lines = Array.isArray(errors) ? errors.map(String) : [];
  if (!lines.some((line) => /alarm:CORRUPT/.test(line))) return;
  throw new DataDiffers(`${place} tells of a CORRUPT alarm: no backup of this cluster is good while it stands`);
}

/** Fails where an alarm has been raised since, and where nobody answers any more who could tell. */
export async function refuseCorrupted(all: readonly Asked[], idleMs: number): Promise<void> {
  const found = await Promise.allSettled(
    all.map(async ({ member, place }) => ({ place, status: await member.call('maintenance/status', {}, idleMs) })),
  );
  const answers = found.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  if (answers.length === 0) throw new Failure('SourceUnreachable', 'no member tells whether a CORRUPT alarm stands');
  for (const { place, status } of answers) refuseCorrupt(place, status);
}

export interface KeyHash {
  readonly hash: number;
  readonly compactRevision: string;
}

/**
 * The hash of a member's keys at a revision, after it has been compared with those of the others: fails where one has
 * another. Undefined where the member cannot tell: no backup fails for want of an answer. One is asked after the other,
 * since etcd holds up writes and reads of a member while it reads its whole database for a hash.
 */
export async function comparedHash(
  first: Asked,
  others: readonly Asked[],
  revision: string,
  context: AgentContext,
): Promise<KeyHash | undefined> {
  const ask = async ({ member, place }: Asked): Promise<KeyHash | undefined> => {
    try {
      return await hashAt(member, revision, context);
    } catch (error) {
      context.signal.throwIfAborted();
      context.log.warn({ err: error, member: place }, 'the member cannot tell the hash of its keys');
      return undefined;
    }
  };
  const own = await ask(first);
  if (own === undefined) return undefined;
  for (const other of others) {
    const told = await ask(other);
    // Where more of the history is dropped, hashes cannot be compared.
    if (told === undefined || told.compactRevision !== own.compactRevision || told.hash === own.hash) continue;
    throw new DataDiffers(`${first.place} and ${other.place} hold different data at revision ${revision}`);
  }
  return own;
}

async function hashAt(member: Member, revision: string, { clock, signal }: AgentContext): Promise<KeyHash> {
  for (let attempt = 1; ; attempt++) {
    try {
      const { hash, compact_revision } = await member.call('maintenance/hashkv', { revision });
      return { hash: Number(hash ?? 0), compactRevision: String(compact_revision ?? '0') };
    } catch (error) {
      const isBehind = error instanceof EtcdRefusal && /future revision/.test(error.message);
      if (!isBehind || attempt === attempts) throw error;
      await sleep(clock, behindMs, signal);
    }
  }
}
