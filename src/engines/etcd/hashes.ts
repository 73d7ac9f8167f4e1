/**
 * Asks the voters for a hash of their keys at one revision, while there is a doubt about anybody's data. It costs each
 * member a look at its whole database, so it is not asked for without need.
 */
import type { Children } from '../../resources/children.ts';
import type { EngineIO } from '../engine-io.ts';
import { type Answer, EtcdRefusal } from './gateway.ts';
import { type Agreement, answering, type Comparison, type EtcdObserved, isCorruption, type Voice } from './observed.ts';
import type { EtcdSession } from './session.ts';
import { complaintOf } from './termination-message.ts';

/** Of some GiB; all members are asked at once, and a reconcile has a minute. */
const hashTimeoutMs = 20_000;
/** A member may be some entries behind the one that told the revision. */
const behindMs = 200;
const attempts = 5;
const longestReason = 200;

/** A CORRUPT alarm stands, or a member does not start since it has found other data than its own. */
export function isInDoubt(children: Children, { agreed, members }: Pick<EtcdObserved, 'agreed' | 'members'>): boolean {
  const isSilent = (name: string): boolean => !answering(members).some(({ pod }) => pod === name);
  return (
    (agreed?.alarms ?? []).some(isCorruption) ||
    children.pods.some((pod) => complaintOf(pod) === 'inconsistent' && isSilent(pod.metadata.name))
  );
}

/** Undefined where nobody can be asked. */
export async function compareVoters(
  { clusterId, members: listed, alarms }: Agreement,
  members: EtcdObserved['members'],
  session: EtcdSession,
  io: EngineIO,
): Promise<Comparison | undefined> {
  const voting = answering(members).filter(
    (live) =>
      live.leaderId !== undefined &&
      live.clusterId === clusterId &&
      listed.some(({ id, isLearner }) => id === live.memberId && !isLearner),
  );
  const named = new Set(alarms.filter(isCorruption).map(({ memberId }) => memberId));
  // The newest that a sound member tells: one that has lost changes on the way cannot answer for it, or not the same.
  const sound = voting.filter(({ memberId }) => !named.has(memberId));
  const revision = newest((sound.length === 0 ? voting : sound).map((live) => live.revision));
  if (revision === undefined) return undefined;
  const voices = voting.map(async ({ pod, address, memberId }): Promise<Voice> => {
    try {
      return { pod, memberId, ...(await hashAt(address, revision, session, io)) };
    } catch (error) {
      io.signal.throwIfAborted();
      return { pod, memberId, why: (error as Error).message.slice(0, longestReason) };
    }
  });
  return { revision, voices: await Promise.all(voices) };
}

const isNumber = (text: string): boolean => /^-?\d{1,20}$/.test(text);

function newest(revisions: readonly string[]): string | undefined {
  const known = revisions.filter(isNumber).map(BigInt);
  return known.length === 0 ? undefined : known.reduce((a, b) => (a > b ? a : b)).toString();
}

async function hashAt(
  address: string,
  revision: string,
  session: EtcdSession,
  io: EngineIO,
): Promise<{ readonly hash: string; readonly compacted: string }> {
  for (let attempt = 1; ; attempt++) {
    try {
      return hashIn(await session.call(address, 'maintenance/hashkv', { revision }, hashTimeoutMs));
    } catch (error) {
      const isBehind = error instanceof EtcdRefusal && /future revision/.test(error.message);
      if (!isBehind || attempt === attempts) throw error;
      await io.sleep(behindMs);
    }
  }
}

/** The gateway leaves zeros out. */
function hashIn({ hash = 0, compact_revision = 0 }: Answer): { readonly hash: string; readonly compacted: string } {
  const [found, compacted] = [String(hash), String(compact_revision)];
  if (!isNumber(found) || !isNumber(compacted)) throw new Error('it tells no hash');
  return { hash: found, compacted };
}
