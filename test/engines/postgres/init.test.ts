/** `init.sql` runs once: what is made for it, and what its Job and the mark in the database mean. */
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/api/object.ts';
import type { LiveMember } from '../../../src/engines/postgres/observe/observed.ts';
import type { Situation } from '../../../src/engines/postgres/observe/situation.ts';
import { planInit } from '../../../src/engines/postgres/plan/init.ts';
import { initObjects } from '../../../src/engines/postgres/resources/init.ts';
import { childrenOf } from '../../../src/resources/children.ts';
import { postgresCluster } from '../../support/postgres-situation.ts';

const sql = "\\! id\nINSERT INTO t VALUES ('$(HOME)')";
const cluster = postgresCluster({ init: { sql } });
const claim = { target: { claim: { name: 'backups' } }, cluster: { name: 'old' } };
const restored = postgresCluster({ init: { sql }, bootstrap: { restore: claim } });
const [config, job] = initObjects(cluster) as [KubeObject, KubeObject];
const at = Date.parse('2030-01-01T01:00:00Z');

function plan(init: 'due' | 'run' | 'done' | undefined, objects: readonly KubeObject[] = [], of = cluster) {
  const facts = { hasOwner: true, owner: 'app' };
  const marked = init === undefined ? {} : { init };
  const application = { state: 'seen', facts, isPasswordWrong: false, ...marked } as const;
  const situation = { cluster: of, children: childrenOf(objects), observed: { members: [], at, application } };
  const result = planInit(situation as unknown as Situation, { pod: 'db-0-0', address: '10.0.0.0' } as LiveMember);
  if (result === undefined) return undefined;
  const { outcome, steps } = result;
  return [
    ...steps.map((step) =>
      step.type === 'act' ? step.summary : `${step.type} ${'object' in step ? step.object.kind : ''}`,
    ),
    outcome.state === 'settled' ? '' : outcome.reason,
  ];
}

const ended = (type: 'Complete' | 'Failed', time = '00:59:15'): KubeObject => ({
  ...job,
  status: { conditions: [{ type, status: 'True', lastTransitionTime: `2030-01-01T${time}Z`, message: 'it failed' }] },
});

const named = (object: KubeObject): KubeObject => ({
  ...object,
  metadata: { ...object.metadata, name: 'db-init-former' },
});
const [other, failedOther] = [named(ended('Complete', '00:58:59')), named(ended('Failed'))];

describe('init.sql', () => {
  it.each<[string, ReturnType<typeof plan>, readonly string[] | undefined]>([
    ['is run in a new cluster', plan('due'), ['create ConfigMap', 'create Job', 'Initializing']],
    ['is awaited', plan('due', [config, job]), ['Initializing']],
    ['has run, and the database is asked again', plan('due', [config, ended('Complete')]), ['Initializing']],
    ['has run, and its transaction is lost', plan('due', [config, ended('Complete', '00:58:59')]), ['InitFailed']],
    ['is not run with another text then', plan('due', [other]), ['InitFailed']],
    [
      'is run with another text, once it has failed',
      plan('due', [failedOther]),
      ['create ConfigMap', 'create Job', 'Initializing'],
    ],
    ['has failed', plan('due', [config, ended('Failed')]), ['InitFailed']],
    ['is not run again, though its Job is gone', plan('done'), undefined],
    ['has run, which the owner could deny', plan('run'), ['write down that init.sql has run', 'Initializing']],
    ['is not run in data that was restored', plan('due', [], restored), undefined],
    ['is not known to have run', plan(undefined), undefined],
  ])('%s', (_, result, expected) => expect(result).toEqual(expected));

  it('is one message to the server, and nothing that psql or a shell reads', () => {
    const text = (config as KubeObject & { readonly data: Readonly<Record<string, string>> }).data['init.sql'] ?? '';
    expect(text.startsWith('\n')).toBe(true);
    const places = ['pg_advisory_xact_lock', 'RAISE EXCEPTION', sql, 'COMMENT ON DATABASE "app" IS'].map((part) =>
      text.indexOf(part),
    );
    expect(places).toEqual([...places].sort((a, b) => a - b));
    expect(places).not.toContain(-1);
    expect(job).toMatchObject({
      spec: {
        template: {
          spec: {
            automountServiceAccountToken: false,
            containers: [
              {
                command: ['/usr/lib/postgresql/17/bin/psql', '--no-psqlrc', '--quiet', '--output=/dev/null'],
                args: ['--command=$(INIT_SQL)'],
              },
            ],
          },
        },
      },
    });
  });

  it('gets another Job once it is corrected, and none where nothing runs', () => {
    expect(initObjects(postgresCluster({ init: { sql: 'SELECT 1' } }))[1]?.metadata.name).not.toBe(job.metadata.name);
    expect(initObjects(postgresCluster({ init: { sql }, instances: 0 }))).toEqual([]);
    expect(initObjects(postgresCluster({}))).toEqual([]);
  });
});
