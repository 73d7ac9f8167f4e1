/**
 * Members whose data has come apart, which etcd itself finds: in both minor versions, whoever it is. Their databases are
 * changed while nobody runs, since a member that starts beside one that runs compares itself with it first.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { callEtcd } from '../../../src/engines/etcd/client/gateway.ts';
import { corruptAnnotation, retiredAnnotation } from '../../../src/engines/etcd/names.ts';
import { etcdBinaries } from '../../support/etcd-binary.ts';
import { type EtcdHost, generatedPassword } from '../../support/etcd-host.ts';
import { type EtcdOperator, etcdOperator } from '../../support/etcd-operator.ts';
import { asked, get, hashes, leaderOf, put, replaceIn, roles, storiesFrom } from '../../support/etcd-story.ts';
import { until } from '../../support/until.ts';

const story = storiesFrom(200);
const pods = ['db-0-0', 'db-1-0', 'db-2-0'] as const;
const written = 'x'.repeat(3000);

/** 3.5 names nobody, ever. */
const isNaming = (version: string): boolean => !version.startsWith('3.5');

const database = (host: EtcdHost, pod: string): string => join(host.volume(pod), 'data/member/snap/db');
const has = (host: EtcdHost, pod: string, text: string): boolean =>
  readFileSync(database(host, pod), 'latin1').includes(text);

/** etcd compares after a compaction, once a minute unless it is told otherwise. */
const oftenChecked = (version: string): Record<string, string> => ({
  [isNaming(version) ? 'ETCD_COMPACT_HASH_CHECK_TIME' : 'ETCD_EXPERIMENTAL_COMPACT_HASH_CHECK_TIME']: '1s',
});

/** What nobody finds at its start: as if the data had come apart later. */
const unchecked = (version: string): Record<string, string> =>
  isNaming(version)
    ? { ETCD_FEATURE_GATES: 'InitialCorruptCheck=false,CompactHashCheck=true' }
    : { ETCD_EXPERIMENTAL_INITIAL_CORRUPT_CHECK: 'false' };

async function made(host: EtcdHost, version: string, spec: object = {}): Promise<EtcdOperator> {
  host.settings(oftenChecked(version));
  const operator = etcdOperator(host, { version, ...spec });
  await operator.settle();
  for (let i = 0; i < 8; i++) await put(host, 'db-0-0', `k${i}`, written);
  // A member writes its database a moment after its log.
  await vi.waitFor(() => expect(pods.filter((pod) => !has(host, pod, 'x'.repeat(2000)))).toEqual([]), {
    timeout: 30_000,
  });
  return operator;
}

/** Nobody runs meanwhile, and nobody compares when it starts again. */
async function changeData(host: EtcdHost, version: string, harm: Readonly<Record<string, string>>): Promise<void> {
  host.hold(...pods);
  for (const pod of pods) host.kill(pod);
  await until('all have ended', async () => {
    const answers = await Promise.allSettled(pods.map((pod) => statusOf(host, pod)));
    expect(answers.every(({ status }) => status === 'rejected')).toBe(true);
  });
  for (const [pod, letter] of Object.entries(harm)) {
    replaceIn(database(host, pod), 'x'.repeat(2000), `${'x'.repeat(1999)}${letter}`);
  }
  host.settings({ ...oftenChecked(version), ...unchecked(version) });
  host.hold();
  await until('all are led', async () => {
    await host.turn();
    for (const pod of pods) expect(await statusOf(host, pod)).toHaveProperty('leader');
  });
  host.settings(oftenChecked(version));
}

const statusOf = (host: EtcdHost, pod: string): Promise<object> =>
  callEtcd(host.io, host.address(pod), 'maintenance/status', {});

/** Has etcd compare, and waits until it has said what it has found. */
async function compacted(host: EtcdHost): Promise<readonly { readonly memberID?: string }[]> {
  await callEtcd(host.io, host.address('db-0-0'), 'kv/compaction', { revision: '5', physical: true }, 5000);
  return await until('an alarm', async () => {
    const { alarms } = await callEtcd(host.io, host.address('db-0-0'), 'maintenance/alarm', { action: 'GET' }, 5000);
    expect(alarms).toMatchObject([{ alarm: 'CORRUPT' }]);
    return alarms as readonly { readonly memberID?: string }[];
  });
}

const alarmsOf = async (host: EtcdHost, pod: string): Promise<unknown> =>
  (await callEtcd(host.io, host.address(pod), 'maintenance/alarm', { action: 'GET' }, 5000)).alarms;

/** Whether anybody restarts or leaves, whatever time goes by. */
async function standsStill(operator: EtcdOperator, passes = 5): Promise<void> {
  operator.clear();
  for (let pass = 0; pass < passes; pass++) {
    const { outcome } = await operator.pass();
    expect(outcome).toMatchObject({ state: 'blocked', reason: 'DataCorrupt' });
  }
  expect(operator.history).toEqual([]);
  expect(operator.cluster.status?.phase).toBe('Blocked');
  expect(operator.cluster.status?.conditions).toContainEqual(
    expect.objectContaining({ type: 'Stalled', status: 'True', reason: 'DataCorrupt' }),
  );
}

describe.skipIf(etcdBinaries.size === 0).concurrent.each([...etcdBinaries.keys()])(
  'E10: data of etcd %s that has come apart',
  { timeout: 600_000 },
  (version) => {
    it.runIf(isNaming(version)).each(['follower', 'leader'])('is replaced where etcd names its member, a %s', (role) =>
      story(async (host) => {
        const operator = await made(host, version, { deletionPolicy: 'Delete' });
        const leader = leaderOf(operator);
        const victim = pods.find((pod) => (pod === leader) === (role === 'leader')) ?? '';
        await changeData(host, version, { [victim]: 'y' });
        if (role === 'leader') await lead(host, victim);
        await compacted(host);
        expect(await put(host, 'db-0-0', 'a', '1').catch(String)).toContain('corrupt cluster');
        operator.clear();
        await operator.until('EndingAlarm');
        await operator.settle();
        const others = pods.filter((pod) => pod !== victim);
        expect(asked(operator)).toEqual([
          `remove ${victim} from the members: its data is corrupt, and a majority of the others hold the same`,
          `delete StatefulSet ${victim.slice(0, -2)}: its member has been removed`,
          'add db-3 to the members, without a vote',
          'give db-3-0 a vote, if it has caught up',
        ]);
        expect(operator.history.filter((line) => line.startsWith('end the'))).toEqual([
          'end the CORRUPT alarm of a member that has left: the others hold the same data',
        ]);
        await put(host, 'db-3-0', 'a', '1');
        expect(await get(host, 'db-3-0', 'k7')).toBe(written);
        expect(await hashes(host, [...others, 'db-3-0'])).toHaveProperty('size', 1);
        const kept = host.object('PersistentVolumeClaim', `data-${victim}`)?.metadata.annotations;
        expect([kept?.[retiredAnnotation], kept?.[corruptAnnotation]].map((mark) => mark !== undefined)).toEqual([
          true,
          true,
        ]);
      })(),
    );

    it(
      'is called that by an alarm that names a follower, where etcd asks who is asking',
      story(async (host) => {
        const operator = etcdOperator(host, { version, auth: { enabled: true } });
        await operator.settle();
        const leader = leaderOf(operator);
        const victim = operator.cluster.status?.members?.find(({ name }) => name !== leader);
        const user = { name: 'root', password: generatedPassword };
        const { token } = await callEtcd(host.io, host.address(leader), 'auth/authenticate', user, 5000);
        const memberID = BigInt(`0x${victim?.id}`).toString();
        const alarm = { action: 'ACTIVATE', alarm: 'CORRUPT', memberID };
        await callEtcd(host.io, host.address(leader), 'maintenance/alarm', alarm, 5000, { token: String(token) });
        operator.clear();
        await operator.until('EndingAlarm');
        await operator.settle();
        expect(asked(operator).map((line) => line.replace(/:.*/, ''))).toEqual([
          `remove ${victim?.name} from the members`,
          `delete StatefulSet ${victim?.name.slice(0, -2)}`,
          'add db-3 to the members, without a vote',
          'give db-3-0 a vote, if it has caught up',
        ]);
      }),
    );

    it(
      'is left to a person where etcd names nobody, however many agree',
      story(async (host) => {
        const operator = await made(host, version);
        const harm = isNaming(version) ? { 'db-1-0': 'y', 'db-2-0': 'z' } : { 'db-1-0': 'y' };
        await changeData(host, version, harm);
        const [alarm] = await compacted(host);
        expect(alarm).toEqual({ alarm: 'CORRUPT' });
        await operator.pass();
        await standsStill(operator);
        expect(await alarmsOf(host, 'db-0-0')).toEqual([{ alarm: 'CORRUPT' }]);
        expect(operator.cluster.status?.conditions?.find(({ type }) => type === 'Ready')?.message).toContain(
          isNaming(version)
            ? '(one state in db-0-0; another state in db-1-0; another state in db-2-0)'
            : '(one state in db-0-0, db-2-0; another state in db-1-0)',
        );
        // What the page says that a person does.
        const { members } = operator.cluster.status ?? {};
        for (const pod of Object.keys(harm).reverse()) {
          const id = BigInt(`0x${members?.find(({ name }) => name === pod)?.id}`).toString();
          // etcd lets nobody go before all have been connected for five seconds.
          await until('it is removed', () =>
            callEtcd(host.io, host.address('db-0-0'), 'cluster/member/remove', { ID: id }, 5000),
          );
        }
        await operator.until('DataCorrupt');
        // Those that are left may have no leader for a moment, and compare nothing.
        await until('it is told of those that are left', async () => {
          await operator.pass();
          expect(operator.cluster.status?.conditions?.find(({ type }) => type === 'Ready')?.message).toContain(
            isNaming(version) ? '(one state in db-0-0)' : '(one state in db-0-0, db-2-0)',
          );
        });
        const end = { action: 'DEACTIVATE', alarm: 'CORRUPT' };
        await callEtcd(host.io, host.address('db-0-0'), 'maintenance/alarm', end, 5000);
        await operator.settle();
        const grown = Object.keys(roles(operator));
        expect([grown.length, grown[0]]).toEqual([3, 'db-0-0']);
        expect(await hashes(host, grown)).toHaveProperty('size', 1);
        await put(host, 'db-0-0', 'a', '1');
      }),
    );

    it(
      'is that of the others, where a good member does not start beside a leader whose data is wrong',
      story(async (host) => {
        // 3.5 knows its peers at its start only from a snapshot of its log.
        const operator = await made(host, version, { config: { snapshotCount: 100 } });
        for (let i = 0; i < 120; i++) await put(host, 'db-0-0', 'n', String(i));
        const leader = leaderOf(operator);
        await changeData(host, version, { [leader]: 'y' });
        await lead(host, leader);
        const good = pods.find((pod) => pod !== leader) ?? '';
        const other = pods.find((pod) => pod !== leader && pod !== good) ?? '';
        host.kill(good);
        await operator.until('DataCorrupt');
        expect(host.log(good)).toContain('found data inconsistency with peers');
        await standsStill(operator);
        expect(operator.cluster.status?.conditions?.find(({ type }) => type === 'Ready')?.message).toContain(
          `${good} found data that differs from its own, and does not start`,
        );
        // What the page says that a person does: the one that is wrong restarts, and has the others against it.
        host.hold(leader);
        host.kill(leader);
        host.kill(good);
        await until('the good ones are led', async () => {
          await host.turn();
          for (const pod of [good, other]) expect(await statusOf(host, pod)).toHaveProperty('leader');
        });
        host.hold();
        operator.clear();
        await operator.until('Replacing');
        await operator.settle();
        expect(asked(operator)[0]).toBe(`remove ${leader} from the members: its data differs`);
        const grown = Object.keys(roles(operator));
        expect([grown.length, grown.includes(good), grown.includes(other)]).toEqual([3, true, true]);
        expect(await hashes(host, grown)).toHaveProperty('size', 1);
        expect(await get(host, 'db-3-0', 'k7')).toBe(written);
      }),
    );
  },
);

/** Whoever leads hands over to a member. */
async function lead(host: EtcdHost, pod: string): Promise<void> {
  await until(`${pod} leads`, async () => {
    const all = await Promise.all(pods.map(async (each) => ({ each, ...(await statusOf(host, each)) })));
    const ids = new Map(all.map((status) => [status.each, (status as never as Told).header.member_id]));
    const leader = all.find((status) => (status as never as Told).leader === ids.get(status.each as never));
    if (leader?.each === pod) return;
    const target = { targetID: ids.get(pod as never) };
    await callEtcd(host.io, host.address(leader?.each ?? ''), 'maintenance/transfer-leadership', target, 5000);
    throw new Error('it has just been asked');
  });
}

interface Told {
  readonly header: { readonly member_id: string };
  readonly leader: string;
}
