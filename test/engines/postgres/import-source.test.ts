/** What the pods of an import get, and what the operator sends them: the secrets of the source are in no object. */
import { describe, expect, it } from 'vitest';
import { actPostgres } from '../../../src/engines/postgres/act/act.ts';
import type { PostgresSpecInput } from '../../../src/engines/postgres/kind/schema.ts';
import { observePostgres } from '../../../src/engines/postgres/observe/observe.ts';
import { postgresResources } from '../../../src/engines/postgres/resources/resources.ts';
import { postgresWorld } from '../../support/postgres-situation.ts';
import { postgresSecrets, type Script, scriptedPatroni } from '../../support/scripted-patroni.ts';
import { settle } from '../../support/scripted-redis.ts';

const spec: PostgresSpecInput = {
  parameters: { max_connections: '300' },
  bootstrap: {
    importFrom: {
      host: 'db.example.com',
      user: 'importer',
      password: { name: 'source' },
      tls: { ca: { name: 'source' } },
    },
  },
};
const world = postgresWorld({ spec, numbers: [0], starts: { 0: 'import' } });
const secrets = {
  ...postgresSecrets(world.cluster, Date.now()),
  source: { password: 'pass:word', 'ca.crt': '-----BEGIN CERTIFICATE-----' },
};
const member = { pod: 'db-0-0', address: '10.0.0.0' };
const answer =
  (digest?: string): Script =>
  ({ path }) =>
    path === '/patroni'
      ? { status: 503, body: JSON.stringify({ state: 'importing', import: { phase: 'following', digest } }) }
      : undefined;

describe('the objects of a cluster that imports', () => {
  const objects = postgresResources(world.cluster).map(({ object }) => object);
  const data = (name: string) =>
    (
      objects.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === name) as {
        data?: Record<string, string>;
      }
    ).data ?? {};

  it('tell the first member where the source is, and Patroni to make no database', () => {
    const { 'db-0.bootstrap.yml': text = '{}', 'db-0.start': start } = data('db-members');
    const { bootstrap } = JSON.parse(text) as { bootstrap: Record<string, unknown> };
    const { dcs: _, ...rest } = bootstrap;
    expect(start).toBe('import');
    expect(rest).toEqual({
      method: 'restore',
      restore: { command: 'false', no_params: true },
      import: {
        id: 'uid-db',
        name: 'db',
        host: 'db.example.com',
        port: 5432,
        user: 'importer',
        sslmode: 'verify-full',
        version: '17',
        owner: 'app',
        slot: 'clusterwright_uid_db',
        settings: {
          shared_buffers: '128MB',
          max_connections: '300',
          max_worker_processes: '8',
          max_wal_senders: '20',
          max_prepared_transactions: '0',
          max_locks_per_transaction: '64',
        },
      },
    });
  });

  it('have the scripts, in the pods of this cluster alone', () => {
    const names = (of: typeof world) =>
      Object.keys(
        (
          postgresResources(of.cluster)
            .map(({ object }) => object)
            .find(({ metadata, kind }) => kind === 'ConfigMap' && metadata.name === 'db-patroni') as { data?: object }
        ).data ?? {},
      ).filter((name) => name.startsWith('import'));
    expect(names(world)).toEqual([
      'import.py',
      'import_copy.py',
      'import_record.py',
      'import_report.py',
      'import_source.py',
      'import_verify.py',
    ]);
    expect(names(postgresWorld())).toEqual([]);
    const set = JSON.stringify(objects.find(({ kind }) => kind === 'StatefulSet'));
    for (const name of names(world)) expect(set).toContain(`"path":"${name}"`);
  });
});

describe('the secrets of the source', () => {
  it('are sent to the member, with what tells one from another', async () => {
    const { io, clock, asked } = scriptedPatroni(world.observed, secrets);
    await settle(clock, actPostgres({ type: 'postgres.import', member }, world.cluster, io));
    expect(asked).toEqual([
      expect.stringMatching(
        /^POST 10[.]0[.]0[.]0:8008 \/import {"password":"pass:word","ca":"-----BEGIN CERTIFICATE-----","digest":"[0-9a-f]{32}"}$/,
      ),
    ]);
  });

  it.each<[string, Record<string, string> | undefined, string]>([
    ['are not there', undefined, 'Secret source has no key password'],
    ['lack the CA', { password: 'x' }, 'Secret source has no key ca.crt'],
    ['are empty', { password: '', 'ca.crt': 'x' }, 'key password of Secret source is empty or too long'],
    [
      'are too long',
      { password: 'x'.repeat(70_000), 'ca.crt': 'x' },
      'key password of Secret source is empty or too long',
    ],
    [
      'would be a second line of a file',
      { password: 'a\nb', 'ca.crt': 'x' },
      'the password in Secret source has a line break',
    ],
  ])('%s: nothing is sent, and the status says so', async (_, source, why) => {
    const known = { ...secrets, ...(source === undefined ? { source: undefined } : { source }) } as typeof secrets;
    const { io, clock, asked } = scriptedPatroni(world.observed, known, answer());
    const result = await settle(clock, actPostgres({ type: 'postgres.import', member }, world.cluster, io));
    expect(result).toMatchObject({ status: 'rejected', reason: { message: why } });
    expect(asked).toEqual([]);
    const seen = await observePostgres(world.cluster, world.children, io);
    expect(seen.source).toEqual({ state: 'unusable', why });
  });

  it('are in what is observed as a digest, and only while a member imports', async () => {
    const importing = scriptedPatroni(world.observed, secrets, answer('d'));
    const seen = await observePostgres(world.cluster, world.children, importing.io);
    expect(seen.source).toEqual({ state: 'seen', digest: expect.stringMatching(/^[0-9a-f]{32}$/) });
    expect(seen.members).toMatchObject([
      { postgres: 'importing', imported: { phase: 'following', digest: 'd', notes: [] } },
    ]);
    expect(JSON.stringify(seen)).not.toContain('pass:word');
    // Left by a cluster of the name that imported, or a member that somebody else has taken over.
    const other = postgresWorld();
    const strange = scriptedPatroni(other.observed, postgresSecrets(other.cluster, Date.now()), answer('d'));
    expect((await observePostgres(other.cluster, other.children, strange.io)).source).toBeUndefined();
    const done = scriptedPatroni(world.observed, secrets);
    expect((await observePostgres(world.cluster, world.children, done.io)).source).toBeUndefined();
  });
});

it('a request to cut over, and its end, are one call each', async () => {
  const { io, clock, asked } = scriptedPatroni(world.observed, secrets);
  await settle(clock, actPostgres({ type: 'postgres.cutOver', member, request: '0/1' }, world.cluster, io));
  await settle(clock, actPostgres({ type: 'postgres.cutOver', member }, world.cluster, io));
  expect(asked).toEqual([
    'POST 10.0.0.0:8008 /cut-over {"value":"0/1"}',
    'POST 10.0.0.0:8008 /cut-over {"value":null}',
  ]);
});
