import { describe, expect, test } from 'vitest';
import { Backup, type BackupProps } from '../../src/constructs/backup.ts';
import { BackupSchedule } from '../../src/constructs/backup-schedule.ts';
import { etcd } from '../../src/engines/etcd/index.ts';
import { defineEngine } from '../../src/jobs/handlers.ts';
import { manifestsOf } from './manifests.ts';

const cluster = { kind: 'RedisCluster', name: 'db' } as const;
const target = { claim: { name: 'archive' } };

describe('backups in a chart', () => {
  test('are written as the user wrote them', () => {
    const objects = manifestsOf((chart) => {
      new Backup(chart, 'b', { metadata: { name: 'before-upgrade' }, spec: { cluster, target } });
      new BackupSchedule(chart, 's', {
        metadata: { name: 'nightly' },
        spec: { cluster, target, schedule: '0 3 * * *' },
      });
    });
    const apiVersion = 'clusterwright.dev/v1alpha1';
    expect(objects).toEqual([
      { apiVersion, kind: 'Backup', metadata: { name: 'before-upgrade' }, spec: { cluster, target } },
      {
        apiVersion,
        kind: 'BackupSchedule',
        metadata: { name: 'nightly' },
        spec: { cluster, target, schedule: '0 3 * * *' },
      },
    ]);
  });

  test('that break a rule fail the synth, with their path in the tree and in the object', () => {
    const metadata = { name: 'nightly' };
    expect(() =>
      manifestsOf((chart) => void new Backup(chart, 'b', { metadata, spec: { cluster, target: {} } })),
    ).toThrow('[chart/b] spec.target: must have either s3 or claim');
    expect(() =>
      manifestsOf(
        (chart) => void new BackupSchedule(chart, 's', { metadata, spec: { cluster, target, schedule: '@daily' } }),
      ),
    ).toThrow(/\[chart\/s\] spec\.schedule: must have five parts/);
  });

  describe.each([
    ['Backup', (props: BackupProps) => manifestsOf((chart) => void new Backup(chart, 'b', props))],
    [
      'BackupSchedule',
      ({ spec, ...props }: BackupProps) =>
        manifestsOf(
          (chart) => void new BackupSchedule(chart, 's', { ...props, spec: { ...spec, schedule: '0 3 * * *' } }),
        ),
    ],
  ])('%s', (_, made) => {
    const of = (kind: string, more: Partial<BackupProps> = {}) =>
      made({ metadata: { name: 'nightly' }, spec: { cluster: { kind, name: 'db' }, target }, ...more });

    test('of a misspelled kind fails the synth, which names the kinds', () => {
      expect(() => of('RedisClusters')).toThrow(
        'spec.cluster.kind: RedisClusters is none of the kinds that are backed up, RedisCluster, EtcdCluster, PostgresCluster; a kind of another package needs its engine in the property engines',
      );
    });

    test('is about the engines that are given', () => {
      const engines = [defineEngine(etcd)];
      expect(() => of('RedisCluster', { engines })).toThrow('kinds that are backed up, EtcdCluster');
      expect(of('EtcdCluster', { engines })).toHaveLength(1);
    });

    test('without a cluster is refused by its schema', () => {
      const spec = { target } as unknown as BackupProps['spec'];
      expect(() => of('', { spec })).toThrow('spec.cluster: is required');
    });
  });
});
