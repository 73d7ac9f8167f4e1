/**
 * Data that has come apart, and how etcd finds it: a hash of the keys at a revision, compared by a member of 3.6 that
 * starts, and by the leader after a compaction. What is wrong with a member's data is a word on its disk, the same for two
 * that are wrong in the same way.
 *
 * What is not there: the comparison at the start of 3.5, which knows its peers only from a snapshot; that a leader raises
 * an alarm again which somebody has ended, before the next compaction.
 */
import { type Refusal, refusal } from './entry.ts';
import type { Member } from './member.ts';

/** Of 32 bits, as etcd's. */
export function hashed(text: string, seed = 0x811c9dc5): number {
  let hash = seed;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

/** 0 is the revision of now. */
export function hashAt({ state, disk }: Member, revision: number): number | Refusal {
  if (revision > state.revision) return refusal('mvcc: required revision is a future revision', 11);
  if (revision > 0 && revision < state.compacted) return refusal('mvcc: required revision has been compacted', 11);
  return hashed(disk.flaw ?? '', state.hashes[(revision === 0 ? state.revision : revision) - 1] ?? 0);
}

export function checksItself({ ETCD_FEATURE_GATES = '' }: Readonly<Record<string, string>>): boolean {
  return ETCD_FEATURE_GATES.includes('InitialCorruptCheck=true');
}

/** Whether a member that starts finds a peer that differs. */
export function findsOthers(member: Member): boolean {
  const peers = [...member.state.members.values()].flatMap((row) =>
    row.id === member.id ? [] : (member.peer(row) ?? []),
  );
  return !member.isOld && peers.some(({ disk }) => disk.flaw !== member.disk.flaw);
}

/** By the leader, once for each compaction that everybody has carried out. True when all could be compared. */
export function comparesAll(leader: Member): boolean {
  const { members, compacted, applied } = leader.state;
  const reached = [...members.values()].flatMap((row) => (row.id === leader.id ? [leader] : (leader.peer(row) ?? [])));
  if (reached.some(({ state }) => state.applied !== applied || state.compacted !== compacted)) return false;
  const groups = new Map<string, string[]>();
  for (const { id, disk } of reached) groups.set(disk.flaw ?? '', [...(groups.get(disk.flaw ?? '') ?? []), id]);
  if (groups.size === 1) return reached.length === members.size;
  const raise = (id: string): void => void leader.propose({ type: 'alarm', id, alarm: 'CORRUPT', isOn: true });
  const majority = [...groups.values()].find((ids) => ids.length >= Math.floor(members.size / 2) + 1);
  if (leader.isOld || majority === undefined) raise('0');
  else for (const ids of groups.values()) if (ids !== majority) for (const id of ids) raise(id);
  return true;
}
