/** How many objects a resource makes, as docs/quotas.md says it, held against what the builders make. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { engineOf, resourceOf } from '../support/backup-story.ts';

const columns = ['Pod', 'PersistentVolumeClaim', 'StatefulSet', 'Service', 'ConfigMap', 'Secret'] as const;
type Counts = Readonly<Record<(typeof columns)[number], number>> & {
  readonly others: Readonly<Record<string, number>>;
};

const page = readFileSync('docs/quotas.md', 'utf8');
const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| `') || line.startsWith('| with'))
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .map(([, title = '', ...cells]) => ({ title: title.replaceAll('`', ''), cells }));

interface SetSpec {
  readonly replicas: number;
  readonly volumeClaimTemplates?: readonly unknown[];
}

function counted(kind: string, spec: object): Counts {
  const engine = engineOf(kind);
  const resource = resourceOf(kind, 'db', spec);
  const reference = engine.targetRef?.(resource);
  const referred = reference === undefined ? undefined : resourceOf(reference.kind, reference.name, {});
  const objects = engine.resources(resource, referred).map(({ object }) => object);
  const number = (wanted: string): number => objects.filter((object) => object.kind === wanted).length;
  const sets = objects.flatMap((object) => (object.kind === 'StatefulSet' ? [object.spec as SetSpec] : []));
  const total = (of: (set: SetSpec) => number): number => sets.reduce((sum, set) => sum + of(set), 0);
  const runs = number('Job') + number('CronJob');
  const rest = objects.map((object) => object.kind).filter((each) => !(columns as readonly string[]).includes(each));
  return {
    Pod: total(({ replicas }) => replicas) + runs,
    PersistentVolumeClaim: total(({ replicas, volumeClaimTemplates = [] }) => replicas * volumeClaimTemplates.length),
    StatefulSet: sets.length,
    Service: number('Service'),
    ConfigMap: number('ConfigMap'),
    // Of each Certificate, cert-manager writes a Secret.
    Secret: number('Secret') + number('Certificate'),
    others: Object.fromEntries([...new Set(rest)].map((each) => [each, number(each)])),
  };
}

/** `less` is the same without what the row is about. */
function added(kind: string, spec: object, less: object): Counts {
  const [whole, before] = [counted(kind, spec), counted(kind, less)];
  const differences = columns.map((column) => [column, whole[column] - before[column]]);
  const others = Object.entries(whole.others).map(([each, n]) => [each, n - (before.others[each] ?? 0)] as const);
  return { ...Object.fromEntries(differences), others: Object.fromEntries(others.filter(([, n]) => n > 0)) } as Counts;
}

/** `1 PodDisruptionBudget, 1 Role`: in any order; how many Jobs a CronJob keeps is its own. */
function othersIn(text: string): Readonly<Record<string, number>> {
  const found = text.split(', ').flatMap((each) => {
    const [, n, kind = ''] = /^(\d+) (\w+?)s?$/.exec(each) ?? [];
    return n === undefined ? [] : [[kind, Number(n)]];
  });
  return Object.fromEntries(found);
}

function evaluated(cell: string, fields: Readonly<Record<string, number>>): number {
  return cell
    .replaceAll('`', '')
    .split(' + ')
    .reduce((sum, term) => sum + (fields[term] ?? Number(term)), 0);
}

const target = { target: { claim: { name: 'backups' } } };
const redis = { replicas: 5, sentinel: { replicas: 7, quorum: 4 } };
const etcd = { replicas: 5 };
const postgres = { instances: 4, backup: target };
const pooled = { ...postgres, pooler: { instances: 3 } };
const issued = { certManager: { issuerRef: { name: 'ours' } } };
const own = { selfManaged: {} };
const reached = { type: 'NodePort' };

type Story = readonly [kind: string, spec: object, less?: object];
const stories: Readonly<Record<string, Story>> = {
  RedisCluster: ['RedisCluster', redis],
  'RedisCluster, mode Standalone': ['RedisCluster', { mode: 'Standalone', replicas: 1 }],
  'with tls.server.selfManaged': ['RedisCluster', { ...redis, tls: { server: own } }, redis],
  'with tls.server.certManager': ['RedisCluster', { ...redis, tls: { server: issued } }, redis],
  'with tls.server.secretRef': ['RedisCluster', { ...redis, tls: { server: { secretRef: { name: 'a' } } } }, redis],
  'with proxy': ['RedisCluster', { ...redis, proxy: { replicas: 4 } }, redis],
  EtcdCluster: ['EtcdCluster', etcd],
  'with tls.client.selfManaged': ['EtcdCluster', { ...etcd, tls: { client: own } }, etcd],
  'with tls.peer.selfManaged': ['EtcdCluster', { ...etcd, tls: { peer: own } }, etcd],
  'with tls.client.certManager': ['EtcdCluster', { ...etcd, tls: { client: issued } }, etcd],
  'with tls.peer.certManager': ['EtcdCluster', { ...etcd, tls: { peer: issued } }, etcd],
  PostgresCluster: ['PostgresCluster', postgres],
  'with walStorage': ['PostgresCluster', { ...postgres, walStorage: { size: '1Gi' } }, postgres],
  'with pooler': ['PostgresCluster', pooled, postgres],
  'with monitoring': ['PostgresCluster', { ...postgres, monitoring: {} }, postgres],
  'with backup.archive': ['PostgresCluster', { ...postgres, backup: { ...target, archive: {} } }, postgres],
  PostgresDatabase: ['PostgresDatabase', { cluster: { kind: 'PostgresCluster', name: 'a' }, name: 'a', owner: 'a' }],
  PostgresUser: ['PostgresUser', { cluster: { kind: 'PostgresCluster', name: 'a' }, name: 'a' }],
  Backup: ['Backup', { cluster: { kind: 'RedisCluster', name: 'a' }, ...target }],
  BackupSchedule: [
    'BackupSchedule',
    { cluster: { kind: 'RedisCluster', name: 'a' }, schedule: '0 3 * * *', ...target },
  ],
};

const fields: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  RedisCluster: { replicas: 5, 'sentinel.replicas': 7, 'proxy.replicas': 4 },
  EtcdCluster: { replicas: 5 },
  PostgresCluster: { instances: 4, 'pooler.instances': 3 },
};

it('has a row for each of these, and no other', () => {
  expect(rows.map(({ title }) => title)).toEqual(Object.keys(stories));
});

it.each(rows)('$title', ({ title, cells }) => {
  const [kind, spec, less] = stories[title] ?? ['', {}];
  const made = less === undefined ? counted(kind, spec) : added(kind, spec, less);
  const told = columns.map((column, i) => [column, evaluated(cells[i] ?? '', fields[kind] ?? {})]);
  expect({ ...Object.fromEntries(told), others: othersIn(cells[columns.length] ?? '') }).toEqual(made);
});

it.each([
  ['RedisCluster', 'primary'],
  ['RedisCluster', 'replicas'],
  ['EtcdCluster', 'clients'],
  ['PostgresCluster', 'primary'],
  ['PostgresCluster', 'replicas'],
])('a Service in access of a %s, such as %s, is one Service more', (kind, service) => {
  expect(page).toContain('Each Service in `access` of a cluster is one Service more.');
  expect(added(kind, { access: { [service]: reached } }, {})).toEqual({
    ...Object.fromEntries(columns.map((column) => [column, column === 'Service' ? 1 : 0])),
    others: {},
  });
});
