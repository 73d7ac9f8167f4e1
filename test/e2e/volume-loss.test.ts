/** A volume that is lost for good: nothing begins anew in its place before a person says so. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { persistentVolumeClaims, pods } from '../../src/api/resource.ts';
import { listAll } from '../support/kubernetes.ts';
import { redisClusters } from '../support/resources.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { until } from '../support/until.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage('volume-loss');
  await stage.startOperator();
});

afterAll(() => stage.close());

interface Said {
  readonly phase?: string;
  readonly conditions?: readonly {
    readonly type: string;
    readonly status: string;
    readonly reason: string;
    readonly message: string;
  }[];
}

test('a single node whose volume is lost is Blocked, and begins anew by the name and UID of its pod', async () => {
  const cluster = await stage.create('single', { mode: 'Standalone', replicas: 1 });
  const ready = async (): Promise<void> => expect((await cluster.view()).ready).toBe('True');
  await until('the single node ready', ready, { withinMs: 120_000 });
  const missing = await cluster.load('one', 20);
  expect(await missing()).toEqual([]);

  const { namespace } = stage;
  const old = await cluster.pod('single-0');
  const [claim] = await listAll(stage.client, persistentVolumeClaims, namespace);
  const [claimUid = '', podUid = ''] = [claim?.metadata.uid, old.metadata.uid];
  await stage.client.remove({ resource: persistentVolumeClaims, namespace, name: 'data-single-0', uid: claimUid });
  await stage.client.remove({ resource: pods, namespace, name: 'single-0', uid: podUid });
  const told = await until(
    'VolumesLost',
    async () => {
      const status = (await cluster.object()).status as Said;
      const condition = status.conditions?.find(({ type }) => type === 'Ready');
      expect([status.phase, condition?.status, condition?.reason]).toEqual(['Blocked', 'False', 'VolumesLost']);
      return condition?.message ?? '';
    },
    { withinMs: 120_000 },
  );
  const pod = await cluster.pod('single-0');
  expect(pod.metadata.uid).not.toBe(old.metadata.uid);
  const choice = `single-0:${pod.metadata.uid}`;
  expect(told).toContain(choice);

  const annotations = { 'clusterwright.dev/choose-primary': choice };
  await stage.client.mergePatch({ resource: redisClusters, namespace, name: 'single' }, { metadata: { annotations } });
  await until('ready again, and empty', ready, { withinMs: 60_000 });
  expect((await missing()).length).toBe(20);
  const { metadata } = await cluster.object();
  expect(metadata.annotations?.['clusterwright.dev/choose-primary']).toBeUndefined();
});
