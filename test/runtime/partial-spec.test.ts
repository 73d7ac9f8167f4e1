/** What is read of a spec that is not valid. */
import { expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { etcdBackup } from '../../src/engines/etcd/backup/support.ts';
import { type EtcdSpec, etcdKind } from '../../src/engines/etcd/kind/schema.ts';
import type { RedisSource } from '../../src/engines/redis/backup/schemas.ts';
import { redisBackup } from '../../src/engines/redis/backup/support.ts';
import { redisKind } from '../../src/engines/redis/kind/schema.ts';
import { deletionSpec, parsePartial } from '../../src/runtime/partial-spec.ts';

const tls = { client: { selfManaged: {} } };
const target = { claim: { name: 'backups' } };
const etcd = (spec: object): KubeObject => ({
  apiVersion: 'clusterwright.dev/v1alpha1',
  kind: 'EtcdCluster',
  metadata: { name: 'db', namespace: 'apps' },
  spec: { replicas: 2, ...spec },
});
const willOf = (spec: object): EtcdSpec | undefined => deletionSpec(etcdKind, etcd(spec))?.spec as EtcdSpec | undefined;

it.each<readonly [story: string, spec: object, fields: readonly string[], isLegible: boolean]>([
  ['what is not valid elsewhere', { tls }, ['tls'], true],
  ['what is not valid itself', { tls: { client: {} } }, ['tls'], false],
  ['beside one that is not valid', { tls, paused: 'yes' }, ['tls', 'paused'], false],
  ['what nobody has written', {}, ['tls'], true],
])('a field is read alone: %s', (_, spec, fields, isLegible) => {
  expect(parsePartial(etcdKind, etcd(spec), fields) !== undefined).toBe(isLegible);
});

it('a last backup is taken over TLS, as every other one', () => {
  const spec = { deletionPolicy: 'Snapshot', backup: { target }, tls };
  const will = deletionSpec(etcdKind, etcd(spec));
  expect(will?.spec).toMatchObject({ deletionPolicy: 'Snapshot' });
  const { source, secrets } = etcdBackup.source(will as Parameters<typeof etcdBackup.source>[0]);
  expect([source, secrets.map(({ name }) => name)]).toMatchObject([
    { tls: { servername: 'db-client.apps.svc' } },
    ['db-root', 'db-client-user'],
  ]);
});

it('a last backup asks every node of a Redis that there is, whatever the spec would have', () => {
  const names = ['db-0', 'db-1', 'db-2', 'db-3', 'db-4', 'db-sentinel-3'];
  const members = names.map((name) => ({ name, role: 'unknown', ready: true }));
  const object = { ...etcd({ replicas: 'few' }), kind: 'RedisCluster', status: { members } };
  const { source } = redisBackup.source(deletionSpec(redisKind, object) as Parameters<typeof redisBackup.source>[0]);
  const { members: asked, sentinels } = source as RedisSource;
  const hosts = (members: RedisSource['members'] = []) => members.map(({ host }) => host.replace(/\..*/, ''));
  expect(hosts(asked)).toEqual(names.slice(0, 5));
  expect(sentinels?.name).toBe('db');
  expect(hosts(sentinels?.members)).toEqual([0, 1, 2, 3].map((i) => `db-sentinel-${i}`));
});

it('a backup counts up to no number that somebody has given a pod: the operator ran out of memory', () => {
  const members = ['db-0', 'db-63', 'db-64', 'db-5000'].map((name) => ({ name, role: 'unknown', ready: true }));
  const object = { ...etcd({}), kind: 'RedisCluster', status: { members } };
  const { source } = redisBackup.source(deletionSpec(redisKind, object) as Parameters<typeof redisBackup.source>[0]);
  expect((source as RedisSource).members?.length).toBe(64);
});

it('a last backup asks one node of a Redis that stands alone, and no sentinels', () => {
  const object = { ...etcd({ mode: 'Standalone', replicas: 1, paused: 'yes' }), kind: 'RedisCluster' };
  const { source } = redisBackup.source(deletionSpec(redisKind, object) as Parameters<typeof redisBackup.source>[0]);
  expect(source).not.toHaveProperty('sentinels');
  expect(source.members).toHaveLength(1);
});

it('the data stays where it cannot be read how its last backup is taken', () => {
  expect(willOf({ deletionPolicy: 'Delete' })?.deletionPolicy).toBe('Delete');
  expect(willOf({ deletionPolicy: 'Delete', tls: { client: {} } })?.deletionPolicy).toBe('Retain');
});
