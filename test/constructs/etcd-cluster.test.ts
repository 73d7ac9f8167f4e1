import { describe, expect, test } from 'vitest';
import { EtcdCluster } from '../../src/constructs/clusters.ts';
import { manifestsOf } from './manifests.ts';

describe('an EtcdCluster in a chart', () => {
  test('is written as the user wrote it, and tells other constructs how to reach it', () => {
    const objects = manifestsOf((chart) => {
      const cluster = new EtcdCluster(chart, 'db', {
        metadata: { name: 'db', namespace: 'n' },
        spec: { replicas: 5, config: { snapshotCount: 5000 } },
      });
      expect([cluster.clientService, cluster.peerService]).toEqual(['db-client', 'db']);
    });
    expect(objects).toEqual([
      {
        apiVersion: 'clusterwright.dev/v1alpha1',
        kind: 'EtcdCluster',
        metadata: { name: 'db', namespace: 'n' },
        spec: { replicas: 5, config: { snapshotCount: 5000 } },
      },
    ]);
  });

  test('that breaks a rule fails the synth, with its path in the tree and in the object', () => {
    const synth = () =>
      manifestsOf(
        (chart) =>
          void new EtcdCluster(chart, 'db', {
            metadata: { name: 'db' },
            spec: { config: { electionTimeout: '100ms' } },
          }),
      );
    expect(synth).toThrow(/\[chart\/db\] spec\.config\.electionTimeout: config\.electionTimeout must be at least/);
  });
});
