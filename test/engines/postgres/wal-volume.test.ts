/** A volume of its own for the log of each member: what is made of it, and what becomes of it. */
import { describe, expect, it } from 'vitest';
import { situationOf } from '../../../src/engines/postgres/observe/situation.ts';
import { planPostgres } from '../../../src/engines/postgres/plan/plan.ts';
import { upgradeJob } from '../../../src/engines/postgres/resources/upgrade-job.ts';
import { postgresStatus } from '../../../src/engines/postgres/status.ts';
import { objectNamed } from '../../support/postgres-objects.ts';
import { postgresCluster, postgresWorld, type Story } from '../../support/postgres-situation.ts';
import { type PlanRow, planned } from '../../support/postgres-words.ts';

const walStorage = { size: '2Gi', storageClassName: 'fast' } as const;
const spec = { walStorage } as const;
const table = (rows: readonly PlanRow[]): void =>
  it.each(rows)('%s', (_, story, plan) => expect(planned(story)).toEqual(plan));

const grown = { spec: { walStorage: { ...walStorage, size: '4Gi' } }, before: spec } as const;
const growth = [0, 1, 2].map((i) => `try wal-db-${i}-0: spec.resources.requests.storage 4Gi`);
/** As `start.sh` ends where that volume is blank. */
const withoutLog =
  (number: number): NonNullable<Story['children']> =>
  (objects) =>
    objects.map((object) =>
      object.kind === 'Pod' && object.metadata.name === `db-${number}-0`
        ? {
            ...object,
            status: {
              ...(object.status as object),
              containerStatuses: [
                {
                  name: 'postgres',
                  restartCount: 1,
                  state: { waiting: { reason: 'CrashLoopBackOff' } },
                  lastState: { terminated: { exitCode: 79 } },
                },
              ],
            },
          }
        : object,
    );

describe('volumes of the log', () => {
  table([
    ['are left alone where the cluster is whole', { spec }, ['settled']],
    [
      'grow, and what follows from their size',
      grown,
      [
        ...growth,
        'configure postgresql.parameters.max_wal_size=1024MB postgresql.parameters.max_slot_wal_keep_size=819MB',
        'wait Updating',
      ],
    ],
    [
      'grow though no member runs, since they may be full',
      { ...grown, primary: 'nobody', members: { all: 'silent' }, pods: { all: 'crashing' } },
      [...growth, 'wait NoPrimary'],
    ],
    ['grow though data is foreign', { ...grown, claims: { 1: 'foreign' } }, [...growth, 'blocked ForeignData']],
    [
      'do not follow the size of the others',
      { spec: { ...spec, storage: { size: '20Gi' } }, before: spec },
      [...[0, 1, 2].map((i) => `try data-db-${i}-0: spec.resources.requests.storage 20Gi`), 'wait ExpandingVolumes'],
    ],
    [
      'are retired with the data of a member that has left',
      {
        spec: { ...spec, instances: 2 },
        numbers: [0, 1],
        children: (objects) => [
          ...objects,
          ...postgresWorld({ spec, numbers: [0, 1, 2] }).children.claims.filter(({ metadata }) =>
            metadata.name.endsWith('-2-0'),
          ),
        ],
      },
      ['data-db-2-0: retired true', 'wal-db-2-0: retired true', 'settled'],
    ],
    [
      'are deleted with the data of a member that has left, where that is the policy',
      {
        spec: { ...spec, instances: 2, deletionPolicy: 'Delete' },
        numbers: [0, 1],
        children: (objects) => [
          ...objects,
          ...postgresWorld({ spec, numbers: [0, 1, 2] }).children.claims.filter(({ metadata }) =>
            metadata.name.endsWith('-2-0'),
          ),
        ],
      },
      ['delete PersistentVolumeClaim data-db-2-0', 'delete PersistentVolumeClaim wal-db-2-0', 'settled'],
    ],
    [
      'that are blank have their members replaced, whose data is kept',
      { spec, members: { 2: 'silent' }, pods: { 2: 'crashing' }, children: withoutLog(2) },
      expect.arrayContaining([
        'data-db-2-0: retired true',
        'wal-db-2-0: retired true',
        'create StatefulSet db-3',
        'delete StatefulSet db-2',
        'wait Replacing',
      ]) as never,
    ],
    [
      'that go with the pod keep the primary that stands alone from restarting',
      { spec: { ...spec, instances: 1 }, walClaims: { 0: 'going' }, pods: { 0: 'outdated' } },
      ['blocked VolumesGoing'],
    ],
    [
      'that are gone already keep it from restarting as well',
      { spec: { ...spec, instances: 1 }, walClaims: { 0: 'none' }, pods: { 0: 'outdated' } },
      ['blocked VolumesGoing'],
    ],
    [
      'whose field is not in the resource that was made again are not left out',
      {
        before: spec,
        spec: {},
        children: (objects) => objects.filter(({ kind }) => kind !== 'StatefulSet' && kind !== 'Pod'),
        members: { all: 'gone' },
        primary: 'nobody',
      },
      ['blocked WalStorageMissing'],
    ],
    [
      'of members that have left need no field',
      {
        children: (objects) => [
          ...objects,
          ...postgresWorld({
            spec,
            numbers: [0, 1, 2, 7],
            claims: { 7: 'retired' },
            walClaims: { 7: 'retired' },
          }).children.claims.filter(({ metadata }) => metadata.name.endsWith('-7-0')),
        ],
      },
      ['settled'],
    ],
  ]);

  it('keep the number of a member that has left from being given again', () => {
    const { cluster, children, observed } = postgresWorld({
      spec: { ...spec, instances: 2 },
      numbers: [0, 1],
      children: (objects) => [
        ...objects,
        ...postgresWorld({ spec, walClaims: { 2: 'retired' } }).children.claims.filter(
          ({ metadata }) => metadata.name === 'wal-db-2-0',
        ),
      ],
    });
    expect([...situationOf(cluster, children, observed).taken]).toEqual([0, 1, 2]);
  });

  it('are told in the status, and that they are being expanded', () => {
    const { cluster, children, observed } = postgresWorld({
      ...grown,
      children: (objects) =>
        objects.map((object) =>
          object.metadata.name === 'wal-db-1-0'
            ? { ...object, spec: { resources: { requests: { storage: '4Gi' } } } }
            : object,
        ),
    });
    const situation = situationOf(cluster, children, observed);
    const { walStorage: told, conditions } = postgresStatus(
      situation,
      planPostgres(situation, () => undefined),
    );
    expect(told).toEqual({ capacity: '2Gi', minimumSize: '2Gi' });
    expect(conditions.find(({ type }) => type === 'VolumesTooSmall')?.message).toMatch(
      /^walStorage.size is 4Gi, and wal-db-0-0 has 2Gi, /,
    );
  });
});

interface Set {
  readonly template: { readonly spec: { readonly containers: readonly [Readonly<Record<string, unknown>>] } };
  readonly volumeClaimTemplates: readonly { readonly metadata: object; readonly spec: object }[];
}

describe('a member with a volume for its log', () => {
  const set = objectNamed('StatefulSet', 'db-1', spec).spec as unknown as Set;

  it('has two claims', () => {
    expect(set.volumeClaimTemplates.map((template) => [template.metadata, template.spec])).toMatchInlineSnapshot(`
      [
        [
          {
            "labels": {
              "app.kubernetes.io/component": "member",
              "app.kubernetes.io/instance": "db",
              "app.kubernetes.io/managed-by": "clusterwright",
              "app.kubernetes.io/name": "postgres",
              "clusterwright.dev/member": "db-1",
            },
            "name": "data",
          },
          {
            "accessModes": [
              "ReadWriteOnce",
            ],
            "resources": {
              "requests": {
                "storage": "1Gi",
              },
            },
          },
        ],
        [
          {
            "labels": {
              "app.kubernetes.io/component": "member",
              "app.kubernetes.io/instance": "db",
              "app.kubernetes.io/managed-by": "clusterwright",
              "app.kubernetes.io/name": "postgres",
              "clusterwright.dev/member": "db-1",
            },
            "name": "wal",
          },
          {
            "accessModes": [
              "ReadWriteOnce",
            ],
            "resources": {
              "requests": {
                "storage": "2Gi",
              },
            },
            "storageClassName": "fast",
          },
        ],
      ]
    `);
  });

  it('differs in nothing else but the mount and where the log is', () => {
    const usual = (objectNamed('StatefulSet', 'db-1').spec as unknown as Set).template.spec.containers[0];
    const own = set.template.spec.containers[0];
    const added = (field: string) =>
      (own[field] as object[]).filter((each) => !JSON.stringify(usual[field]).includes(JSON.stringify(each)));
    expect([added('volumeMounts'), added('env')]).toMatchInlineSnapshot(`
      [
        [
          {
            "mountPath": "/var/lib/postgresql-wal",
            "name": "wal",
          },
        ],
        [
          {
            "name": "WAL_DIRECTORY",
            "value": "/var/lib/postgresql-wal/pg_wal",
          },
        ],
      ]
    `);
    expect(Object.keys(own)).toEqual(Object.keys(usual));
  });

  it('copies its log there, as the first one makes it there', () => {
    const patroni = JSON.parse(objectNamed('ConfigMap', 'db-patroni', spec).data['patroni.yml'] ?? '');
    const first = JSON.parse(objectNamed('ConfigMap', 'db-members', spec).data['db-0.bootstrap.yml'] ?? '');
    expect([patroni.postgresql.basebackup, first.bootstrap.initdb.at(-1)]).toMatchInlineSnapshot(`
      [
        [
          {
            "checkpoint": "fast",
          },
          {
            "waldir": "/var/lib/postgresql-wal/pg_wal",
          },
        ],
        {
          "waldir": "/var/lib/postgresql-wal/pg_wal",
        },
      ]
    `);
    const usual = JSON.parse(objectNamed('ConfigMap', 'db-patroni').data['patroni.yml'] ?? '');
    expect(usual.postgresql.basebackup).toEqual([{ checkpoint: 'fast' }]);
  });

  it.each(['upgrade', 'undo', 'checkpoint'] as const)('is met with both volumes by the Job that is to %s', (mode) => {
    const cluster = postgresCluster(spec);
    const job = upgradeJob(cluster, 'postgres:17', { from: '15', to: '17' }, { mode, index: 1 }, 'x');
    const text = JSON.stringify(job.spec);
    expect(text).toContain('{"name":"wal","persistentVolumeClaim":{"claimName":"wal-db-1-0"}}');
    expect(text).toContain('{"name":"WAL_DIRECTORY","value":"/var/lib/postgresql-wal/pg_wal"}');
  });

  it('is rehearsed on one volume', () => {
    const cluster = postgresCluster(spec);
    const job = upgradeJob(cluster, 'postgres:17', { from: '15', to: '17' }, { mode: 'rehearse' }, 'x');
    expect(JSON.stringify(job.spec)).not.toContain('wal');
  });
});
