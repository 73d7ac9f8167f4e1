/** The whole engine against real members: what happens to them. Every story ends settled, with the data that was written. */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import type { EngineContext } from '../../../src/engine/engine-context.ts';
import { callEtcd } from '../../../src/engines/etcd/client/gateway.ts';
import { recoverAnnotation } from '../../../src/engines/etcd/names.ts';
import { etcdBinaries } from '../../support/etcd-binary.ts';
import { etcdOperator } from '../../support/etcd-operator.ts';
import {
  asked,
  base64,
  claims,
  damage,
  get,
  hashes,
  leaderOf,
  put,
  replaceIn,
  roles,
  storiesFrom,
} from '../../support/etcd-story.ts';
import { rejection } from '../../support/rejection.ts';
import { until } from '../../support/until.ts';

const story = storiesFrom(90);

const textIn = (volume: string): string => readFileSync(join(volume, 'data/member/snap/db'), 'latin1');

describe.skipIf(etcdBinaries.size === 0).concurrent('real members', { timeout: 600_000 }, () => {
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
      let later = 0;
      const operator = etcdOperator(host, {}, { io: { ...host.io, now: () => host.io.now() + later } });
      await operator.settle();
      await put(host, 'db-1-0', 'a', '1');
      host.loseVolume('db-0-0');
      host.loseVolume('db-2-0');
      await operator.until('QuorumLost');
      const message = (): string =>
        operator.cluster.status?.conditions?.find(({ type }) => type === 'Ready')?.message ?? '';
      operator.annotate(recoverAnnotation, 'db-1-0');
      await operator.until('RecoveryRefused');
      // It answers no client any more once it has started again: its metrics do.
      host.kill('db-1-0');
      await host.turn();
      later = 61_000;
      await until('it is offered', async () => {
        await operator.pass();
        expect(message()).toMatch(/db-1-0@uid-db\/1\/\d+/);
      });
      const [offered = ''] = /db-1-0@uid-db\/1\/\d+/.exec(message()) ?? [];
      operator.clear();
      operator.annotate(recoverAnnotation, offered);
      await operator.until('Recovering');
      await operator.settle();
      expect(Object.keys(roles(operator))).toEqual(['db-1-0', 'db-3-0', 'db-4-0']);
      expect(await get(host, 'db-4-0', 'a')).toBe('1');
      expect(await hashes(host, ['db-1-0', 'db-3-0', 'db-4-0'])).toHaveProperty('size', 1);
      const before = operator.history.length;
      host.kill('db-1-0');
      await operator.until('MembersNotReady', 'QuorumLost');
      await operator.settle();
      expect([operator.history.length, Object.keys(roles(operator)).length]).toEqual([before, 3]);
    }),
  );

  it.each([...etcdBinaries.keys()])(
    'with %s, whose peer URL somebody has changed in the list of etcd, keep their process and their volume',
    (version) =>
      story(async (host) => {
        const operator = etcdOperator(host, { version, replicas: 1, deletionPolicy: 'Delete' });
        await operator.settle();
        await put(host, 'db-0-0', 'a', '1');
        operator.clear();
        const { members = [] } = await callEtcd(host.io, host.address('db-0-0'), 'cluster/member/list', {});
        const [{ ID, peerURLs }] = members as [{ ID: string; peerURLs: string[] }];
        const update = (urls: readonly string[]): Promise<unknown> =>
          callEtcd(host.io, host.address('db-0-0'), 'cluster/member/update', { ID, peerURLs: urls }, 5000);
        await update(['https://somewhere.else:2380']);
        for (let pass = 0; pass < 10; pass++) await operator.pass();
        expect([asked(operator), claims(host)]).toEqual([[], { 'data-db-0-0': 'held' }]);
        await operator.until('MembersNotReady');
        expect(operator.cluster.status?.conditions?.find(({ type }) => type === 'Ready')?.message).toMatch(
          /^db-0-0 has another peer URL in etcd's list than http:/,
        );
        host.kill('db-0-0');
        await host.turn();
        await until('it serves', async () => {
          await operator.pass();
          expect(await get(host, 'db-0-0', 'a')).toBe('1');
          await update(peerURLs);
        });
        await operator.settle();
        expect([asked(operator), await get(host, 'db-0-0', 'a')]).toEqual([[], '1']);
      })(),
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
    'reach the same end when the operator dies after every single step',
    story(async (host) => {
      const operator = etcdOperator(host, { replicas: 1 }, { diesEarly: true });
      await operator.settle();
      await put(host, 'db-0-0', 'a', '1');
      operator.change({ replicas: 3 });
      await operator.settle();
      host.loseVolume('db-1-0');
      await operator.until('Replacing');
      await operator.settle();
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
      'its data differs',
      (volume) => replaceIn(join(volume, 'data/member/snap/db'), 'x'.repeat(2000), `${'x'.repeat(1999)}y`),
    ],
  ])('E10: whose volume is %s are replaced', (_, reason, harm) =>
    story(async (host) => {
      const operator = etcdOperator(host);
      await operator.settle();
      for (let i = 0; i < 8; i++) await put(host, 'db-0-0', `k${i}`, 'x'.repeat(3000));
      // A member writes its database a moment after its log.
      await vi.waitFor(() => expect(textIn(host.volume('db-1-0'))).toContain('x'.repeat(2000)), {
        timeout: 30_000,
      });
      operator.clear();
      host.hold('db-1-0');
      host.kill('db-1-0');
      await operator.until('MembersNotReady');
      harm(host.volume('db-1-0'));
      host.hold();
      await operator.until('Replacing');
      await operator.settle();
      expect(asked(operator)[0]).toBe(`remove db-1-0 from the members: ${reason}`);
      expect(Object.keys(roles(operator))).toEqual(['db-0-0', 'db-2-0', 'db-3-0']);
      expect(await get(host, 'db-3-0', 'k7')).toBe('x'.repeat(3000));
      expect(await hashes(host, ['db-0-0', 'db-2-0', 'db-3-0'])).toHaveProperty('size', 1);
    })(),
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
      // Many small values: dropping their history takes each member a while, and each one another while.
      const value = base64('x'.repeat(400));
      const success = Array.from({ length: 128 }, (_, key) => ({
        requestPut: { key: base64(`filler-${key}`), value },
      }));
      const fill = async (): Promise<void> => {
        for (;;) await callEtcd(host.io, host.address('db-0-0'), 'kv/txn', { success }, 5000);
      };
      await until('it is full', async () => {
        expect((await rejection(fill())).message).toContain('database space exceeded');
      });
      operator.clear();
      await operator.settle();
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
      const io: EngineContext = {
        ...host.io,
        async exchange(request) {
          const answer = await host.io.exchange(request);
          if (!/member\/(add|remove|promote)$/.test(request.path) || answer.status !== 200) return answer;
          cut += 1;
          throw new Error('the connection was reset');
        },
      };
      const operator = etcdOperator(host, { replicas: 1 }, { io });
      await operator.settle();
      operator.change({ replicas: 3 });
      await operator.settle();
      operator.change({ replicas: 1 });
      await operator.settle();
      expect(cut).toBe(6);
      expect(Object.keys(roles(operator)).length).toBe(1);
    }),
  );
});
