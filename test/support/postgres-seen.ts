/** What a situation has beside its members' own words: a second look at them, and the poolers. */
import { isApart } from '../../src/engines/postgres/observe/lost-log.ts';
import type { PostgresObserved } from '../../src/engines/postgres/observe/observed.ts';

/** Where a standby copies from nobody, everybody has said the same a second time, unless the story says otherwise. */
export function askedAgain(members: PostgresObserved['members']): PostgresObserved['members'] {
  if (!members.some((member) => member.state === 'answering' && isApart(member))) return members;
  return members.map((member) => {
    if (member.state !== 'answering' || 'later' in member) return member;
    const { timeline, lsn } = member;
    return {
      ...member,
      later: { ...(timeline === undefined ? {} : { timeline }), ...(lsn === undefined ? {} : { lsn }) },
    };
  });
}

export const poolerAddress = (ordinal: number): string => `10.0.1.${ordinal}`;

export const poolersSeen = (size: number) =>
  Array.from({ length: size }, (_, ordinal) => ({
    pod: `db-pooler-${ordinal}`,
    address: poolerAddress(ordinal),
    isPaused: false,
  }));
