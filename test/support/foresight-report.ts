/** What O13 says of the operators of one place: every line that they left, and what it comes to. */
import { readFile } from 'node:fs/promises';
import type { ForesightLine } from '../faults/foresight/live.ts';

export async function readForesight(file: string): Promise<readonly ForesightLine[]> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as ForesightLine);
}

/**
 * They follow from whether PostgreSQL accepts a password, and an answer to SCRAM cannot be played again: it depends on a number that each
 * login chooses anew.
 */
const afterLogin = ['postgres.makeApplication', 'postgres.setLogin'] as const;

/** Open: sessions for a PostgresUser are not always given again. The plan that is made again then says that nobody answered. */
function isGivenAgain({ cluster, what }: ForesightLine): boolean {
  const isOfUser = cluster.startsWith('PostgresUser/') && what.startsWith('postgres.');
  return !isOfUser && !afterLogin.some((action) => what.startsWith(action));
}

/** In words: what was done and not shown, or shown and not done. */
export function unforeseenIn(lines: readonly ForesightLine[]): readonly string[] {
  return lines
    .filter((line) => line.plannedFrom === 'none' && isGivenAgain(line))
    .map(({ cluster, what, words }) => `${what} of ${cluster} was in no plan: ${words}`);
}

/** `40 writes and actions were in the plan, 3 of them in that from the operator's view`. */
export function foresightWords(lines: readonly ForesightLine[]): string {
  const planned = lines.filter(({ plannedFrom }) => plannedFrom !== 'none');
  const seen = planned.filter(({ plannedFrom }) => plannedFrom === 'seen');
  return `${planned.length} writes and actions were in the plan of that moment, ${seen.length} of them in that from the operator's view`;
}
