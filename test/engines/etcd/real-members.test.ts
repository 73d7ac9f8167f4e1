/** The whole engine against real members: every story ends settled, with the data that was written before. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { EngineIO } from '../../../src/engines/engine.ts';
import { callEtcd } from '../../../src/engines/etcd/gateway.ts';
import { recoverAnnotation, retiredAnnotation } from '../../../src/engines/etcd/names.ts';
import { etcdBinaries } from '../../support/etcd-binary.ts';
import { type EtcdHost, etcdHost, generatedPassword } from '../../support/etcd-host.ts';
import { type EtcdOperator, etcdOperator } from '../../support/etcd-operator.ts';

/** Each story has a network of its own, so that several can be told at once. */
let networks = 60;
function story(tell: (host: EtcdHost) => Promise<void>): () => Promise<void> {
  return async () => {
    networks += 1;
    const host = etcdHost(networks);
    try {
      await tell(host);
    } finally {
      await host.close();
    }
  };
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');

async function put(host: EtcdHost, pod: string, key: string, value: string): Promise<void> {
  await callEtcd(host.io, host.address(pod), 'kv/put', { key: base64(key), value: base64(value) }, 5000);
}

async function get(host: EtcdHost, pod: string, key: string): Promise<string | undefined> {
  const { kvs } = await callEtcd(host.io, host.address(pod), 'kv/range', { key: base64(key) }, 5000);
  const value = (kvs as { value: string }[] | undefined)?.[0]?.value;
  return value === undefined ? undefined : Buffer.from(value, 'base64').toString();
}

const roles = ({ cluster }: EtcdOperator): Record<string, string> =>
  Object.fromEntries((cluster.status?.members ?? []).map(({ name, role }) => [name, role]));

const leaderOf = (operator: EtcdOperator): string => operator.cluster.status?.primary ?? '';

/** What was asked of etcd, each request once though it may have been repeated. */
const asked = ({ history }: EtcdOperator): string[] =>
  history.filter(
    (line, i) => /^(add|remove|give|make|delete Pod|delete StatefulSet)/.test(line) && line !== history[i - 1],
  );

const claims = (host: EtcdHost): Record<string, string> =>
  Object.fromEntries(
    host
      .children()
      .claims.map(({ metadata }) => [
        metadata.name,
        metadata.annotations?.[retiredAnnotation] === undefined ? 'held' : 'retired',
      ]),
  );

/** Equal on every member: the same keys, the same history. */
async function hashes(host: EtcdHost, pods: readonly string[]): Promise<ReadonlySet<unknown>> {
  const found = await Promise.all(
    pods.map(async (pod) => (await callEtcd(host.io, host.address(pod), 'maintenance/hashkv', {}, 5000)).hash),
  );
  return new Set(found);
}

function damage(file: string, ...places: readonly number[]): void {
  const content = readFileSync(file);
  for (const place of places) content.write('garbage garbage garbage garbage', place);
  writeFileSync(file, content);
}

function replaceIn(file: string, text: string, by: string): void {
  writeFileSync(file, Buffer.from(readFileSync(file, 'latin1').replaceAll(text, by), 'latin1'));
}

describe.skipIf(etcdBinaries.size === 0).concurrent('real members', { timeout: 120_000 }, () => {
  it(
    'form at once, and are sealed: from then on a blank volume starts nothing',
    story(async (host) => {
      const operator = etcdOperator(host);
      await operator.settle();
      expect(Object.values(roles(operator)).sort()).toEqual(['leader', 'voter', 'voter']);
      expect(host.object('ConfigMap', 'db-members')?.data).toMatchObject({
        'db-1.state': 'existing',
        'db-1.cluster': 'db-1=http://db-1-0.db.apps.svc:2380',
      });
      host.loseVolume('db-1-0');
      // Nobody is there but Kubernetes.
      for (let turn = 0; turn < 15; turn++) {
        await host.turn();
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      expect(host.log('db-1-0')).toContain('cannot fetch cluster info from peer urls');
      expect(host.children().pods.filter(({ status }) => status?.conditions?.[0]?.status === 'True').length).toBe(2);
    }),
  );

  it(
    'grow to five and shrink to one, one at a time; who comes after that meets no old data',
    story(async (host) => {
      const operator = etcdOperator(host, { replicas: 1 });
      await operator.settle();
      await put(host, 'db-0-0', 'a', '1');
      operator.change({ replicas: 3 });
      await operator.settle();
      operator.change({ replicas: 5 });
      await operator.settle();
      expect(asked(operator)).toEqual(
        [1, 2, 3, 4].flatMap((i) => [
          `add db-${i} to the members, without a vote`,
          `give db-${i}-0 a vote, if it has caught up`,
        ]),
      );
      expect(
        await hashes(
          host,
          [0, 1, 2, 3, 4].map((i) => `db-${i}-0`),
        ),
      ).toHaveProperty('size', 1);
      operator.clear();
      operator.change({ replicas: 1 });
      await operator.settle();
      const left = Object.keys(roles(operator));
      expect(left).toEqual([leaderOf(operator)]);
      expect(await get(host, left[0] ?? '', 'a')).toBe('1');
      expect(asked(operator).filter((line) => line.startsWith('make'))).toEqual([]);
      operator.change({ replicas: 3 });
      await operator.settle();
      expect(Object.keys(roles(operator))).toEqual([...left, 'db-5-0', 'db-6-0']);
      expect(Object.values(claims(host)).sort()).toEqual(['held', 'held', 'held', ...Array(4).fill('retired')]);
      expect(await get(host, 'db-6-0', 'a')).toBe('1');
    }),
  );

  it(
    'that lose their process come back by themselves',
    story(async (host) => {
      const operator = etcdOperator(host);
      await operator.settle();
      await put(host, 'db-0-0', 'a', '1');
      operator.clear();
      host.kill(leaderOf(operator));
      await operator.until('MembersNotReady');
      await operator.settle();
      expect(asked(operator)).toEqual([]);
      expect(await get(host, 'db-2-0', 'a')).toBe('1');
    }),
  );

  it(
    'E1: whose volume is lost are removed first, then replaced by a new one',
    story(async (host) => {
      const operator = etcdOperator(host);
      await operator.settle();
      await put(host, 'db-0-0', 'a', '1');
      operator.clear();
      host.loseVolume('db-1-0');
      await operator.until('Replacing');
      expect(operator.cluster.status?.phase).toBe('Degraded');
      await operator.settle();
      expect(asked(operator)).toEqual([
        'remove db-1-0 from the members: its volume is another one',
        'delete StatefulSet db-1: its member has been removed',
        'add db-3 to the members, without a vote',
        'give db-3-0 a vote, if it has caught up',
      ]);
      expect(await get(host, 'db-3-0', 'a')).toBe('1');
      expect(await hashes(host, ['db-0-0', 'db-2-0', 'db-3-0'])).toHaveProperty('size', 1);
    }),
  );

  it(
    'E8: a majority of whose volumes is lost stop there, and nothing is formed in their place',
    story(async (host) => {
      const operator = etcdOperator(host);
      await operator.settle();
      operator.clear();
      host.loseVolume('db-1-0');
      host.loseVolume('db-2-0');
      const outcome = await operator.until('QuorumLost');
      await host.turn();
      for (let pass = 0; pass < 10; pass++) await operator.pass();
      expect([outcome.state, asked(operator)]).toEqual(['blocked', []]);
      expect(operator.cluster.status?.conditions?.find(({ type }) => type === 'Ready')?.status).toBe('False');
    }),
  );

  it(
    'E8: go on with the one that a person names, which keeps all that it had, and grow again',
    story(async (host) => {
      const operator = etcdOperator(host);
      await operator.settle();
      await put(host, 'db-1-0', 'a', '1');
      host.loseVolume('db-0-0');
      host.loseVolume('db-2-0');
      await operator.until('QuorumLost');
      operator.clear();
      operator.annotate(recoverAnnotation, 'db-1-0');
      await operator.until('Recovering');
      await operator.settle(60_000);
      expect(Object.keys(roles(operator))).toEqual(['db-1-0', 'db-3-0', 'db-4-0']);
      expect(await get(host, 'db-4-0', 'a')).toBe('1');
      expect(await hashes(host, ['db-1-0', 'db-3-0', 'db-4-0'])).toHaveProperty('size', 1);
      const before = operator.history.length;
      host.kill('db-1-0');
      await operator.until('MembersNotReady');
      await operator.settle();
      expect([operator.history.length, Object.keys(roles(operator)).length]).toEqual([before, 3]);
    }),
  );

  it(
    'restart one at a time for a new setting, the leader last, after it has handed over',
    story(async (host) => {
      const operator = etcdOperator(host);
      await operator.settle();
      const leader = leaderOf(operator);
      const others = Object.keys(roles(operator)).filter((pod) => pod !== leader);
      operator.clear();
      operator.change({ config: { snapshotCount: 20_000 } });
      await operator.settle(60_000);
      expect(asked(operator)).toEqual([
        ...others.map((pod) => `delete Pod ${pod}: it runs an older template`),
        expect.stringMatching(new RegExp(`^make .* the leader: ${leader} is the last to restart`)),
        `delete Pod ${leader}: it runs an older template`,
      ]);
    }),
  );

  it.skipIf(etcdBinaries.size < 2)(
    'go from 3.5 to 3.6 one at a time, and keep what was written',
    story(async (host) => {
      const [newer = '', older = ''] = [...etcdBinaries.keys()];
      const operator = etcdOperator(host, { version: older });
      await operator.settle();
      await put(host, 'db-0-0', 'a', '1');
      expect(operator.cluster.status?.version).toBe(older);
      operator.clear();
      operator.change({ version: newer });
      await operator.settle(60_000);
      expect(operator.cluster.status?.members?.map(({ version }) => version)).toEqual([newer, newer, newer]);
      expect(asked(operator).length).toBe(4);
      expect(await get(host, 'db-1-0', 'a')).toBe('1');
      expect(await hashes(host, ['db-0-0', 'db-1-0', 'db-2-0'])).toHaveProperty('size', 1);
    }),
  );

  it(
    'G8: volumes that outlive their resource are found again by the next of its name',
    story(async (host) => {
      const operator = etcdOperator(host);
      await operator.settle();
      await put(host, 'db-0-0', 'a', '1');
      const before = operator.cluster.status?.members?.map(({ id }) => id);
      for (const { kind, metadata } of host.children().objects) {
        if (kind !== 'PersistentVolumeClaim') host.remove(kind, metadata.name);
      }
      for (const i of [0, 1, 2]) host.deletePod(`db-${i}-0`);
      const next = etcdOperator(host, {}, { uid: 'uid-of-the-next' });
      await next.settle();
      expect(next.cluster.status?.members?.map(({ id }) => id)).toEqual(before);
      expect(await get(host, 'db-2-0', 'a')).toBe('1');
    }),
  );

  it(
    'G8: where one of those volumes is missing, its member is replaced',
    story(async (host) => {
      const operator = etcdOperator(host);
      await operator.settle();
      await put(host, 'db-0-0', 'a', '1');
      host.loseVolume('db-0-0');
      for (const { kind, metadata } of host.children().objects) {
        if (kind !== 'PersistentVolumeClaim') host.remove(kind, metadata.name);
      }
      for (const i of [1, 2]) host.deletePod(`db-${i}-0`);
      const next = etcdOperator(host, {}, { uid: 'uid-of-the-next' });
      await next.settle();
      expect(Object.keys(roles(next))).toEqual(['db-1-0', 'db-2-0', 'db-3-0']);
      expect(await get(host, 'db-3-0', 'a')).toBe('1');
    }),
  );

  it(
    'are parked, all at once, and come back with their data',
    story(async (host) => {
      const operator = etcdOperator(host);
      await operator.settle();
      await put(host, 'db-0-0', 'a', '1');
      operator.change({ replicas: 0 });
      await operator.settle();
      expect(host.children().pods).toEqual([]);
      expect(operator.cluster.status?.conditions?.find(({ type }) => type === 'Ready')?.reason).toBe('Parked');
      operator.change({ replicas: 3 });
      await operator.settle();
      expect(await get(host, 'db-1-0', 'a')).toBe('1');
    }),
  );

  it(
    'reach the same end when the operator dies after every single step',
    story(async (host) => {
      const operator = etcdOperator(host, { replicas: 1 }, { diesEarly: true });
      await operator.settle(60_000);
      await put(host, 'db-0-0', 'a', '1');
      operator.change({ replicas: 3 });
      await operator.settle(60_000);
      host.loseVolume('db-1-0');
      await operator.until('Replacing');
      await operator.settle(60_000);
      expect(Object.keys(roles(operator)).length).toBe(3);
      expect(await get(host, Object.keys(roles(operator))[2] ?? '', 'a')).toBe('1');
      expect(Object.values(claims(host)).filter((state) => state === 'held').length).toBe(3);
    }),
  );

  it.each<[string, string, (volume: string) => void]>([
    ['wiped', 'its volume is blank', (volume) => rmSync(join(volume, 'data'), { recursive: true })],
    [
      'damaged in its log',
      'it cannot read its data',
      (volume) => damage(join(volume, 'data/member/wal/0000000000000000-0000000000000000.wal'), 600),
    ],
    [
      'damaged in its database',
      'it cannot read its data',
      (volume) => damage(join(volume, 'data/member/snap/db'), 20, 4116),
    ],
    [
      'changed where only a comparison shows it',
      'it cannot read its data',
      (volume) => replaceIn(join(volume, 'data/member/snap/db'), 'x'.repeat(2000), `${'x'.repeat(1999)}y`),
    ],
  ])('E10: whose volume is %s are replaced', (_, reason, harm) =>
    story(async (host) => {
      const operator = etcdOperator(host);
      await operator.settle();
      for (let i = 0; i < 8; i++) await put(host, 'db-0-0', `k${i}`, 'x'.repeat(3000));
      operator.clear();
      host.hold('db-1-0');
      host.kill('db-1-0');
      await operator.until('MembersNotReady');
      harm(host.volume('db-1-0'));
      host.hold(undefined);
      await operator.until('Replacing');
      await operator.settle(60_000);
      expect(asked(operator)[0]).toBe(`remove db-1-0 from the members: ${reason}`);
      expect(Object.keys(roles(operator))).toEqual(['db-0-0', 'db-2-0', 'db-3-0']);
      expect(await get(host, 'db-3-0', 'k7')).toBe('x'.repeat(3000));
      expect(await hashes(host, ['db-0-0', 'db-2-0', 'db-3-0'])).toHaveProperty('size', 1);
    })(),
  );

  it(
    'ask who is asking when that is wanted, and the operator goes on with everything',
    story(async (host) => {
      const operator = etcdOperator(host, { replicas: 1 });
      await operator.settle();
      await put(host, 'db-0-0', 'a', '1');
      operator.change({ auth: { enabled: true } });
      await operator.settle();
      await expect(get(host, 'db-0-0', 'a')).rejects.toThrow('user name is empty');
      operator.change({ replicas: 3 });
      await operator.settle();
      const credentials = { name: 'root', password: generatedPassword };
      const { token } = await callEtcd(host.io, host.address('db-2-0'), 'auth/authenticate', credentials, 5000);
      const key = { key: base64('a') };
      const { count } = await callEtcd(host.io, host.address('db-2-0'), 'kv/range', key, 5000, String(token));
      expect(count).toBe('1');
      operator.change({ auth: { enabled: false } });
      await operator.settle();
      expect(await get(host, 'db-1-0', 'a')).toBe('1');
      expect(operator.history.join('\n')).not.toContain(generatedPassword);
    }),
  );

  it(
    'E11: that have used up their quota lose the history, give the space back one at a time, and take writes again',
    story(async (host) => {
      const operator = etcdOperator(host, {
        config: { quotaBackend: '16Mi' },
        maintenance: { defrag: { mode: 'Off' } },
      });
      await operator.settle();
      const leader = leaderOf(operator);
      const value = 'x'.repeat(1024 ** 2);
      const fill = async (): Promise<void> => {
        for (let i = 0; i < 40; i++) await put(host, 'db-0-0', 'filler', value);
      };
      await expect(fill()).rejects.toThrow(/database space exceeded/);
      operator.clear();
      await operator.settle(60_000);
      const others = ['db-0-0', 'db-1-0', 'db-2-0'].filter((pod) => pod !== leader);
      expect(operator.history.filter((line) => line.startsWith('give back'))).toEqual(
        [...others, leader].map((pod) => `give back the unused space of ${pod}`),
      );
      await put(host, 'db-0-0', 'a', '1');
      expect(await hashes(host, ['db-0-0', 'db-1-0', 'db-2-0'])).toHaveProperty('size', 1);
    }),
  );

  it(
    'E5: whose answers to a change are lost are asked who is a member, not asked to change again',
    story(async (host) => {
      let cut = 0;
      const io: EngineIO = {
        ...host.io,
        async exchange(request) {
          const answer = await host.io.exchange(request);
          if (!/member\/(add|remove|promote)$/.test(request.path) || answer.status !== 200) return answer;
          cut += 1;
          throw new Error('the connection was reset');
        },
      };
      const operator = etcdOperator(host, { replicas: 1 }, { io });
      const settled = async (): Promise<void> => {
        for (;;) {
          try {
            return await operator.settle(60_000);
          } catch (error) {
            if ((error as Error).message !== 'the connection was reset') throw error;
          }
        }
      };
      await settled();
      operator.change({ replicas: 3 });
      await settled();
      operator.change({ replicas: 1 });
      await settled();
      expect(cut).toBe(6);
      expect(Object.keys(roles(operator)).length).toBe(1);
    }),
  );
});
