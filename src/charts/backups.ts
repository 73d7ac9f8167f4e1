/** Backups of the first sample cluster, one now and one a night, to a volume beside it. Not a part of what `up` applies. */
import { Chart } from 'cdk8s';
import type { Construct } from 'constructs';
import { Backup } from '../constructs/backup.ts';
import { BackupSchedule } from '../constructs/backup-schedule.ts';
import { plainObject } from '../constructs/plain-object.ts';
import { engines } from '../engines/index.ts';
import { sampleMetadata } from './samples.ts';

const target = { claim: { name: 'backups' } };

export class BackupsChart extends Chart {
  constructor(scope: Construct, id: string) {
    super(scope, id, { disableResourceNameHashes: true });
    const [first] = engines;
    if (first === undefined) return;
    const { kind, sample } = first.definition;
    const cluster = { kind: kind.resource.kind, name: sample.name };
    plainObject(this, 'claim', {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: sampleMetadata(target.claim.name),
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    });
    new Backup(this, 'backup', { metadata: sampleMetadata('sample'), spec: { cluster, target } });
    new BackupSchedule(this, 'schedule', {
      metadata: sampleMetadata('sample-nightly'),
      spec: { cluster, schedule: '15 3 * * *', retention: { count: 7, age: '30d' }, target },
    });
  }
}
