import { describe, expect, test } from 'vitest';
import { Backup } from '../../src/constructs/backup.ts';
import { BackupSchedule } from '../../src/constructs/backup-schedule.ts';
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
});
