/**
 * Another password for the clients of a living cluster, while they log in with either all the time: no login is refused, nobody is restarted, and
 * pods that come meanwhile accept both.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Condition } from '../../../src/api/condition.ts';
import { secrets } from '../../../src/api/resource.ts';
import { ordinalOf, type Pod } from '../../../src/resources/children.ts';
import { removeByName } from '../../support/kubernetes.ts';
import { connectRedis } from '../../support/redis-client.ts';
import type { TestCluster } from '../../support/redis-cluster.ts';
import { recordResult } from '../../support/results.ts';
import { underWriters } from '../../support/scenario.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

const size = { data: 3, sentinels: 3 };
/** From the edit of the Secret until every process accepts both. */
const withinMs = 90_000;
const overlapMs = 120_000;

let stage: Stage;
let cluster: TestCluster;

beforeAll(async () => {
  stage = await openStage('redis-rotation');
  await stage.startOperator();
  cluster = await stage.create('r', { auth: { overlap: '2m' } });
  await cluster.whole(size, { withinMs: 120_000 });
});
afterAll(() => stage.close());

/** `null` takes a key away. */
async function edit(values: Readonly<Record<string, string | null>>): Promise<void> {
  const ref = { resource: secrets, namespace: stage.namespace, name: 'r-auth' };
  const { uid = '' } = (await stage.client.get(ref)).metadata;
  const data = Object.fromEntries(
    Object.entries(values).map(([key, value]) => [key, value === null ? null : Buffer.from(value).toString('base64')]),
  );
  await stage.client.mergePatch({ ...ref, uid }, { data });
}

async function all(): Promise<readonly Pod[]> {
  const { data, sentinels } = await cluster.pods();
  return [...data, ...sentinels].sort((a, b) => ordinalOf(a) - ordinalOf(b));
}

async function lives(): Promise<unknown> {
  return (await all()).map(({ metadata, status }) => [
    metadata.uid,
    status?.containerStatuses?.map(({ restartCount }) => restartCount),
    status?.conditions?.find(({ type }) => type === 'Ready'),
  ]);
}

const conditionOf = async (type: string): Promise<Condition | undefined> => {
  const { status } = (await cluster.object()) as { readonly status?: { readonly conditions?: readonly Condition[] } };
  return status?.conditions?.find((condition) => condition.type === type);
};

const overlapping = (reason: string): Promise<void> =>
  until(`the overlap for ${reason}`, async () => expect((await conditionOf('PasswordOverlap'))?.reason).toBe(reason), {
    withinMs,
    everyMs: 250,
  });

const isReady = ({ status }: Pod): boolean =>
  status?.conditions?.some(({ type, status: state }) => type === 'Ready' && state === 'True') === true;

/** What a login is answered; undefined where the process is not reached. */
async function login(pod: Pod, password: string): Promise<string | undefined> {
  const port = pod.metadata.name.includes('-sentinel-') ? 26379 : 6379;
  try {
    (await connectRedis({ host: pod.status?.podIP ?? '', port, password }, 1000)).close();
    return 'OK';
  } catch (error) {
    return /^(WRONGPASS|NOAUTH|NOPERM)/.exec((error as Error).message)?.[1];
  }
}

const answers = async (password: string): Promise<unknown> =>
  Promise.all((await all()).map((pod) => login(pod, password)));

/** Logs in to every pod that is ready, again and again, as long as `isDue`. */
class Logins {
  readonly refused: string[] = [];
  count = 0;
  #hasEnded = false;
  readonly #work: Promise<void>;

  constructor(passwords: Readonly<Record<string, () => boolean>>) {
    this.#work = this.#run(passwords);
  }

  async #run(passwords: Readonly<Record<string, () => boolean>>): Promise<void> {
    while (!this.#hasEnded) {
      const pods = (await all()).filter(isReady);
      for (const [password, isDue] of Object.entries(passwords)) {
        if (!isDue()) continue;
        const found = await Promise.all(pods.map((pod) => login(pod, password)));
        this.count += found.length;
        if (!isDue()) continue;
        const names = pods.filter((_, i) => found[i] !== 'OK' && found[i] !== undefined);
        this.refused.push(...names.map(({ metadata }) => `${metadata.name} refuses the ${password} one`));
      }
    }
  }

  async end(): Promise<void> {
    this.#hasEnded = true;
    await this.#work;
  }
}

test('another password is accepted beside the former one, which goes when the overlap is over', async () => {
  const former = await cluster.password();
  const before = await lives();
  let mayUseNext = false;
  let mayUseFormer = true;
  const logins = new Logins({ [former]: () => mayUseFormer, 'second one': () => mayUseNext });
  const { gapMs } = await underWriters('another password', stage.client, cluster, async () => {
    const from = performance.now();
    await edit({ password: 'second one' });
    await overlapping('FormerPasswordAccepted');
    await recordResult({ scenario: 'another password', measured: `${Math.round(performance.now() - from)} ms` });
    mayUseNext = true;
    expect(await answers(former)).toEqual(Array(6).fill('OK'));
    expect(await answers('second one')).toEqual(Array(6).fill('OK'));
    // Until the kubelets have shown it to the pods, and their scripts log in with it.
    await new Promise((resolve) => setTimeout(resolve, overlapMs - 30_000));
    expect((await conditionOf('Ready'))?.status).toBe('True');
  });
  expect(gapMs).toBeLessThan(1_000);
  mayUseFormer = false;
  await until(
    'the former one is refused by all',
    async () => expect(await answers(former)).toEqual(Array(6).fill('WRONGPASS')),
    { withinMs: 60_000, everyMs: 500 },
  );
  expect(await answers('second one')).toEqual(Array(6).fill('OK'));
  await until('the overlap is over', async () => expect(await conditionOf('PasswordOverlap')).toBeUndefined());
  await logins.end();
  expect([logins.refused, logins.count > 500]).toEqual([[], true]);
  expect(await lives()).toEqual(before);
  await cluster.whole(size);
});

test('the scripts of the pods hand over by then, and who comes back accepts the one password', async () => {
  const old = await cluster.primary();
  const { gapMs } = await underWriters('primary deleted after another password', stage.client, cluster, async () => {
    await removeByName(stage.client, old);
    await cluster.whole(size, { withinMs: 120_000 });
  });
  expect(gapMs).toBeLessThan(3_000);
  expect(await answers('second one')).toEqual(Array(6).fill('OK'));
});

test('the next password is accepted before it is the password, and pods that come meanwhile accept both', async () => {
  await edit({ 'password-next': 'third one' });
  await overlapping('NamedPasswordsAccepted');
  const logins = new Logins({ 'second one': () => true, 'third one': () => true });
  await edit({ password: 'third one', 'password-next': null });
  await overlapping('FormerPasswordAccepted');
  const { data, sentinels } = await cluster.pods();
  const [primary] = [await cluster.primary()];
  const replica = data.find(({ metadata }) => metadata.name !== primary.metadata.name);
  for (const pod of [replica, sentinels[0], primary]) {
    if (pod === undefined) throw new Error('a pod is missing');
    await removeByName(stage.client, pod);
    await cluster.whole(size, { withinMs: 120_000 });
  }
  await logins.end();
  expect([logins.refused, logins.count > 100]).toEqual([[], true]);
});

test('an invalid password in the Secret changes no server, and the status reports it', async () => {
  const before = await lives();
  await edit({ password: 'with a\ttab' });
  await until('PasswordUnusable', async () => expect((await conditionOf('Ready'))?.reason).toBe('PasswordUnusable'));
  expect(await answers('third one')).toEqual(Array(6).fill('OK'));
  await edit({ password: 'third one' });
  await cluster.whole(size, { withinMs: 120_000 });
  expect(await lives()).toEqual(before);
});
