/**
 * A cluster at rest costs nothing: no write but the lease's renewals, and none when the operator starts anew. The same
 * operator shows what the process itself may cost.
 *
 * `CLUSTERWRIGHT_QUIET_SECONDS` makes the rest longer than its default of a minute.
 */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { killProcess } from '../../src/sandbox/faults/process.ts';
import { requestsOf } from '../support/metrics-text.ts';
import type { OperatorProcess } from '../support/operator-process.ts';
import { recordResult } from '../support/results.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { until } from '../support/until.ts';

const quietSeconds = Number(process.env.CLUSTERWRIGHT_QUIET_SECONDS ?? 60);

let stage: Stage;
let operator: OperatorProcess;

beforeAll(async () => {
  stage = await openStage('quiet');
  operator = await stage.startOperator();
  const cluster = await stage.create('r');
  await cluster.whole({ data: 3, sentinels: 3 }, { withinMs: 120_000 });
  await settled(operator);
});

afterAll(() => stage.close());

/** Requests that change something, the lease apart. */
async function writes(process: OperatorProcess): Promise<Record<string, number>> {
  const changing = Object.entries(requestsOf(await process.metrics())).filter(
    ([request]) => !/^(get|list|watch) /i.test(request) && !request.endsWith(' leases'),
  );
  return Object.fromEntries(changing);
}

/** Details of the status are gathered for ten seconds: after twice that without a write, nothing is pending. */
async function settled(process: OperatorProcess): Promise<void> {
  let seen = '';
  let since = performance.now();
  await until(
    'the operator to come to rest',
    async () => {
      const now = JSON.stringify(await writes(process));
      if (now !== seen) {
        seen = now;
        since = performance.now();
      }
      if (performance.now() - since < 20_000) throw new Error(now);
    },
    { withinMs: 120_000, everyMs: 500 },
  );
}

async function rest(seconds: number): Promise<void> {
  const over = performance.now() + seconds * 1000;
  await until(
    'the rest',
    () => {
      if (performance.now() < over) throw new Error('resting');
    },
    { withinMs: seconds * 1000 + 10_000, everyMs: 1000 },
  );
}

test(
  `nothing is written in ${quietSeconds} quiet seconds`,
  async () => {
    const renewals = requestsOf(await operator.metrics());
    const undisturbed = async (): Promise<void> => {
      const before = await writes(operator);
      await rest(quietSeconds);
      expect(await writes(operator)).toEqual(before);
    };
    // A machine that holds everybody up for seconds makes a probe fail, which is written. It does not do so twice.
    await until('a rest without a write', undisturbed, { withinMs: (quietSeconds + 5) * 1000 });
    // The lease was renewed meanwhile, so the counters do count.
    const after = requestsOf(await operator.metrics());
    const renewed = Object.keys(after).filter((key) => key.endsWith(' leases') && after[key] !== renewals[key]);
    expect(renewed).not.toEqual([]);
    const others = Object.keys(after).filter((key) => !key.endsWith(' leases') && after[key] !== renewals[key]);
    await recordResult({
      scenario: `${quietSeconds} quiet seconds`,
      measured: `0 writes, requests besides the lease: ${others.join(', ') || 'none'}`,
    });
  },
  (quietSeconds + 60) * 2000,
);

/** Redis is the first process of its container and does not wait for processes that it has not started. */
test('probes leave no process behind', async () => {
  // SIGCONT changes nothing: only the id is wanted.
  const { pid } = await killProcess({ namespace: stage.namespace, name: 'r-0' }, { signal: 'SIGCONT' });
  const { stdout } = await promisify(execFile)('ps', ['-o', 'stat=,comm=', '--ppid', String(pid)]).catch(
    (error: { code?: number; stdout?: string }) => {
      // It has no child at all.
      if (error.code === 1) return { stdout: error.stdout ?? '' };
      throw error;
    },
  );
  expect(stdout.split('\n').filter((line) => line.startsWith('Z'))).toEqual([]);
});

test('an operator that starts anew writes nothing', async () => {
  await operator.stop();
  operator = await stage.startOperator();
  await settled(operator);
  expect(await writes(operator)).toEqual({});
  const requests = requestsOf(await operator.metrics());
  expect(requests).not.toEqual({});
  await recordResult({ scenario: 'operator restarted', measured: `0 writes; requests: ${JSON.stringify(requests)}` });
});

test('it idles under 100 MB with one cluster', async () => {
  const status = await readFile(`/proc/${operator.pid}/status`, 'utf8');
  const rssMb = Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
  await recordResult({
    scenario: 'operator process',
    measured: `started in ${Math.round(operator.startedAfterMs)} ms, ${rssMb.toFixed(1)} MB resident when idle`,
  });
  expect(rssMb).toBeLessThan(100);
});
