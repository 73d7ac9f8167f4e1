/** Whether volumes can grow, as `plan` says it before the spec is changed. */
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { validateCluster } from '../../src/api/validate.ts';
import { expansionOffline, forecastExpansion } from '../../src/cli/expansion.ts';
import { plan } from '../../src/cli/plan.ts';
import { render } from '../../src/cli/render.ts';
import { postgresKind } from '../../src/engines/postgres/kind/schema.ts';
import { redisKind } from '../../src/engines/redis/kind/schema.ts';
import { growthSteps } from '../../src/plan/volume-expansion.ts';
import { apiServer } from './api-server.ts';
import { world } from './world.ts';

const refusal =
  'the API server refuses to expand data-cache-0, and the cluster is Blocked (VolumesTooSmall) until storage.size is set back to 2Gi';

const storageClass = (allowVolumeExpansion: boolean): KubeObject =>
  ({
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name: 'fixed' },
    allowVolumeExpansion,
  }) as KubeObject;

function manifest(size: string, more: object = {}): KubeObject {
  return {
    apiVersion: 'clusterwright.dev/v1alpha1',
    kind: 'RedisCluster',
    metadata: { name: 'cache', namespace: 'team' },
    spec: { storage: { size, ...more } },
  };
}

const fixed = { storageClassName: 'fixed' };

/** The cluster as the API server has it, with its objects and one volume of 2Gi. */
async function stored(): Promise<KubeObject[]> {
  const verdict = validateCluster(redisKind, manifest('2Gi', fixed));
  if (!verdict.ok) throw new Error('the manifest is valid');
  const { cluster } = verdict;
  const cli = world({ files: { f: JSON.stringify(cluster) } });
  await render({ file: 'f', output: 'json' }, cli);
  const { items } = JSON.parse(cli.printed.out) as { items: KubeObject[] };
  const labels = items.find(({ kind }) => kind === 'StatefulSet')?.metadata.labels ?? {};
  const claim: KubeObject = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'data-cache-0', namespace: 'team', uid: 'claim-0', labels },
    spec: { ...fixed, resources: { requests: { storage: '2Gi' } } },
    status: { phase: 'Bound', capacity: { storage: '2Gi' } },
  };
  const secrets = items.map((item) => (item.kind === 'Secret' ? { ...item, data: { password: 'eA==' } } : item));
  return [{ ...cluster, metadata: { ...cluster.metadata, uid: 'the-uid', generation: 1 } }, ...secrets, claim];
}

describe('plan says beforehand what becomes of volumes that are to grow', () => {
  it.each<
    readonly [story: string, found: KubeObject | undefined, forbidden: RegExp | undefined, said: string | undefined]
  >([
    ['can', storageClass(true), undefined, undefined],
    ['cannot', storageClass(false), undefined, `StorageClass fixed does not allow volume expansion: ${refusal}`],
    ['is gone', undefined, undefined, `StorageClass fixed does not exist: ${refusal}`],
    [
      'may not be read',
      storageClass(false),
      /storageclasses/,
      'whether StorageClass fixed allows volume expansion is not known: you may not read it',
    ],
  ])('where their StorageClass %s', async (_, found, forbidden, said) => {
    const api = apiServer({ objects: [...(await stored()), ...(found === undefined ? [] : [found])], forbidden });
    const cli = world({ files: { f: JSON.stringify(manifest('10Gi', fixed)) }, api });
    expect(await plan({ subject: 'f' }, cli)).toBe(2);
    const { out } = cli.printed;
    expect(out).toContain('spec.resources.requests.storage: 2Gi -> 10Gi');
    expect(
      out
        .split('\n')
        .find((line) => line.includes('StorageClass '))
        ?.trim(),
    ).toBe(said);
    expect(api.writes).toEqual([]);
  });

  it('and without a cluster what it takes, where it is given what was before', async () => {
    const files = { f: JSON.stringify(manifest('10Gi')), before: JSON.stringify(manifest('2Gi')) };
    const cli = world({ files });
    await plan({ subject: 'f', offline: true, from: 'before' }, cli);
    expect(cli.printed.out).toContain(
      'volumes grow from 2Gi to 10Gi only where the StorageClass of the volumes has allowVolumeExpansion: true',
    );
  });

  it('of the log of a PostgreSQL, too, by the field that they follow', async () => {
    const claims = ['data-db-0-0', 'wal-db-0-0'].map((name, i) => ({
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name, namespace: 'team', uid: name },
      spec: { ...fixed, resources: { requests: { storage: `${8 - 6 * i}Gi` } } },
      status: { phase: 'Bound', capacity: { storage: `${8 - 6 * i}Gi` } },
    }));
    const [step] = growthSteps('4Gi', claims.slice(1));
    const client = {
      get: (ref: { readonly name: string }) => Promise.resolve(storageClass(ref.name !== 'fixed') as never),
    };
    expect(await forecastExpansion(step === undefined ? [] : [step], { claims }, client)).toEqual([
      'StorageClass fixed does not allow volume expansion: the API server refuses to expand wal-db-0-0, and the cluster is Blocked (VolumesTooSmall) until walStorage.size is set back to 2Gi',
    ]);
  });

  it('of the log without a cluster, too', () => {
    const of = (size: string) => ({
      apiVersion: 'clusterwright.dev/v1alpha1',
      kind: postgresKind.resource.kind,
      metadata: { name: 'db', namespace: 'team' },
      spec: { storage: { size: '8Gi' }, walStorage: { size, storageClassName: 'fast' } },
    });
    expect(expansionOffline(of('2Gi'), of('4Gi') as never)).toEqual([
      'volumes grow from 2Gi to 4Gi only where StorageClass fast has allowVolumeExpansion: true',
    ]);
  });
});
