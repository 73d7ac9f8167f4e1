/** The table of scenarios and fault classes, for people and as data. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { scenarioNamed } from './catalogue.ts';
import { faultGenerators } from './classes/index.ts';
import type { CellResult, Failure, MatrixResult } from './matrix.ts';
import { faultClasses } from './plan.ts';
import { engineNames } from './scenarios/scenario.ts';

const columns = ['none', ...faultClasses, 'random'] as const;

/** One table an engine. */
export function tables({ cells, writes }: MatrixResult): string {
  return engineNames
    .map((engine) => cells.filter((cell) => scenarioNamed(cell.scenario).engine === engine))
    .filter((own) => own.length > 0)
    .map((own) => table({ cells: own, writes }))
    .join('\n\n');
}

/** One line a scenario: runs of each class, and in brackets those that failed. */
function table({ cells, writes }: MatrixResult): string {
  const scenarios = [...new Set(cells.map(({ scenario }) => scenario))];
  const of = (scenario: string, column: string): CellResult | undefined =>
    cells.find((cell) => cell.scenario === scenario && cell.class === column);
  const word = (cell: CellResult | undefined): string => {
    if (cell === undefined || cell.runs === 0) return '-';
    return cell.failures.length === 0 ? `${cell.runs}` : `${cell.runs}(${cell.failures.length})`;
  };
  const total = (rows: readonly CellResult[]): number => rows.reduce((sum, { runs }) => sum + runs, 0);
  const lines = [
    ['scenario', 'writes', ...columns, 'runs'],
    ...scenarios.map((scenario) => [
      scenario,
      String(writes[scenario] ?? ''),
      ...columns.map((column) => word(of(scenario, column))),
      String(total(cells.filter((cell) => cell.scenario === scenario))),
    ]),
    [
      'all',
      '',
      ...columns.map((column) => String(total(cells.filter((cell) => cell.class === column)))),
      String(total(cells)),
    ],
  ];
  const widths = lines[0]?.map((_, n) => Math.max(...lines.map((line) => line[n]?.length ?? 0))) ?? [];
  return lines
    .map((line) =>
      line.map((text, n) => (n === 0 ? text.padEnd(widths[n] ?? 0) : text.padStart(widths[n] ?? 0))).join('  '),
    )
    .join('\n');
}

export function legend(): string {
  return faultGenerators
    .map(({ id, title, exhaustive }) => `${id.padEnd(4)} ${title}${exhaustive ? ' (all there can be)' : ''}`)
    .join('\n');
}

/** Writes the report, and one plan a failure; returns the plans' files. */
export async function writeReport(
  directory: string,
  result: MatrixResult,
  about: Readonly<Record<string, unknown>>,
): Promise<readonly string[]> {
  await mkdir(join(directory, 'faults'), { recursive: true });
  const failures = result.cells.flatMap(({ failures: of }) => of);
  const files: string[] = [];
  for (const [n, failure] of failures.entries()) files.push(await writePlan(join(directory, 'faults'), failure, n));
  const cells = result.cells.map(({ failures: of, ...cell }) => ({ ...cell, failed: of.length }));
  const report = { ...about, writes: result.writes, cells, failures };
  await writeFile(join(directory, 'faults.json'), `${JSON.stringify(report, undefined, 1)}\n`);
  return files;
}

async function writePlan(directory: string, { plan, violations }: Failure, n: number): Promise<string> {
  const oracle = violations[0]?.oracle ?? '';
  const name = `${plan.class ?? 'random'}-${plan.scenario.replaceAll(' ', '-')}-${oracle}-${n + 1}.json`;
  const file = join(directory, name);
  await writeFile(file, `${JSON.stringify({ ...plan, violations }, undefined, 1)}\n`);
  return file;
}
