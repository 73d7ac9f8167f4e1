/** What Patroni remembers goes with the data: a new cluster of the name would take it for its own, and wait for a database that is gone. */
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/api/object.ts';
import { postgres } from '../../../src/engines/postgres/index.ts';
import { defineEngine } from '../../../src/jobs/handlers.ts';
import { planFinalization } from '../../../src/jobs/last-backup.ts';
import { deletionFinalizer } from '../../../src/plan/deletion.ts';
import { childrenOf } from '../../../src/resources/children.ts';
import { managedByLabel } from '../../../src/resources/metadata.ts';
import { now, postgresWorld } from '../../support/postgres-situation.ts';

/** Nobody runs any more. */
function deleted(
  deletionPolicy: 'Retain' | 'Delete',
  change: (object: KubeObject) => KubeObject = (object) => object,
): string[] {
  const metadata = { deletionTimestamp: new Date(now).toISOString(), finalizers: [deletionFinalizer] };
  const { cluster, children } = postgresWorld({ spec: { deletionPolicy }, metadata });
  const left = children.objects.filter(({ kind }) => kind !== 'StatefulSet' && kind !== 'Pod').map(change);
  const { plan } = planFinalization(defineEngine(postgres).handler('agent:1'), cluster, childrenOf(left), [], now);
  return plan.steps.map((step) => (step.type === 'delete' ? `delete ${step.ref.name}` : step.type));
}

const volumes = [0, 1, 2].map((i) => `delete data-db-${i}-0`);

describe('the ConfigMaps of Patroni', () => {
  it('are deleted with the volumes', () => {
    const state = ['config', 'leader', 'failover', 'sync'].map((name) => `delete db-${name}`);
    expect(deleted('Delete')).toEqual([...volumes, ...state]);
  });

  it('are kept with the volumes', () => {
    expect(deleted('Retain')).toEqual(['patch']);
  });

  it('stay where somebody else has made them', () => {
    const relabelled = (object: KubeObject): KubeObject =>
      object.metadata.name === 'db-config'
        ? { ...object, metadata: { ...object.metadata, labels: { ...object.metadata.labels, [managedByLabel]: 'x' } } }
        : object;
    expect(deleted('Delete', relabelled)).not.toContain('delete db-config');
  });
});
