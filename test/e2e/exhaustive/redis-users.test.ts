/** ACL users of a living cluster: set on every data node, put right after an edit by hand, back after a restart without an operator, and removed. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { secrets } from '../../../src/api/resource.ts';
import { redisConnection } from '../../../src/engines/redis/client/connection.ts';
import { dataPort } from '../../../src/engines/redis/names.ts';
import type { Pod } from '../../../src/resources/children.ts';
import { dialTcp } from '../../../src/system/dial.ts';
import { removeByName } from '../../support/kubernetes.ts';
import type { OperatorProcess } from '../../support/operator-process.ts';
import { askRedis, within } from '../../support/redis-client.ts';
import type { TestCluster } from '../../support/redis-cluster.ts';
import { recordResult } from '../../support/results.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

const size = { data: 3, sentinels: 3 };
const app = { name: 'app', secretRef: { name: 'app' }, rules: ['+@read', '+@write', '+ping', '~app:*'] };
/** From an edit until every node follows it. */
const withinMs = 75_000;

let stage: Stage;
let cluster: TestCluster;
let operator: OperatorProcess;

beforeAll(async () => {
  stage = await openStage('redis-users');
  operator = await stage.startOperator();
  cluster = await stage.create('r', { users: [app] });
  await cluster.whole(size, { withinMs: 120_000 });
});
afterAll(() => stage.close());

const secret = { resource: secrets, name: 'app' };
const dataOf = (password: string) => ({ password: Buffer.from(password).toString('base64') });

/** What the user is answered, on a connection of its own. */
async function asUser(pod: Pod, password: string, ...command: readonly string[]): Promise<string> {
  const connection = redisConnection(await dialTcp(pod.status?.podIP ?? '', dataPort, AbortSignal.timeout(1000)));
  try {
    await within(1000, connection.command('AUTH', app.name, password));
    return String(await within(1000, connection.command(...command)));
  } catch (error) {
    return String((error as Error).message.split(' ')[0]);
  } finally {
    connection.close();
  }
}

const everywhere = async (password: string, ...command: readonly string[]): Promise<readonly string[]> => {
  const { data } = await cluster.pods();
  return [...new Set(await Promise.all(data.map((pod) => asUser(pod, password, ...command))))];
};

async function measured(story: string, what: () => Promise<void>): Promise<void> {
  const began = Date.now();
  await until(story, what, { withinMs, everyMs: 250 });
  await recordResult({
    scenario: `users: ${story}`,
    measured: `on every node after ${((Date.now() - began) / 1000).toFixed(1)} s`,
  });
}

test('a cluster whose user has no Secret is Ready, and says which one is missing', async () => {
  await until('the condition', async () => {
    const { status } = (await cluster.object()) as {
      readonly status?: { readonly phase?: string; readonly conditions?: readonly { type: string; message: string }[] };
    };
    expect(status?.phase).toBe('Ready');
    expect(status?.conditions?.find(({ type }) => type === 'UserSecretMissing')?.message).toContain('app: Secret app');
  });
});

test('with its Secret, the user logs in to every node, and does what its rules allow', async () => {
  const { namespace, client } = stage;
  await client.create({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'app', namespace }, data: dataOf('one') });
  await measured('its Secret comes', async () => expect(await everywhere('one', 'PING')).toEqual(['PONG']));
  expect(await everywhere('one', 'GET', 'app:a')).toEqual(['null']);
  expect(await everywhere('one', 'GET', 'other')).toEqual(['NOPERM']);
  expect(await everywhere('one', 'CONFIG', 'GET', 'dir')).toEqual(['NOPERM']);
});

test('an edit by hand on one node is put right', async () => {
  const entrance = await cluster.entrance();
  const { data } = await cluster.pods();
  const host = data[1]?.status?.podIP ?? '';
  await askRedis({ ...entrance, host, port: dataPort }, 'ACL', 'SETUSER', 'app', 'allkeys');
  expect(await everywhere('one', 'GET', 'other')).toContain('null');
  await measured('rules edited by hand', async () =>
    expect(await everywhere('one', 'GET', 'other')).toEqual(['NOPERM']),
  );
});

test('another password in the Secret counts, and the one before does not', async () => {
  const ref = { ...secret, namespace: stage.namespace };
  const { uid = '' } = (await stage.client.get(ref)).metadata;
  await stage.client.mergePatch({ ...ref, uid }, { data: dataOf('two') });
  await measured('another password', async () => expect(await everywhere('two', 'PING')).toEqual(['PONG']));
  expect(await everywhere('one', 'PING')).toEqual(['WRONGPASS']);
});

test('pods that are replaced while the operator is away let the user in as soon as they are ready', async () => {
  await operator.stop();
  const primary = (await cluster.primary()).metadata.name;
  const { data } = await cluster.pods();
  for (const pod of data.filter(({ metadata }) => metadata.name !== primary)) {
    await removeByName(stage.client, pod);
    await until('another pod is ready', async () => {
      const now = (await cluster.pods()).data.find(({ metadata }) => metadata.name === pod.metadata.name);
      expect(now?.metadata.uid).not.toBe(pod.metadata.uid);
      const ready = now?.status?.conditions?.find(({ type }) => type === 'Ready')?.status;
      // Without an operator nothing admits the pod but its own scripts.
      expect(ready).toBe('True');
    });
  }
  expect(await everywhere('two', 'PING')).toEqual(['PONG']);
  operator = await stage.startOperator();
  await cluster.whole(size, { withinMs: 120_000 });
});

test('rules that allow commands of administrators are refused by name, and nothing of the user changes', async () => {
  await cluster.change({ users: [{ ...app, rules: [...app.rules, '+@admin'] }] });
  await until('the refusal', async () => {
    expect(JSON.stringify(await cluster.object())).toContain('needs admin: true');
  });
  expect(await everywhere('two', 'CONFIG', 'GET', 'dir')).toEqual(['NOPERM']);
  expect(await everywhere('two', 'PING')).toEqual(['PONG']);
  await cluster.change({ users: [app] });
  await cluster.whole(size, { withinMs: 120_000 });
});

test('a user that leaves the spec is gone from every node, with the record of it', async () => {
  const entrance = await cluster.entrance();
  await cluster.change({ users: [] });
  await measured('it leaves the spec', async () => expect(await everywhere('two', 'PING')).toEqual(['WRONGPASS']));
  for (const { status } of (await cluster.pods()).data) {
    const at = { ...entrance, host: status?.podIP ?? '', port: dataPort };
    expect((await askRedis(at, 'ACL', 'USERS')) as string[]).not.toContain('clusterwright-users');
  }
  await cluster.whole(size, { withinMs: 120_000 });
});
