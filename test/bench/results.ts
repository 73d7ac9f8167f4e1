/** What a run found, as it is written to `build/bench.json`. Times are seconds unless a name says otherwise. */
import { readFile } from 'node:fs/promises';
import { cpus, loadavg, release, totalmem } from 'node:os';
import type { LargeAnswers } from './answers.ts';
import type { RequestCounts } from './audit-log.ts';
import type { Ceiling } from './ceiling.ts';
import type { Churned } from './churn.ts';
import type { Converged } from './converge.ts';
import type { Floor } from './floor.ts';
import type { RecheckLoad } from './rechecks.ts';
import type { Restarted } from './restart.ts';
import type { Scheduled } from './schedules.ts';
import type { Synthesized } from './synth.ts';

export interface Machine {
  readonly cores: number;
  readonly processor: string;
  readonly memoryGB: number;
  readonly kernel: string;
  readonly node: string;
  /** One minute, before the run. */
  readonly loadBefore: number;
}

/** Requests of the subject alone, by the API server's audit log. */
export interface Counted {
  readonly n: number;
  /** `live`: with members that answer, by the stand-in. */
  readonly live: boolean;
  readonly converge: RequestCounts;
  readonly rest: { readonly seconds: number; readonly requests: RequestCounts };
  readonly restart?: RequestCounts;
  readonly restarted?: Restarted;
  readonly readyClusters?: number;
  readonly rssBytes?: number;
}

export interface Results {
  readonly at: string;
  readonly subject: string;
  readonly machine: Machine;
  readonly childrenEach?: number;
  /** RSS of the subject before there was any cluster. */
  readonly idleRssBytes?: number;
  readonly ceilings: readonly Ceiling[];
  readonly floors: readonly Floor[];
  readonly converged: readonly Converged[];
  readonly restarts: readonly Restarted[];
  readonly churned: readonly Churned[];
  readonly counted: readonly Counted[];
  readonly synthesized: readonly Synthesized[];
  readonly scheduled: readonly Scheduled[];
  readonly rechecked: readonly RecheckLoad[];
  readonly answered: readonly LargeAnswers[];
  /** Of the whole run. */
  readonly seconds: number;
}

export async function describeMachine(): Promise<Machine> {
  const all = cpus();
  const limit = await readFile('/sys/fs/cgroup/memory.max', 'utf8').catch(() => '');
  const bytes = Math.min(totalmem(), Number.parseInt(limit, 10) || Number.POSITIVE_INFINITY);
  return {
    cores: all.length,
    processor: all[0]?.model.trim() ?? 'unknown',
    memoryGB: Math.round(bytes / 1e9),
    kernel: release(),
    node: process.version,
    loadBefore: loadavg()[0] ?? 0,
  };
}
