/** How far an archive is: one value, which the loop changes and the report shows. */
import type { ArchiveReport } from '../../backup/archive-report.ts';
import type { Clock } from '../../system/clock.ts';

export interface Progress {
  report(): ArchiveReport;
  /** Something is stored that a backup could be the base of: since the last gap, if there was one. */
  hasLog(): boolean;
  following(): void;
  failing(problem: NonNullable<ArchiveReport['problem']>): void;
  /** `end`: absent where nothing of the log itself is stored. */
  stored(end: string | undefined): void;
  gap(message: string): void;
  upkeep(found: { readonly hasBase: boolean | undefined; readonly problem?: string }): void;
}

export function progress({ now }: Pick<Clock, 'now'>): Progress {
  const time = (): string => new Date(now()).toISOString();
  let current: ArchiveReport = { state: 'starting', since: time() };
  let hasLog = false;
  const enter = (state: ArchiveReport['state']): Pick<ArchiveReport, 'state' | 'since'> =>
    current.state === state ? { state, since: current.since } : { state, since: time() };
  return {
    report: () => current,
    hasLog: () => hasLog,
    following() {
      const { problem: _, ...others } = current;
      current = { ...others, ...enter('following') };
    },
    failing(problem) {
      current = { ...current, ...enter('failing'), problem };
    },
    stored(end) {
      hasLog ||= end !== undefined;
      current = { ...current, ...(end === undefined ? {} : { end }), storedAt: time() };
    },
    gap(message) {
      // Until something behind it is stored, the store does not tell of it.
      hasLog = false;
      current = { ...current, gap: message, hasBase: false };
    },
    upkeep({ hasBase, problem }) {
      const { upkeepProblem: _, gap, ...others } = current;
      current = {
        ...others,
        ...(hasBase === undefined ? {} : { hasBase }),
        ...(gap === undefined || hasBase === true ? {} : { gap }),
        ...(problem === undefined ? {} : { upkeepProblem: problem }),
      };
    },
  };
}
