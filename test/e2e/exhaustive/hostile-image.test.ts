/**
 * Somebody names an image of their own that answers the operator with as much as it can. That cluster is told of in few
 * words; the others, and the operator, do not notice.
 */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadHostileEtcd } from '../../support/hostile-etcd.ts';
import type { OperatorProcess } from '../../support/operator-process.ts';
import { recordResult } from '../../support/results.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

const mebibyte = 1024 ** 2;
/** The operator's own limit: see `dist/0001-operator.k8s.yaml`. */
const limit = 256 * mebibyte;

let stage: Stage;
let operator: OperatorProcess;

beforeAll(async () => {
  stage = await openStage('hostile-image');
  operator = await stage.startOperator();
});
afterAll(() => stage.close());

/** Bytes that the process has taken at most. */
async function peakMemory(pid: number): Promise<number> {
  const [, kilobytes] = /VmHWM:\s+(\d+) kB/.exec(await readFile(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) * 1024;
}

test('an image that answers without bound costs nobody else anything', async () => {
  const image = await loadHostileEtcd();
  const hostile = await Promise.all(['h1', 'h2', 'h3'].map((name) => stage.createEtcd(name, { image })));
  const metrics = async (): Promise<number> => {
    const text = await operator.metrics();
    return [...text.matchAll(/^clusterwright_reconcile_total\{.*kind="EtcdCluster".*\} (\d+)$/gm)].reduce(
      (sum, [, count]) => sum + Number(count),
      0,
    );
  };
  for (const cluster of hostile) {
    await until('its members running', async () => expect((await cluster.addresses()).length).toBeGreaterThan(0));
  }
  const before = await metrics();
  await until('every kind of answer given to every cluster', async () =>
    expect(await metrics()).toBeGreaterThan(before + 30),
  );

  const startedAt = performance.now();
  const cache = await stage.create('cache');
  await cache.whole({ data: 3, sentinels: 3 });
  const statuses = await Promise.all(hostile.map((cluster) => cluster.status()));
  expect(statuses.map(({ phase }) => phase)).not.toContain('Ready');
  const long = statuses.flatMap((status) => JSON.stringify(status).match(/.{0,200}x{1100}/g) ?? []);
  expect(long.map((text) => text.slice(0, 220))).toEqual([]);
  expect(await Promise.all(hostile.map((cluster) => cluster.ready()))).toEqual([
    expect.stringMatching(/^False /),
    expect.stringMatching(/^False /),
    expect.stringMatching(/^False /),
  ]);
  const peak = await peakMemory(operator.pid);
  expect(peak).toBeLessThan(limit);
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  const measured = `another cluster whole after ${seconds} s, the operator took ${Math.round(peak / mebibyte)} MiB at most`;
  await recordResult({ scenario: 'image that answers without bound', measured });
});
