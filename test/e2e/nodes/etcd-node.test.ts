/**
 * The machine of a member is lost, and does not come back: when Kubernetes has given its pod up, the member is removed
 * and replaced elsewhere. When the machine is there again after all, nothing of it joins.
 */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { retiredAnnotation } from '../../../src/engines/etcd/names.ts';
import { startNode, stopNode } from '../../../src/sandbox/faults/node.ts';
import { keepEtcdEvidence } from '../../support/etcd-evidence.ts';
import { underEtcdWriters } from '../../support/etcd-scenario.ts';
import type { EtcdTestCluster } from '../../support/etcd-test-cluster.ts';
import { recordResult } from '../../support/results.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

/** Instead of five minutes. */
const tolerations = ['not-ready', 'unreachable'].map((taint) => ({
  key: `node.kubernetes.io/${taint}`,
  operator: 'Exists' as const,
  effect: 'NoExecute' as const,
  tolerationSeconds: 5,
}));

/** No member tells of another's machine: the one that is asked does so every 20 s, Kubernetes after about 40. */
const noticedWithinMs = 60_000;

let stage: Stage;
let cluster: EtcdTestCluster;

beforeAll(async () => {
  stage = await openStage('etcd-node');
  await stage.startOperator();
  cluster = await stage.createEtcd('e', { scheduling: { tolerations } });
  await cluster.whole(3, { withinMs: 120_000 });
});
afterEach((context) => keepEtcdEvidence(context, stage, cluster));
afterAll(() => stage.close());

test("the leader's machine is lost: another leads within seconds, and the member is replaced", async () => {
  const leader = await cluster.leader();
  const machine = leader.spec?.nodeName ?? '';
  const { gapMs } = await underEtcdWriters(
    "leader's machine lost",
    cluster,
    async () => {
      const startedAt = performance.now();
      await stopNode(machine);
      try {
        await until('the status says so', async () => expect(await cluster.ready()).toMatch(/^False/));
        const replaced = async (): Promise<void> => {
          const { members = [] } = await cluster.status();
          const ready = members.filter((member) => member.ready && member.id !== undefined);
          expect(ready.length).toBe(3);
          expect(ready.map(({ name }) => name)).not.toContain(leader.metadata.name);
          expect(await cluster.ready()).toMatch(/^True/);
        };
        await until('the member is replaced', replaced, { withinMs: 240_000, everyMs: 500 });
        const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
        await recordResult({ scenario: "etcd: leader's machine lost", measured: `replaced after ${seconds} s` });
      } finally {
        await startNode(machine);
      }
      await cluster.whole(3, { withinMs: 120_000 });
    },
    noticedWithinMs,
  );
  expect(gapMs).toBeLessThan(8_000);
  const old = (await cluster.claims()).find(({ metadata }) => metadata.name === `data-${leader.metadata.name}`);
  expect(old?.metadata.annotations?.[retiredAnnotation]).toBeDefined();
});
