/**
 * The Job that upgrades a copy of the data. pg_upgrade always refuses it: the model knows no other version of its data, so no member may
 * ever be stopped for one.
 */
import type { ProgramContext, RunningProgram } from '../world/workload.ts';

/** For the copy, and pg_upgrade's checks. */
const rehearsalMs = 3_000;
const refusedCode = 3;
export const refusedWords = 'Your installation contains the "aclitem" data type in user tables.';

export function rehearsing({ time, leave, exit }: ProgramContext): RunningProgram {
  let hasEnded = false;
  const end = (code: number, words: string): void => {
    if (hasEnded) return;
    hasEnded = true;
    leave(words);
    exit(code);
  };
  time.after(rehearsalMs, () => end(refusedCode, refusedWords));
  return {
    exec: () => Promise.resolve(false),
    terminate: () => end(143, 'received SIGTERM'),
    kill() {
      hasEnded = true;
    },
  };
}
