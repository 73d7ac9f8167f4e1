/**
 * The primary goes, in every way there is, while four writers write with `WAIT 1`: no acknowledged write is lost, and
 * the `-primary` Service never leads to two primaries. The times without a write are printed; the bounds that are held
 * here are loose, since a test machine is shared.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { startNode, stopNode } from '../../../src/sandbox/faults/node.ts';
import { killProcess } from '../../../src/sandbox/faults/process.ts';
import { keepEvidence } from '../../support/evidence.ts';
import { removeByName } from '../../support/kubernetes.ts';
import type { OperatorProcess } from '../../support/operator-process.ts';
import type { TestCluster } from '../../support/redis-cluster.ts';
import { primaryIn } from '../../support/redis-view.ts';
import { recordResult } from '../../support/results.ts';
import { underWriters } from '../../support/scenario.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

const size = { data: 3, sentinels: 3 };

let stage: Stage;
let operator: OperatorProcess;
let cluster: TestCluster;

beforeAll(async () => {
  stage = await openStage('failover');
  operator = await stage.startOperator();
  cluster = await stage.create('r');
  await cluster.whole(size, { withinMs: 120_000 });
});

afterEach((context) => keepEvidence(context, stage, cluster));
afterAll(() => stage.close());

describe('no acknowledged write is lost, and there is never a second primary, when', () => {
  test('the process of the primary is killed', async () => {
    const before = await cluster.primary();
    const { gapMs } = await underWriters('primary process killed', stage.client, cluster, async () => {
      await killProcess({ namespace: stage.namespace, name: before.metadata.name });
      await movedFrom(before.metadata.name);
      await cluster.whole(size);
    });
    expect(gapMs).toBeLessThan(15_000);
  });

  test('the pod of the primary is deleted: it hands over before it goes', async () => {
    const before = await cluster.primary();
    const { gapMs } = await underWriters('primary pod deleted', stage.client, cluster, async () => {
      await removeByName(stage.client, before);
      await movedFrom(before.metadata.name);
      await cluster.whole(size, { withinMs: 120_000 });
    });
    expect(gapMs).toBeLessThan(15_000);
  });

  test('the machine of the primary stops; when it starts, the old primary is a replica', async () => {
    const before = await cluster.primary();
    const machine = before.spec?.nodeName ?? '';
    const { gapMs } = await underWriters("primary's node stopped", stage.client, cluster, async () => {
      await stopNode(machine);
      try {
        await movedFrom(before.metadata.name);
        await labelled();
      } finally {
        await startNode(machine);
      }
      const view = await cluster.whole(size, { withinMs: 120_000 });
      expect(view.data[before.metadata.name]).toMatch(/^follows /);
    });
    expect(gapMs).toBeLessThan(20_000);
  });

  test('Sentinel fails over while the operator is stopped: it follows when it is back, and takes nothing back', async () => {
    const before = await cluster.primary();
    await underWriters('operator stopped during a failover', stage.client, cluster, async () => {
      await operator.stop();
      await killProcess({ namespace: stage.namespace, name: before.metadata.name });
      const elected = await movedFrom(before.metadata.name);
      operator = await stage.startOperator();
      const startedAt = performance.now();
      await labelled();
      const followedMs = performance.now() - startedAt;
      await recordResult({
        scenario: 'operator started after a failover',
        measured: `followed after ${Math.round(followedMs)} ms`,
      });
      expect(followedMs).toBeLessThan(25_000);
      const view = await cluster.whole(size, { withinMs: 120_000 });
      expect(primaryIn(view)).toBe(elected);
    });
  });
});

/** Waits until another pod than this one is the only primary; resolves with its name. */
async function movedFrom(name: string): Promise<string> {
  return until(
    'another primary',
    async () => {
      const view = await cluster.view();
      const primary = primaryIn(view);
      if (primary === undefined || primary === name) throw new Error(JSON.stringify(view, null, 2));
      return primary;
    },
    { withinMs: 30_000 },
  );
}

/** Waits until the primary, and nobody else, is what the `-primary` Service leads to. */
async function labelled(): Promise<void> {
  await until(
    'the Service leads to the primary',
    async () => {
      const view = await cluster.view();
      expect(view.endpoints).toEqual([primaryIn(view)]);
    },
    { withinMs: 30_000 },
  );
}
