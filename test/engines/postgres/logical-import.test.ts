/** A cluster whose first database is a copy that a Job makes. */
import { describe, expect, it } from 'vitest';
import type { PostgresSpecInput } from '../../../src/engines/postgres/kind/schema.ts';
import { situationOf } from '../../../src/engines/postgres/observe/situation.ts';
import { planPostgres } from '../../../src/engines/postgres/plan/plan.ts';
import { dumpContainer, dumpJob } from '../../../src/engines/postgres/resources/dump-job.ts';
import { postgresCluster, postgresWorld, type Story } from '../../support/postgres-situation.ts';
import { type Ending, ended } from '../../support/postgres-upgrade.ts';
import { type PlanRow, planned } from '../../support/postgres-words.ts';

const spec = {
  bootstrap: {
    importFrom: {
      host: 'db.example.com',
      user: 'reader',
      password: { name: 'source' },
      tls: { ca: { name: 'source-ca' } },
      logical: { database: 'the shop' },
    },
  },
} as const satisfies PostgresSpecInput;
const own = 'clusterwright-import-uid-db-import';
const whole = { database: own, copied: '2 tables' };
const part = { database: own, copied: undefined };
const other = { database: 'clusterwright-import-0', copied: undefined };

const jobOf = (ending: Ending, version: '15' | '17' = '17') =>
  dumpJob(postgresCluster({ ...spec, version })).flatMap((object) =>
    object.kind === 'Job' ? ended(object, dumpContainer, ending) : [object],
  );
/** The members are whole, and the first database is not there. */
const story = (
  databases: readonly { readonly database: string; readonly copied: string | undefined }[],
  ending?: Ending,
  change: { readonly isFilled?: boolean; readonly owner?: string; readonly version?: '15' } = {},
): Story => ({
  spec,
  ...(change.owner === undefined ? { filled: false as const } : {}),
  children: (objects) => [...objects, ...(ending === undefined ? [] : jobOf(ending, change.version))],
  observed: {
    application: { state: 'seen', facts: { hasOwner: true, owner: change.owner }, isPasswordWrong: false },
    staging: { state: 'seen', databases, isFilled: change.isFilled === true },
  },
});
const unasked = { state: 'unknown', why: 'no answer within 1000 ms' } as const;
const said = (given: Story): string => {
  const { cluster, children, observed } = postgresWorld(given);
  const { outcome } = planPostgres(situationOf(cluster, children, observed), () => undefined);
  return outcome.state === 'settled' ? '' : outcome.message;
};
const table = (rows: readonly PlanRow[]): void =>
  it.each(rows)('%s', (_, given, plan) => expect(planned(given)).toEqual(plan));

describe('a cluster that copies a database', () => {
  table([
    [
      'makes a Job for a database of its own',
      story([]),
      ['create ConfigMap db-import', 'create Job db-import', 'wait Importing'],
    ],
    ['makes the database once the Job is there', story([], 'running'), [`create ${own}`, 'wait Importing']],
    [
      'waits where the primary cannot be asked',
      { ...story([]), observed: { application: unasked, staging: unasked } },
      ['wait MembersNotReady'],
    ],
    [
      'waits where clients have taken all connections of the primary',
      {
        ...story([]),
        observed: { application: unasked, staging: unasked },
        members: { 0: { server: { state: 'full' } } },
      },
      ['wait MembersNotReady'],
    ],
    [
      'waits where the primary cannot be asked while the Job is at work, also once the cluster was Degraded',
      {
        ...story([part], 'running'),
        observed: { application: unasked, staging: unasked },
        status: { initialized: true, phase: 'Degraded' },
      },
      ['wait MembersNotReady'],
    ],
    [
      'is left alone where the primary cannot be asked, long after the import',
      {
        ...story([], undefined, { isFilled: true, owner: 'shop' }),
        observed: { application: unasked, staging: unasked },
        status: { initialized: true, phase: 'Updating' },
      },
      ['settled'],
    ],
    ['waits for the Job', story([part], 'running'), ['wait Importing']],
    ['has a copy that is whole', story([whole], { says: '2 tables' }), [`publish ${own}`, 'wait Importing']],
    ['has a copy whose Job has lost its pod', story([whole], 'lost'), [`publish ${own}`, 'wait Importing']],
    ['has a copy whose Job has yet to end', story([whole], 'running'), [`publish ${own}`, 'wait Importing']],
    ['has lost a copy that was whole', story([], { says: '2 tables' }), ['delete Job db-import', 'wait Importing']],
    [
      'has a Job whose pod was deleted: everything is copied again',
      story([part], 'robbed'),
      ['delete Job db-import', 'wait Importing'],
    ],
    [
      'has a database of an attempt that is over',
      story([other]),
      ['create ConfigMap db-import', 'create Job db-import', `drop ${other.database}`, 'wait Importing'],
    ],
    [
      'takes no copy of another attempt, even where that is whole',
      story([{ ...other, copied: '2 tables' }, part], 'running'),
      [`drop ${other.database}`, 'wait Importing'],
    ],
    ['is refused', story([part], { fails: 3, says: 'later' }), ['blocked ImportRefused']],
    [
      'has failed a minute ago: everything is copied again',
      story([part], { fails: 1, says: 'gone' }),
      ['delete Job db-import', 'wait ImportFailing'],
    ],
    [
      'has a Job of another version',
      story([part], 'running', { version: '15' }),
      ['delete Job db-import', 'wait Importing'],
    ],
    [
      'has no password for the source',
      {
        ...story([part], 'running'),
        observed: {
          ...story([part]).observed,
          source: { state: 'unusable', why: 'Secret source has no key password' },
        },
      },
      ['blocked SecretMissing'],
    ],
    [
      'cannot ask the primary what is copied',
      { ...story([]), observed: { ...story([]).observed, staging: { state: 'unknown', why: 'no' } } },
      ['wait Importing'],
    ],
  ]);

  it('says what the script has said, and how to try again', () => {
    expect(said(story([part], { fails: 3, says: 'the source is PostgreSQL 18' }))).toContain(
      'the source is PostgreSQL 18. To try again, delete Job db-import',
    );
    expect(said(story([part], 'running'))).toContain('database the shop of db.example.com:5432 is copied');
  });

  it('fails, and waits a minute before everything is copied again', () => {
    const failed = story([part], { fails: 1, says: 'gone' });
    const recent: Story = {
      ...failed,
      children: (objects) =>
        (failed.children?.(objects) ?? []).map((object) =>
          object.kind === 'Job'
            ? ({
                ...object,
                status: {
                  conditions: [{ type: 'Failed', status: 'True', lastTransitionTime: '2030-06-01T11:59:30Z' }],
                },
              } as typeof object)
            : object,
        ),
    };
    expect(planned(recent)).toEqual(['wait ImportFailing']);
  });

  it('makes the owner, and not the database', () => {
    const given = story([]);
    const application = {
      state: 'seen',
      facts: { hasOwner: false, owner: undefined },
      isPasswordWrong: false,
    } as const;
    expect(planned({ ...given, observed: { ...given.observed, application } })).toContain(
      'make application, database is there',
    );
  });
});

interface WrittenJob {
  readonly spec: {
    readonly backoffLimit: number;
    readonly template: {
      readonly spec: {
        readonly automountServiceAccountToken: boolean;
        readonly volumes: readonly { readonly secret?: { readonly secretName: string } }[];
        readonly containers: readonly { readonly env: readonly { readonly name: string; readonly value?: string }[] }[];
      };
    };
  };
}

describe('the Job of a copy', () => {
  const { bootstrap } = spec;
  const { importFrom } = bootstrap;
  const logical = { database: '$(SECRET) $1' };
  const cluster = postgresCluster({ bootstrap: { importFrom: { ...importFrom, logical } } });
  const job = dumpJob(cluster).find(({ kind }) => kind === 'Job') as unknown as WrittenJob;
  const pod = job.spec.template.spec;

  it('has the Secrets of the source and of the owner, and no right at the API server', () => {
    expect(pod.volumes.flatMap(({ secret }) => secret?.secretName ?? [])).toEqual([
      'source',
      'source-ca',
      'db-app',
      'db-server-tls',
    ]);
    expect([pod.automountServiceAccountToken, job.spec.backoffLimit]).toEqual([false, 0]);
  });

  it('has the names of the spec as they are: Kubernetes fills in nothing', () => {
    const found = pod.containers[0]?.env.find(({ name }) => name === 'SOURCE_PGDATABASE');
    expect(found?.value).toBe('$$(SECRET) $$1');
  });

  it('is none where all files are copied', () => {
    const { logical: _, ...files } = importFrom;
    expect(dumpJob(postgresCluster({ bootstrap: { importFrom: files } }))).toEqual([]);
  });
});

describe('a cluster whose database is there', () => {
  table([
    ['is whole', story([], undefined, { owner: 'app', isFilled: true }), ['settled']],
    [
      'has a Job and databases that are left',
      story([other], { says: '2 tables' }, { owner: 'app', isFilled: true }),
      ['delete Job db-import', `drop ${other.database}`, 'wait Updating'],
    ],
    [
      'does not copy again what somebody has dropped: the database is made anew, empty',
      story([], undefined, { isFilled: true }),
      ['make application, owner is there', 'wait Updating'],
    ],
    ['takes a database that somebody has made for the copy', story([], undefined, { owner: 'app' }), ['settled']],
  ]);
});
