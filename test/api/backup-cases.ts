/** Backups and BackupSchedules that are accepted and refused. */
import type { Case, Json } from './case.ts';
import { place, placeCases } from './target-cases.ts';

const cluster: Json = { kind: 'RedisCluster', name: 'db' };

function clusterCases(more: Json): readonly Case[] {
  const row = (story: string, value: unknown, refused?: string): Case => ({
    story,
    spec: { ...more, cluster: value },
    ...(refused === undefined ? {} : { refused }),
  });
  return [
    row('of a Redis', cluster),
    row('of an etcd', { kind: 'EtcdCluster', name: 'a'.repeat(40) }),
    row('of a kind that an engine of others may have', { kind: 'K'.repeat(63), name: 'db' }),
    row('of a kind that is too long', { kind: 'K'.repeat(64), name: 'db' }, 'spec.cluster.kind'),
    row('of what is no kind', { kind: 'rediscluster', name: 'db' }, 'spec.cluster.kind'),
    row('of no kind', { name: 'db' }, 'spec.cluster.kind'),
    row('of no name', { kind: 'RedisCluster' }, 'spec.cluster.name'),
    row('of a bad name', { kind: 'RedisCluster', name: 'a.b' }, 'spec.cluster.name'),
    row('of a long name', { kind: 'RedisCluster', name: 'a'.repeat(41) }, 'spec.cluster.name'),
    row('of a cluster of another namespace', { ...cluster, namespace: 'b' }, 'spec.cluster.namespace'),
  ];
}

const names: readonly Case[] = [
  { story: 'the longest name', metadata: { name: 'a'.repeat(40) }, spec: { cluster, ...place } },
  { story: 'a name that is too long', metadata: { name: 'a'.repeat(41) }, spec: {}, refused: 'metadata.name' },
  { story: 'a bad name', metadata: { name: '1a' }, spec: {}, refused: 'metadata.name' },
  { story: 'no spec', spec: undefined, refused: 'spec' },
  { story: 'no cluster', spec: place, refused: 'spec.cluster' },
  { story: 'no target', spec: { cluster }, refused: 'spec.target' },
];

export const backupCases: readonly Case[] = [
  ...names,
  ...clusterCases(place),
  ...placeCases('spec', (where) => ({ cluster, ...where })),
  { story: 'the same', old: { cluster, ...place }, spec: { cluster, ...place } },
  {
    story: 'another cluster',
    old: { cluster, ...place },
    spec: { cluster: { ...cluster, name: 'other' }, ...place },
    refused: 'spec',
  },
  {
    story: 'a key afterwards',
    old: { cluster, ...place },
    spec: { cluster, ...place, encryption: { secret: 'a' } },
    refused: 'spec',
  },
];

const schedule: Json = { cluster, schedule: '0 3 * * *', ...place };

const scheduled = (story: string, fields: Json, refused?: string): Case => ({
  story,
  spec: { ...schedule, ...fields },
  ...(refused === undefined ? {} : { refused: `spec.${refused}` }),
});

export const scheduleCases: readonly Case[] = [
  ...names.map((row) => (row.refused === undefined ? { ...row, spec: schedule } : row)),
  { story: 'no schedule', spec: { cluster, ...place }, refused: 'spec.schedule' },
  ...clusterCases({ schedule: '0 3 * * *', ...place }),
  ...placeCases('spec', (where) => ({ cluster, schedule: '0 3 * * *', ...where })),
  ...['*/15 * * * *', '0 3 * * 1-5', '59 23 31 12 6', '0,30 0-23/2 1 1-12 *', '00 03 * * 0', '5/10 * * * *'].map(
    (text) => scheduled(`at ${text}`, { schedule: text }),
  ),
  ...[
    '@daily',
    '0 3 * *',
    '0 3 * * * *',
    '60 3 * * *',
    '0 24 * * *',
    '0 3 0 * *',
    '0 3 32 * *',
    '0 3 * 13 *',
    '0 3 * * 7',
    '0 3 * * MON',
    '0  3 * * *',
    '*/0 * * * *',
    '30-5 3 * * *',
    '0 3 * * *\n',
  ].map((text) => scheduled(`at ${JSON.stringify(text)}`, { schedule: text }, 'schedule')),
  scheduled(
    'at too many times',
    { schedule: `${Array.from({ length: 40 }, (_, n) => n).join(',')} 3 * * *` },
    'schedule',
  ),
  ...['Europe/Berlin', 'UTC', 'Etc/GMT+5', 'America/Argentina/Buenos_Aires'].map((timeZone) =>
    scheduled(`in ${timeZone}`, { timeZone }),
  ),
  ...['Local', '', '../etc', 'europe/Berlin', 'Europe/'].map((timeZone) =>
    scheduled(`in ${JSON.stringify(timeZone)}`, { timeZone }, 'timeZone'),
  ),
  scheduled('in a zone of a long name', { timeZone: `A${'a'.repeat(60)}` }, 'timeZone'),
  ...['0s', '30s', '60m'].map((jitter) => scheduled(`within ${jitter}`, { jitter })),
  ...['61m', '1h', '-1s', '00000060m0'].map((jitter) => scheduled(`within ${jitter}`, { jitter }, 'jitter')),
  scheduled('within a time that is too long a text', { jitter: '0000000001m' }, 'jitter'),
  ...['10s', '1440m'].map((startingDeadline) => scheduled(`late by ${startingDeadline}`, { startingDeadline })),
  ...['9s', '1441m', '5', '0000000010m'].map((startingDeadline) =>
    scheduled(`late by ${startingDeadline}`, { startingDeadline }, 'startingDeadline'),
  ),
  scheduled('suspended', { suspend: true }),
  scheduled('suspended by a word', { suspend: 'yes' }, 'suspend'),
  ...[1, 1000].map((count) => scheduled(`${count} kept`, { retention: { count } })),
  ...[0, 1001, '7'].map((count) =>
    scheduled(`${JSON.stringify(count)} kept`, { retention: { count } }, 'retention.count'),
  ),
  ...['36h', '30d', '9999d'].map((age) => scheduled(`kept for ${age}`, { retention: { age } })),
  ...['0d', '1w', '30', '10000d'].map((age) => scheduled(`kept for ${age}`, { retention: { age } }, 'retention.age')),
  { story: 'at another time', old: schedule, spec: { ...schedule, schedule: '0 4 * * *' } },
  {
    story: 'of another cluster from now on',
    old: schedule,
    spec: { ...schedule, cluster: { ...cluster, name: 'other' } },
    refused: 'spec.cluster',
  },
];
