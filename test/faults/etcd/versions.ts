/**
 * What members agree on about their versions. Every few seconds the leader looks what the others run and raises the
 * cluster's version, lowers it to the target of a downgrade, or ends a downgrade that has come to its end; and each member
 * of 3.6 brings its data into the form of the cluster's version.
 */
import type { Member } from './member.ts';

export const reviewMs = 5_000;

/** 5, of 3.5.32. */
export function minorIn(version: string): number {
  return Number(version.split('.')[1]);
}

export function reviewVersions(member: Member): void {
  const { state, disk } = member;
  if (member.role === 'leader') lead(member);
  if (!member.isOld && state.clusterMinor !== undefined) disk.storageMinor = state.clusterMinor;
}

function lead(member: Member): void {
  const { clusterMinor, downgradeTarget, members } = member.state;
  const minors = [...members.values()].map((row) => (row.id === member.id ? member : member.peer(row))?.minor);
  const known = minors.flatMap((minor) => minor ?? []);
  // Nothing changes while somebody is away.
  if (known.length < minors.length) return;
  const least = Math.min(...known);
  const isAbove = (minor: number | undefined): boolean => minor !== undefined && minor - 1 === downgradeTarget;
  if (downgradeTarget === undefined) {
    if (clusterMinor === undefined || clusterMinor < least) {
      void member.propose({ type: 'clusterVersion', minor: least });
    }
  } else if (isAbove(clusterMinor) && isAbove(least) && !member.isOld) {
    void member.propose({ type: 'clusterVersion', minor: downgradeTarget });
  } else if (known.every((minor) => minor === downgradeTarget)) {
    void member.propose({ type: 'downgrade', target: undefined });
  }
}

/** Why a process of this minor version does not start on these data; undefined: it does. */
export function versionRefusal(minor: number, { clusterMinor, downgradeTarget }: Member['state']): string | undefined {
  if (downgradeTarget === minor) return undefined;
  if (downgradeTarget !== undefined && minor === 5) {
    return 'invalid downgrade; server version is not allowed to join when downgrade is enabled';
  }
  return clusterMinor !== undefined && minor < clusterMinor
    ? 'invalid downgrade; server version is lower than determined cluster version'
    : undefined;
}
