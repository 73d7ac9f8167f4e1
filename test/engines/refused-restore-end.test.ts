/**
 * The end of a cluster that was to begin with a backup, and was refused since an earlier cluster of the name had left volumes:
 * they were never its own, and the advice was to make it anew without the backup to go on with them.
 */
import { describe, expect, it } from 'vitest';
import type { Cluster, CommonSpec } from '../../src/api/cluster.ts';
import type { KubeObject } from '../../src/api/object.ts';
import { restoredAnnotation } from '../../src/engine/backup-support.ts';
import { planFinalization } from '../../src/jobs/last-backup.ts';
import { deletionFinalizer } from '../../src/plan/deletion.ts';
import { childrenOf } from '../../src/resources/children.ts';
import { memberLabel } from '../../src/resources/metadata.ts';
import { describeStep } from '../../src/runtime/executor.ts';
import { deletionSpec } from '../../src/runtime/partial-spec.ts';
import { engineOf, resourceOf, target } from '../support/backup-story.ts';

const restore = { target, id: '20261121T030000Z-0123abcd', cluster: { name: 'old' } };
const own = 'apps/RedisCluster/uid-of-old/20261121T030000Z-0123abcd';
const other = 'apps/RedisCluster/uid-of-old/20261120T030000Z-0123abcd';

const bootstrap = { restore };

function deleted(kind: string, spec: object, status: object = {}): Cluster<CommonSpec> {
  const cluster = resourceOf(kind, 'db', { backup: { target }, ...spec }, status);
  const metadata = {
    ...cluster.metadata,
    deletionTimestamp: '2026-11-21T03:00:00Z',
    finalizers: [deletionFinalizer],
  };
  return { ...cluster, metadata } as Cluster<CommonSpec>;
}

function claim(name: string, from?: string, owner?: string): KubeObject {
  const metadata = {
    name,
    namespace: 'apps',
    uid: `uid-of-${name}`,
    labels: /-\d+-0$/.test(name) ? { [memberLabel]: name.slice('data-'.length, -'-0'.length) } : {},
    ...(from === undefined ? {} : { annotations: { [restoredAnnotation]: from } }),
    ...(owner === undefined
      ? {}
      : { ownerReferences: [{ apiVersion: 'x', kind: 'K', name: 'db', uid: owner, controller: true }] }),
  };
  return { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata };
}
const secret: KubeObject = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'db-auth', uid: 'uid-of-db-auth' } };

describe.each([
  ['RedisCluster', 'data-db-0', 'data-db-1'],
  ['EtcdCluster', 'data-db-0-0', 'data-db-1-0'],
  ['PostgresCluster', 'data-db-0-0', 'data-db-1-0'],
] as const)('a %s that is deleted', (kind, first, second) => {
  const engine = engineOf(kind);
  const stepsOf = (cluster: Cluster<CommonSpec>, ...objects: readonly KubeObject[]) => {
    const { plan, isWaitingForBackup } = planFinalization(engine, cluster, childrenOf(objects), [secret], 0);
    return [isWaitingForBackup, ...plan.steps.map(describeStep), plan.outcome.state];
  };
  const letGo = [false, `patch ${kind} db`, 'settled'];
  const goes = (...names: readonly string[]) => [
    false,
    ...names.map((name) => expect.stringContaining(`delete PersistentVolumeClaim ${name}`)),
    expect.stringContaining('delete Secret db-auth'),
    'wait',
  ];

  it('does not wait for the volume of a restore that failed, whose pod has it mounted as long as there is its Job', () => {
    const cluster = deleted(kind, { deletionPolicy: 'Delete', bootstrap });
    const of = (uid: string) => [{ apiVersion: 'x', kind, name: 'db', uid, controller: true }];
    const job = (uid: string): KubeObject => ({
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: 'db-restore', namespace: 'apps', uid: 'uid-of-job', ownerReferences: of(uid) },
    });
    const filling = claim(first, undefined, 'uid-of-db');
    const [isWaiting, ...steps] = goes(first);
    expect(stepsOf(cluster, filling, job('uid-of-db'))).toEqual([
      isWaiting,
      'delete Job db-restore: the cluster is deleted',
      ...steps,
    ]);
    expect(stepsOf(cluster, filling, job('uid-of-another'))).toEqual(goes(first));
  });

  it.each(['Delete', 'Snapshot'])(
    'leaves the volumes and the Secrets that it was refused for, under %s',
    (deletionPolicy) => {
      const cluster = deleted(kind, { bootstrap, deletionPolicy });
      for (const kept of [
        [claim(first), claim(second)],
        [claim(second)],
        [claim(first, other), claim(second)],
        // It had begun when they came back.
        [claim(first, undefined, 'uid-of-db'), claim(second)],
      ]) {
        expect(stepsOf(cluster, ...kept)).toEqual(letGo);
      }
    },
  );

  it('leaves them where its spec is not valid any more', () => {
    const cluster = deleted(kind, { bootstrap, deletionPolicy: 'Delete' });
    const broken = { ...cluster, spec: { ...cluster.spec, version: 7 } };
    expect(stepsOf(deletionSpec(engine.kind, broken) ?? cluster, claim(first), claim(second))).toEqual(letGo);
  });

  it('takes along what it was filled with, and what it has used since', () => {
    const cluster = deleted(kind, { bootstrap, deletionPolicy: 'Delete' });
    expect(stepsOf(cluster, claim(first, own), claim(second))).toEqual(goes(first, second));
    expect(stepsOf(cluster, claim(first, undefined, 'uid-of-db'))).toEqual(goes(first));
    const formed = deleted(kind, { bootstrap, deletionPolicy: 'Delete' }, { initialized: true });
    expect(stepsOf(formed, claim(first), claim(second))).toEqual(goes(first, second));
  });

  it('takes along the volumes of an earlier one where it was to go on with them', () => {
    const cluster = deleted(kind, { deletionPolicy: 'Delete' });
    expect(stepsOf(cluster, claim(first), claim(second))).toEqual(goes(first, second));
  });
});

it('an EtcdCluster that is parked has not been refused yet, and leaves the volumes all the same', () => {
  const cluster = deleted('EtcdCluster', { bootstrap, deletionPolicy: 'Delete', replicas: 0 });
  const { plan } = planFinalization(engineOf('EtcdCluster'), cluster, childrenOf([claim('data-db-0-0')]), [], 0);
  expect(plan.steps.map(describeStep)).toEqual(['patch EtcdCluster db']);
});
