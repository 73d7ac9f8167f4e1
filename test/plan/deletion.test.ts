import { describe, expect, it } from 'vitest';
import type { Cluster, CommonSpec } from '../../src/api/cluster.ts';
import type { KubeObject, ObjectMeta } from '../../src/api/object.ts';
import { persistentVolumeClaims } from '../../src/api/resource.ts';
import { redisKind } from '../../src/engines/redis/kind/schema.ts';
import { deletionFinalizer, finalizerSteps, forecastDeletion, planDeletion } from '../../src/plan/deletion.ts';
import type { ObjectStep, Plan } from '../../src/plan/plan.ts';
import { childrenOf } from '../../src/resources/children.ts';

const { resource } = redisKind;
const now = '2030-01-01T00:00:00Z';

function cluster(deletionPolicy: 'Retain' | 'Delete' | 'Snapshot', more: Partial<ObjectMeta>): Cluster<CommonSpec> {
  const metadata = { name: 'db', namespace: 'apps', uid: 'uid-db', resourceVersion: '7', ...more };
  return { apiVersion: 'clusterwright.dev/v1alpha1', kind: 'RedisCluster', metadata, spec: { deletionPolicy } };
}

const held = [deletionFinalizer, 'example.com/backup'];
const going = { deletionTimestamp: now, finalizers: held } as const;

const object = (apiVersion: string, kind: string, name: string, more: Partial<ObjectMeta> = {}): KubeObject => ({
  apiVersion,
  kind,
  metadata: { name, namespace: 'apps', uid: `uid-${name}`, ...more },
});
const controlledBy = (kind: string, name: string, uid = `uid-${name}`): Partial<ObjectMeta> => ({
  ownerReferences: [{ apiVersion: 'x/v1', kind, name, uid, controller: true }],
});
const set = object('apps/v1', 'StatefulSet', 'db', controlledBy('RedisCluster', 'db'));
const pod = object('v1', 'Pod', 'db-0', controlledBy('StatefulSet', 'db'));
const claim = object('v1', 'PersistentVolumeClaim', 'data-db-0');
const claimOfMember = (name: string, member: string): KubeObject =>
  object('v1', 'PersistentVolumeClaim', name, { labels: { 'clusterwright.dev/member': member } });
const copies = [
  'data-db-0-before-upgrade',
  'data-db-0-20261123',
  'data-db-20261123',
  'data-db-0-1',
  'data-db-0-0',
  'data-db-100',
  'data-db-',
].map((name) => object('v1', 'PersistentVolumeClaim', name));
const copiesOfMember = ['data-db-7-0-20261123', 'data-db-7-1', 'data-db-7', 'data-db-2-7-0', 'data-db-8-0'].map(
  (name) => claimOfMember(name, 'db-7'),
);
/** Somebody has made it after ours, with its labels, on a copy of a volume. */
const rescue = object('apps/v1', 'StatefulSet', 'db-rescue');
const rescuer = object('v1', 'Pod', 'db-rescue-0', controlledBy('StatefulSet', 'db-rescue'));
const earlier = object('apps/v1', 'StatefulSet', 'db', controlledBy('RedisCluster', 'db', 'uid-of-earlier'));
const secret = object('v1', 'Secret', 'db-auth');

function stepWords(step: ObjectStep): string {
  switch (step.type) {
    case 'patch':
      return `patch ${step.ref.name} ${step.ref.uid} ${JSON.stringify(step.patch)}`;
    case 'delete':
      return `delete ${step.ref.resource.kind} ${step.ref.name} ${step.ref.uid}`;
    default:
      return step.type;
  }
}

const words = ({ steps, outcome }: Plan): string[] => [
  ...steps.map((step) => (step.type === 'act' ? 'act' : stepWords(step))),
  outcome.state === 'settled' ? 'settled' : outcome.reason,
];

const letGo = 'patch db uid-db {"metadata":{"finalizers":["example.com/backup"],"resourceVersion":"7"}}';

describe('the end of a cluster', () => {
  type Row = readonly [
    story: string,
    cluster: Cluster<CommonSpec>,
    children: readonly KubeObject[],
    secrets: readonly KubeObject[],
    plan: readonly string[],
  ];
  it.each<Row>([
    [
      'Retain: nothing is ours to do',
      cluster('Retain', { deletionTimestamp: now }),
      [set, pod, claim],
      [secret],
      ['settled'],
    ],
    [
      'Delete became Retain at the last moment: only the finalizer goes',
      cluster('Retain', going),
      [set, pod, claim],
      [secret],
      [letGo, 'settled'],
    ],
    [
      'Delete: processes stop first',
      cluster('Delete', going),
      [set, pod, claim],
      [secret],
      ['delete StatefulSet db uid-db', 'Stopping'],
    ],
    [
      'Delete: nothing is asked twice',
      cluster('Delete', going),
      [{ ...set, metadata: { ...set.metadata, deletionTimestamp: now } }, pod, claim],
      [secret],
      ['Stopping'],
    ],
    [
      'Delete: no data goes while a pod may still write',
      cluster('Delete', going),
      [pod, claim],
      [secret],
      ['Stopping'],
    ],
    [
      'Delete: no data goes while a StatefulSet may still start a pod',
      cluster('Delete', going),
      [set, claim],
      [secret],
      ['delete StatefulSet db uid-db', 'Stopping'],
    ],
    [
      'Delete: Secrets are data, also where no volume was',
      cluster('Delete', going),
      [],
      [secret],
      ['delete Secret db-auth uid-db-auth', 'DeletingData'],
    ],
    [
      'Snapshot, its last backup being verified: as Delete',
      cluster('Snapshot', going),
      [claim],
      [],
      ['delete PersistentVolumeClaim data-db-0 uid-data-db-0', 'DeletingData'],
    ],
    [
      'Delete: a copy that somebody has made of a volume, with its labels, was never given to a pod',
      cluster('Delete', going),
      [claim, ...copies],
      [],
      ['delete PersistentVolumeClaim data-db-0 uid-data-db-0', 'DeletingData'],
    ],
    ['Delete: nor is such a copy waited for', cluster('Delete', going), copies, [], [letGo, 'settled']],
    [
      'Delete: a pod that somebody has made by scaling the StatefulSet was given one, too',
      cluster('Delete', going),
      [object('v1', 'PersistentVolumeClaim', 'data-db-12')],
      [],
      ['delete PersistentVolumeClaim data-db-12 uid-data-db-12', 'DeletingData'],
    ],
    [
      'Delete: the volume of a log goes with that of the data, and a copy of it does not',
      cluster('Delete', going),
      ['wal-db-0', 'wal-db-0-20261123', 'walk-db-0'].map((name) => object('v1', 'PersistentVolumeClaim', name)),
      [],
      ['delete PersistentVolumeClaim wal-db-0 uid-wal-db-0', 'DeletingData'],
    ],
    ['Delete: nor one of a member', cluster('Delete', going), copiesOfMember, [], [letGo, 'settled']],
    [
      'Delete: nor one of another cluster',
      cluster('Delete', going),
      [claimOfMember('data-x-0-0', 'x-0')],
      [],
      [letGo, 'settled'],
    ],
    [
      'Delete: a StatefulSet of somebody else is left to run, though it has our labels',
      cluster('Delete', going),
      [set, rescue, pod, rescuer, claim],
      [],
      ['delete StatefulSet db uid-db', 'Stopping'],
    ],
    [
      'Delete: nor is it waited for',
      cluster('Delete', going),
      [rescue, rescuer, claim],
      [],
      ['delete PersistentVolumeClaim data-db-0 uid-data-db-0', 'DeletingData'],
    ],
    [
      'Delete: that of an earlier cluster is for Kubernetes to collect',
      cluster('Delete', going),
      [earlier, claim],
      [],
      ['delete PersistentVolumeClaim data-db-0 uid-data-db-0', 'DeletingData'],
    ],
    [
      'Delete: a member of an EtcdCluster has a number of its own',
      cluster('Delete', going),
      [claimOfMember('data-db-7-0', 'db-7')],
      [],
      ['delete PersistentVolumeClaim data-db-7-0 uid-data-db-7-0', 'DeletingData'],
    ],
    [
      'G1: Delete: then data goes, each by its UID',
      cluster('Delete', going),
      [claim],
      [secret],
      ['delete PersistentVolumeClaim data-db-0 uid-data-db-0', 'delete Secret db-auth uid-db-auth', 'DeletingData'],
    ],
    [
      'Delete: a claim that somebody protects is waited for',
      cluster('Delete', going),
      [{ ...claim, metadata: { ...claim.metadata, deletionTimestamp: now } }],
      [],
      ['DeletingData'],
    ],
    ['G3: Delete: the finalizer goes last', cluster('Delete', going), [], [], [letGo, 'settled']],
    [
      'Delete, but the finalizer was never ours: the data stays',
      cluster('Delete', { deletionTimestamp: now, finalizers: ['example.com/backup'] }),
      [claim],
      [secret],
      ['settled'],
    ],
  ])('%s', (_, owner, children, secrets, plan) => {
    expect(words(planDeletion(owner, resource, childrenOf(children), secrets))).toEqual(plan);
  });
});

const { uid: _, ...unstoredMetadata } = cluster('Delete', {}).metadata;
const unstored = { ...cluster('Delete', {}), metadata: unstoredMetadata };

describe('the finalizer', () => {
  const others = ['example.com/backup'];
  it.each<readonly [story: string, cluster: Cluster<CommonSpec>, steps: readonly string[]]>([
    ['Retain needs none', cluster('Retain', {}), []],
    [
      'Delete puts it next to those of others',
      cluster('Delete', { finalizers: others }),
      [
        `patch db uid-db {"metadata":{"finalizers":["example.com/backup","${deletionFinalizer}"],"resourceVersion":"7"}}`,
      ],
    ],
    [
      'Snapshot puts it where none is',
      cluster('Snapshot', {}),
      [`patch db uid-db {"metadata":{"finalizers":["${deletionFinalizer}"],"resourceVersion":"7"}}`],
    ],
    ['what is not stored yet gets none', unstored, []],
    ['Delete has it', cluster('Delete', { finalizers: held }), []],
    ['Retain again takes it away', cluster('Retain', { finalizers: held }), [letGo]],
    ['none is put on what is being deleted', cluster('Delete', { deletionTimestamp: now, finalizers: others }), []],
  ])('%s', (_, owner, steps) => expect(finalizerSteps(owner, resource).map(stepWords)).toEqual(steps));

  it('is shown as it was and as it will be', () => {
    expect(finalizerSteps(cluster('Retain', { finalizers: held }), resource)).toMatchObject([
      { ref: { namespace: 'apps' }, changes: [{ path: 'metadata.finalizers', from: held, to: others }] },
    ]);
  });
});

describe('what a plan says of the data that goes later', () => {
  const leaving: ObjectStep = {
    type: 'delete',
    ref: { resource: persistentVolumeClaims, namespace: 'apps', name: 'data-db-0', uid: 'uid-data-db-0' },
    reason: 'x',
  };
  const patched: ObjectStep = { type: 'patch', ref: leaving.ref, patch: {}, changes: [] };
  type Row = readonly [
    story: string,
    cluster: Cluster<CommonSpec>,
    children: readonly KubeObject[],
    steps: readonly ObjectStep[],
    isWaitingForBackup: boolean,
    words: readonly string[],
  ];
  const both = 'PersistentVolumeClaim data-db-0, Secret db-auth';
  it.each<Row>([
    ['Retain: nothing', cluster('Retain', going), [claim], [], false, []],
    [
      'Delete: all of it',
      cluster('Delete', going),
      [claim],
      [],
      false,
      [`once no process is left, the data is deleted: ${both} (deletionPolicy is Delete)`],
    ],
    [
      'Snapshot: after the backup',
      cluster('Snapshot', going),
      [claim],
      [],
      true,
      [
        `once a last backup is verified and no process is left, the data is deleted: ${both} (deletionPolicy is Snapshot)`,
      ],
    ],
    [
      'not what this very plan deletes',
      cluster('Delete', going),
      [claim],
      [leaving],
      false,
      ['once no process is left, the data is deleted: Secret db-auth (deletionPolicy is Delete)'],
    ],
    [
      'what this plan only marks goes all the same',
      cluster('Delete', going),
      [claim],
      [patched],
      false,
      [`once no process is left, the data is deleted: ${both} (deletionPolicy is Delete)`],
    ],
    [
      'not what is going already',
      cluster('Delete', going),
      [{ ...claim, metadata: { ...claim.metadata, deletionTimestamp: now } }],
      [],
      false,
      ['once no process is left, the data is deleted: Secret db-auth (deletionPolicy is Delete)'],
    ],
    ['nothing where the finalizer was never ours', cluster('Delete', { finalizers: ['x/y'] }), [claim], [], false, []],
    ['nothing where there is no finalizer', cluster('Delete', {}), [claim], [], false, []],
  ])('%s', (_, owner, children, steps, isWaitingForBackup, expected) => {
    expect(forecastDeletion(owner, childrenOf(children), [secret], steps, isWaitingForBackup)).toEqual(expected);
  });

  it('nothing where nothing is left', () => {
    expect(forecastDeletion(cluster('Delete', going), childrenOf([]), [], [], false)).toEqual([]);
  });
});
