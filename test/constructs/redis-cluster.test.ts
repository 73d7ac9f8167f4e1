import { describe, expect, test } from 'vitest';
import type { ClusterProps } from '../../src/constructs/cluster-construct.ts';
import { RedisCluster } from '../../src/constructs/clusters.ts';
import type { RedisSpecInput } from '../../src/engines/redis/kind/schema.ts';
import { manifestsOf } from './manifests.ts';

describe('a RedisCluster in a chart', () => {
  test('is written as the user wrote it, without defaults', () => {
    const spec: RedisSpecInput = { replicas: 5, config: { maxmemory: '100mb' } };
    const objects = manifestsOf(
      (chart) => void new RedisCluster(chart, 'db', { metadata: { name: 'db', namespace: 'n' }, spec }),
    );
    expect(objects).toEqual([
      {
        apiVersion: 'clusterwright.dev/v1alpha1',
        kind: 'RedisCluster',
        metadata: { name: 'db', namespace: 'n' },
        spec: { replicas: 5, config: { maxmemory: '100mb' } },
      },
    ]);
  });

  test('tells other constructs how to reach it', () => {
    manifestsOf((chart) => {
      const plain = new RedisCluster(chart, 'a', { metadata: { name: 'a' } });
      expect([plain.primaryService, plain.replicasService, plain.sentinelService]).toEqual([
        'a-primary',
        'a-replicas',
        'a-sentinel',
      ]);
      expect(plain.password).toEqual({ secretName: 'a-auth', key: 'password' });
      const own = new RedisCluster(chart, 'b', {
        metadata: { name: 'b' },
        spec: { auth: { secretRef: { name: 's', key: 'k' } } },
      });
      expect(own.password).toEqual({ secretName: 's', key: 'k' });
    });
  });

  test('that breaks a rule fails the synth, with its path in the tree and in the object', () => {
    const synth = () =>
      manifestsOf(
        (chart) =>
          void new RedisCluster(chart, 'db', { metadata: { name: 'db' }, spec: { sentinel: { replicas: 5 } } }),
      );
    expect(synth).toThrow(/\[chart\/db\] spec\.sentinel\.quorum: sentinel\.quorum must be more than half/);
  });

  test('without a name fails at once, with its path in the tree', () => {
    const props = { spec: { replicas: 3 } } as unknown as ClusterProps<RedisSpecInput>;
    expect(() => manifestsOf((chart) => void new RedisCluster(chart, 'db', props))).toThrow(
      '[chart/db] metadata.name: is required in a RedisCluster',
    );
  });
});
