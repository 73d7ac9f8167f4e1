import { describe, expect, test } from 'vitest';
import type { Cluster } from '../../src/api/cluster.ts';
import { validateCluster } from '../../src/api/validate.ts';
import { PostgresDatabase, PostgresUser } from '../../src/constructs/postgres-contents.ts';
import { userConnection } from '../../src/engines/postgres/definition.ts';
import { type UserSpec, userKind } from '../../src/engines/postgres/kind/user.ts';
import { userSecrets } from '../../src/engines/postgres/resources/user.ts';
import { manifestsOf } from './manifests.ts';

const metadata = { name: 'orders', namespace: 'shop' };
const cluster = { name: 'db' };

describe('databases and users of a PostgresCluster', () => {
  test('are written as they are', () => {
    const database = { cluster, name: 'orders', owner: 'orders', extensions: [{ name: 'hstore' }] };
    const user = { cluster, name: 'orders' };
    const objects = manifestsOf((chart) => {
      new PostgresDatabase(chart, 'database', { metadata, spec: database });
      new PostgresUser(chart, 'user', { metadata, spec: user });
    });
    const apiVersion = 'clusterwright.dev/v1alpha1';
    expect(objects).toEqual([
      { apiVersion, kind: 'PostgresDatabase', metadata, spec: database },
      { apiVersion, kind: 'PostgresUser', metadata, spec: user },
    ]);
  });

  test('are refused at synth by the rules of their kinds', () => {
    const reserved = { cluster, name: 'postgres', owner: 'orders' };
    expect(() => manifestsOf((chart) => void new PostgresDatabase(chart, 'a', { metadata, spec: reserved }))).toThrow(
      'spec.name: must not be a database of PostgreSQL',
    );
    const group = { cluster, name: 'group', login: false, passwordSecret: { name: 'mine' } };
    expect(() => manifestsOf((chart) => void new PostgresUser(chart, 'a', { metadata, spec: group }))).toThrow(
      'spec.passwordSecret',
    );
  });

  test('a user is reached by the Secret that the operator makes, key by key', () => {
    const spec = { cluster, name: 'orders' };
    const verdict = validateCluster(userKind, {
      apiVersion: 'clusterwright.dev/v1alpha1',
      kind: 'PostgresUser',
      metadata,
      spec,
    });
    if (!verdict.ok) throw new Error(verdict.violations[0]?.message);
    const [secret] = userSecrets(verdict.cluster as Cluster<UserSpec>, undefined);
    const made = [...Object.keys(secret?.object.stringData ?? {}), ...(secret?.generate ?? []).map(({ key }) => key)];
    const read = Object.values(userConnection(metadata, spec).env).filter((source) => typeof source !== 'string');
    expect(read).toHaveLength(6);
    expect(read.filter(({ secretName }) => secretName !== secret?.object.metadata.name)).toEqual([]);
    expect(made).toEqual(expect.arrayContaining(read.map(({ key }) => key)));
  });
});
