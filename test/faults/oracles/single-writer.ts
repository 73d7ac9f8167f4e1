/**
 * O10: a process that has lost its lease, or stood still for longer than that, writes nothing any more.
 *
 * Who may write is read from the lease itself, as it stood when a write was sent: of several that wait for it, any may
 * come next, whichever was started first. A thief that is no process of ours writes nothing, and those whose lease he
 * took need a moment to notice; a lease that was given back is nobody's.
 */
import type { Oracle, RunRecord } from '../record.ts';
import { isNumbered } from '../wire/request.ts';

interface Term {
  readonly from: number;
  readonly holder: string;
}

/** Names of the operator's processes, as they call themselves in the lease. */
const identity = (life: number): string => `operator-${life}`;

function terms({ before, commits, lives }: Pick<RunRecord, 'before' | 'commits' | 'lives'>): readonly Term[] {
  const ours = new Set(['', ...lives.map(({ id }) => identity(id))]);
  const states = [...before.map((object) => ({ at: 0, after: object })), ...commits];
  return states.flatMap(({ at, after }) => {
    if (after?.kind !== 'Lease') return [];
    const { holderIdentity: holder = '' } = (after.spec ?? {}) as { readonly holderIdentity?: string };
    return ours.has(holder) ? [{ from: at, holder }] : [];
  });
}

export const singleWriter: Oracle = {
  id: 'O10',
  promise: 'at most one process writes at any time',
  check(run) {
    const held = terms(run);
    const found: string[] = [];
    for (const { life, at, verb, what, request } of run.entries) {
      const writes = verb === 'command' || (request !== undefined && isNumbered(request));
      if (!writes) continue;
      const holder = held.findLast(({ from }) => from <= at)?.holder ?? '';
      if (holder !== identity(life))
        found.push(
          `process ${life} sends ${verb} ${what} while the lease is ${holder === '' ? "nobody's" : `that of ${holder}`}`,
        );
    }
    return found.slice(0, 3);
  },
};
