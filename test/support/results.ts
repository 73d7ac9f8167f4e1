/** What the end-to-end tests measured: a line a scenario, gathered over all files and printed when the last has ended. */
import { appendFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export const resultsDirectory = join(import.meta.dirname, '../../build/e2e');
const lines = join(resultsDirectory, 'results.jsonl');
const report = join(resultsDirectory, '../e2e.json');

export interface Result {
  readonly scenario: string;
  /** Longest time without an acknowledged write. */
  readonly gapMs?: number;
  readonly acknowledged?: number;
  readonly lost?: number;
  /** Another figure, with its unit. */
  readonly measured?: string;
}

/** Prints the result and keeps it for the report. */
export async function recordResult(result: Result): Promise<void> {
  await appendFile(lines, `${JSON.stringify(result)}\n`);
  console.log(line(result));
}

export async function startResults(): Promise<void> {
  await mkdir(resultsDirectory, { recursive: true });
  await rm(lines, { force: true });
}

/** Writes `build/e2e.json` and returns the table for people; '' where nothing was measured since it was last asked. */
export async function finishResults(): Promise<string> {
  const text = await readFile(lines, 'utf8').catch(() => '');
  if (text === '') return '';
  await rm(lines);
  const results = text
    .split('\n')
    .filter((each) => each !== '')
    .map((each) => JSON.parse(each) as Result);
  await writeFile(report, `${JSON.stringify(results, null, 2)}\n`);
  return results.map(line).join('\n');
}

function line({ scenario, gapMs, acknowledged, lost, measured }: Result): string {
  const figures = [
    ...(gapMs === undefined ? [] : [`${(gapMs / 1000).toFixed(2)} s without a write`]),
    ...(acknowledged === undefined ? [] : [`${acknowledged} acknowledged`]),
    ...(lost === undefined ? [] : [`${lost} lost`]),
    ...(measured === undefined ? [] : [measured]),
  ];
  return `${scenario.padEnd(56)} ${figures.join(', ')}`;
}
