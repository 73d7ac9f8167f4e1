/** Which Secrets are read of a cluster that has just been created. */
import { expect, it } from 'vitest';
import type { Cluster } from '../../src/api/cluster.ts';
import type { EngineContext } from '../../src/engine/engine-context.ts';
import { firstLook } from '../../src/engine/first-look.ts';

type Owner = Parameters<EngineContext['secret']>[1];

const own = { of: 'db' };
const condition = {
  type: 'Ready',
  status: 'False',
  reason: 'NameConflict',
  message: '',
  observedGeneration: 1,
  lastTransitionTime: '2030-01-01T00:00:00Z',
} as const;
const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'db-0-0', namespace: 'apps' } };

it.each<[string, Cluster['status'], (typeof pod)[], 'db-ca' | 'given', Owner, boolean]>([
  ['its own are absent while nothing has been made', undefined, [], 'db-ca', own, false],
  ['its own are read once something has been made', undefined, [pod], 'db-ca', own, true],
  ['its own are read once a condition says how making them went', { conditions: [condition] }, [], 'db-ca', own, true],
  ['one that the spec names is read', undefined, [], 'given', undefined, true],
  ['one that was made for whichever cluster is read', undefined, [], 'given', 'ours', true],
])('%s', async (_, status, objects, name, whose, isRead) => {
  const cluster = {
    apiVersion: 'clusterwright.dev/v1alpha1',
    kind: 'PostgresCluster',
    metadata: { name: 'db', namespace: 'apps' },
    spec: {},
    ...(status === undefined ? {} : { status }),
  } as Cluster;
  const read: string[] = [];
  const io = {
    secret: (secret: string) => {
      read.push(secret);
      return Promise.resolve({});
    },
  } as unknown as EngineContext;
  const values = await firstLook(cluster, { objects }, io).secret(name, whose);
  expect([read, values]).toEqual(isRead ? [[name], {}] : [[], undefined]);
});
