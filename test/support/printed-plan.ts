/** `clusterwright plan` as a person runs it, and what of it was then done. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import type { FieldChange, Outcome, Step } from '../../src/plan/plan.ts';
import { describeStep } from '../../src/runtime/executor.ts';
import type { ForesightLine } from '../faults/foresight/live.ts';
import { until } from './until.ts';

const program = join(import.meta.dirname, '../../build/src/cli.js');

/** A step, in words, and the fields that it changes. */
export interface Deed {
  readonly words: string;
  readonly changes?: readonly FieldChange[];
}

export interface PrintedPlan {
  readonly kind: string;
  readonly name: string;
  readonly basis: string;
  readonly plan: { readonly steps: readonly Step[]; readonly outcome: Outcome };
  readonly follows: readonly string[];
}

/** What the command prints. Rejects where its exit code says that it could not be told. */
export async function printed(kubeconfig: string, ...args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      [program, 'plan', ...args],
      { env: { ...process.env, KUBECONFIG: kubeconfig }, maxBuffer: 16 * 1024 * 1024 },
      (error, stdout, stderr) => {
        if (error === null || error.code === 2) resolve(stdout);
        else reject(new Error(`plan ${args.join(' ')}: ${stderr}`, { cause: error }));
      },
    );
  });
}

export async function printedPlans(kubeconfig: string, ...args: readonly string[]): Promise<readonly PrintedPlan[]> {
  const text = await printed(kubeconfig, ...args, '-o', 'json');
  return (JSON.parse(text) as { readonly clusters: readonly PrintedPlan[] }).clusters;
}

/** One that says that the processes could not be heard, on a machine under load, is asked for again. */
export async function heardPlan(kubeconfig: string, subject: string): Promise<PrintedPlan> {
  return until(`a plan of ${subject}`, async () => {
    const [plan] = await printedPlans(kubeconfig, subject);
    if (plan === undefined) throw new Error('nothing was printed');
    const { outcome } = plan.plan;
    if (outcome.state !== 'settled' && outcome.reason === 'NotObserved') throw new Error(outcome.message);
    return plan;
  });
}

/** In one order, and each once: an update may take two requests. */
export function deedsOf(deeds: readonly Deed[]): readonly Deed[] {
  const byWords = new Map(
    deeds.map(({ words, changes }) => [words, changes === undefined ? { words } : { words, changes }]),
  );
  return [...byWords.values()].sort((a, b) => (a.words < b.words ? -1 : 1));
}

export function planned({ plan }: PrintedPlan): readonly Deed[] {
  return deedsOf(
    plan.steps.map((step) => ({
      words: describeStep(step),
      ...('changes' in step ? { changes: step.changes } : {}),
    })),
  );
}

/** What the first pass did that was about this generation. Empty: there was none. */
export function doneAtFirst(
  lines: readonly ForesightLine[],
  cluster: string,
  generation: number | undefined,
): readonly Deed[] {
  const own = lines.filter((line) => line.cluster === cluster && line.generation === generation);
  return deedsOf(own.filter(({ pass }) => pass === own[0]?.pass));
}
