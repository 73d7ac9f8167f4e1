/**
 * What a person writes to have a cluster go on with one member's data where nobody is promoted: `POD@UID/GENERATION/LSN`.
 *
 * It is bound to the very cluster, to the spec as it was then, and to the position in the log that the member had when it was read in the
 * status. As soon as there has been a primary again that position has moved on, so a request that was kept, in Git or in a backup of the
 * custom resource, is not carried out a second time.
 */
import { recoverAnnotation } from '../names.ts';
import { answering, type LiveMember } from '../observe/observed.ts';
import { indexOf, isGoing, type Situation } from '../observe/situation.ts';

/** For how long nobody may have renewed the lock: an election under load, or a machine that starts, is no loss. */
export const lastingMs = 60_000;

interface Survivor {
  readonly index: number;
  readonly member: LiveMember;
  /** In PostgreSQL's notation. */
  readonly lsn: string;
}

/** Who could be gone on with: members of the roster whose PostgreSQL runs. The one that has most first. */
function survivors(situation: Situation): Survivor[] {
  return answering(situation.observed.members)
    .flatMap((member): Survivor[] => {
      const index = indexOf(situation, member);
      const isOurs = index !== undefined && situation.roster.has(index);
      const runs = member.postgres === 'running' && member.systemId !== undefined && member.lsn !== undefined;
      if (!isOurs || !runs || isGoing(situation, index)) return [];
      return [{ index, member, lsn: lsnText(member.lsn ?? 0) }];
    })
    .sort((a, b) => (b.member.timeline ?? 0) - (a.member.timeline ?? 0) || (b.member.lsn ?? 0) - (a.member.lsn ?? 0));
}

function lsnText(position: number): string {
  const hexadecimal = (half: number): string => half.toString(16).toUpperCase();
  return `${hexadecimal(Math.floor(position / 2 ** 32))}/${hexadecimal(position % 2 ** 32)}`;
}

export function hasLasted({ store, observed }: Situation): boolean {
  return store.renewed === undefined || observed.at - store.renewed >= lastingMs;
}

/** Takes writes, and Patroni says that somebody leads: the lock that the operator has seen is an old one. */
export function leaderBeyond({ observed }: Situation): LiveMember | undefined {
  return answering(observed.members).find(({ role, isUnlocked }) => role === 'primary' && !isUnlocked);
}

/** What may be written, and what stands behind it; empty where nobody could be gone on with, and where somebody leads. */
export function offers(situation: Situation): string {
  if (leaderBeyond(situation) !== undefined) return '';
  const { uid, generation } = situation.cluster.metadata;
  const words = survivors(situation).map(
    ({ member, lsn }) => `${member.pod}@${uid}/${generation}/${lsn} (timeline ${member.timeline ?? 'unknown'})`,
  );
  return words.length === 0
    ? ''
    : `; if what the others have is lost for good, annotate with ${recoverAnnotation}=POD@UID/GENERATION/LSN of the member to go on with: ${words.join(', ')}`;
}

export type Verdict =
  | { readonly state: 'granted'; readonly survivor: number }
  /** It would be granted; the loss is too young. */
  | { readonly state: 'early' | 'refused'; readonly message: string };

const form = /^([^@/]+)@([^@/]+)\/(\d+)\/([0-9A-F]{1,8}\/[0-9A-F]{1,8})$/;

/** `asked`: the annotation's value. Nobody is primary. */
export function judged(situation: Situation, asked: string): Verdict {
  const { cluster, observed } = situation;
  const { name, uid, generation } = cluster.metadata;
  const refused = (why: string): Verdict => ({
    state: 'refused',
    message: `${recoverAnnotation} ${why}${offers(situation)}`,
  });
  const [, pod = '', forUid, forGeneration, forLsn] = form.exec(asked) ?? [];
  if (forUid === undefined)
    return refused(`must be POD@UID/GENERATION/LSN, such as ${name}-0-0@${uid}/${generation}/0/3000148`);
  if (forUid !== uid) return refused(`is for the cluster with the UID ${forUid.slice(0, 64)}; this one has ${uid}`);
  if (Number(forGeneration) !== generation)
    return refused(`is for generation ${forGeneration} of the spec, which is at ${generation}`);
  const leads = leaderBeyond(situation);
  if (leads !== undefined)
    return refused(`is not carried out: ${leads.pod} takes writes, and Patroni says that there is a leader`);
  const survivor = survivors(situation).find(({ member }) => member.pod === pod);
  if (survivor === undefined)
    return refused(`names ${pod.slice(0, 64)}, no member of this cluster whose PostgreSQL runs`);
  if (survivor.lsn !== forLsn) return refused(`is for ${pod} at ${forLsn}, and it is at ${survivor.lsn}`);
  const writer = answering(observed.members).find((member) => member.pod !== pod && member.role === 'primary');
  if (writer !== undefined) return refused(`names ${pod}, and ${writer.pod} takes writes`);
  if (hasLasted(situation)) return { state: 'granted', survivor: survivor.index };
  const message = `${recoverAnnotation} is carried out when nobody has been primary for ${lastingMs / 1000} s`;
  return { state: 'early', message };
}
