/**
 * PostgreSQL 15 becomes 17 while clients write through the Service: refused by pg_upgrade and given up, carried out with a backup before
 * and after it, and with the pod of pg_upgrade deleted twice. Then the operator changes what it made in 15.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { apiVersionOf } from '../../../src/api/object.ts';
import { jobs, pods as podResource, secrets } from '../../../src/api/resource.ts';
import { images as recipes } from '../../../src/engines/images.ts';
import type { PostgresSpecInput } from '../../../src/engines/postgres/kind/schema.ts';
import { wayBackAnnotation } from '../../../src/engines/postgres/names.ts';
import { imageReference } from '../../../src/sandbox/images/recipe.ts';
import { createProgress } from '../../../src/sandbox/progress.ts';
import { loadImages } from '../../../src/sandbox/sandbox.ts';
import { type BackupStore, openStore } from '../../support/backup-store.ts';
import { listAll, removeByName } from '../../support/kubernetes.ts';
import { keepPostgresEvidence } from '../../support/postgres-evidence.ts';
import { openPostgresLedger } from '../../support/postgres-ledger.ts';
import { type PostgresScenario, underPostgresWriters } from '../../support/postgres-scenario.ts';
import type { PostgresTestCluster } from '../../support/postgres-test-cluster.ts';
import { postgresDatabases, postgresUsers } from '../../support/resources.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

let stage: Stage;
let store: BackupStore;
let cluster: PostgresTestCluster;
let scenario: PostgresScenario;

/** Has both versions. */
const image = imageReference('postgres:17');
const older: PostgresSpecInput = { version: '15', image, resources: { limits: { memory: '384Mi' } } };
const long = { withinMs: 480_000 };

beforeAll(async () => {
  await loadImages(['pgbouncer:1.24'], { recipes }, createProgress());
  stage = await openStage('postgres-upgrade');
  await stage.startOperator();
  store = await openStore(stage);
});
afterEach((context) => keepPostgresEvidence(context, stage, cluster));
afterAll(() => stage.close());

const onPrimary = async (statement: string): Promise<string> =>
  cluster.sql((await cluster.primary()).metadata.name, statement);

const major = async (): Promise<string> => (await onPrimary('show server_version')).split('.')[0] ?? '';

async function messageOf(reason: string): Promise<string> {
  return until(
    reason,
    async () => {
      const found = (await cluster.status()).conditions?.find(({ type }) => type === 'Ready');
      expect(found?.reason, found?.message).toBe(reason);
      return found?.message ?? '';
    },
    { withinMs: 240_000 },
  );
}

describe('of three members, with a backup before it and after it', () => {
  beforeAll(async () => {
    cluster = await stage.createPostgres('p', { ...older, backup: { target: store.target as never } });
    await cluster.whole(3, { withinMs: 240_000 });
    scenario = { cluster, ledger: await openPostgresLedger({ cluster }) };
    for (const [resource, name, spec] of [
      [postgresUsers, 'reports', { name: 'reports' }],
      [postgresDatabases, 'shop', { name: 'shop', owner: 'reports', extensions: [{ name: 'hstore' }] }],
    ] as const) {
      await stage.client.create({
        apiVersion: apiVersionOf(resource),
        kind: resource.kind,
        metadata: { name, namespace: stage.namespace },
        spec: { cluster: { kind: 'PostgresCluster', name: 'p' }, ...spec },
      });
    }
    await contentReady();
    await onPrimary('create extension pg_stat_statements');
    await onPrimary('create table filled as select n, repeat(md5(n::text), 8) as v from generate_series(1, 600000) n');
    await onPrimary('alter table filled owner to app');
  });

  async function contentReady(): Promise<void> {
    for (const resource of [postgresUsers, postgresDatabases]) {
      await until(`${resource.plural} ready`, async () => {
        for (const { metadata, status } of await listAll(stage.client, resource, stage.namespace)) {
          const { conditions = [] } = (status ?? {}) as { conditions?: { type: string; status: string }[] };
          expect(conditions.find(({ type }) => type === 'Ready')?.status, metadata.name).toBe('True');
        }
      });
    }
  }

  test('what pg_upgrade refuses is told in its words, while clients write; then it is given up', async () => {
    await onPrimary('create table no_way (a aclitem)');
    const { gapMs } = await underPostgresWriters('upgrade refused, and given up', scenario, async () => {
      await cluster.change({ version: '17' });
      const message = await messageOf('UpgradeRefused');
      expect(message).toMatch(/aclitem/);
      expect(message).toMatch(/The cluster runs 15 as before/);
      await cluster.change({ version: '15' });
      await cluster.whole(3);
      return message.replaceAll(/\s+/g, ' ').slice(0, 200);
    });
    expect(await major()).toBe('15');
    expect(gapMs).toBeLessThan(4000);
    await onPrimary('drop table no_way');
  });

  test('it is rehearsed, stops, and serves on 17', async () => {
    const size = await onPrimary('select pg_size_pretty(sum(pg_database_size(oid))) from pg_database');
    const before = (await cluster.claims()).map(({ metadata }) => metadata.name);
    const { gapMs } = await underPostgresWriters(`upgrade 15 to 17, ${size}`, scenario, async () => {
      const spec = { version: '17', upgrade: { afterSql: "comment on table filled is 'after'" } } as const;
      await cluster.change(spec);
      await until('it stops', async () => expect(await cluster.pods()).toHaveLength(0), long);
      await cluster.whole(3, long);
      return undefined;
    });
    expect(await major()).toBe('17');
    expect(await onPrimary('select count(*) from filled')).toBe('600000');
    expect(await onPrimary("select obj_description('filled'::regclass)")).toBe('after');
    const outdated =
      'select name from pg_available_extensions where installed_version <> default_version order by name';
    expect(await onPrimary(outdated)).toBe('');
    // The way back: volumes of standbys with everything of before.
    const kept = (await cluster.claims()).filter(({ metadata }) => metadata.annotations?.[wayBackAnnotation] === '15');
    expect(kept.length).toBeGreaterThanOrEqual(1);
    expect(before).toEqual(expect.arrayContaining(kept.map(({ metadata }) => metadata.name)));
    const left = (await listAll(stage.client, jobs, stage.namespace)).map(({ metadata }) => metadata.name);
    expect(left.filter((name) => /rehearsal|checkpoint|upgrade$/.test(name))).toEqual([]);
    expect(gapMs).toBeLessThan(120_000);
  });

  test('the operator changes the password of a role of before, and databases of it', async () => {
    const { client, namespace } = stage;
    await contentReady();
    await client.mergePatch(
      { resource: secrets, namespace, name: 'reports-login' },
      { stringData: { password: 'another-one' } },
    );
    const annotations = { 'clusterwright.dev/password-changed': 'now' };
    await client.mergePatch({ resource: postgresUsers, namespace, name: 'reports' }, { metadata: { annotations } });
    await until('it is let in with the new one', async () =>
      expect(await asReports('p-primary', 'select current_user')).toBe('reports'),
    );
    await client.mergePatch(
      { resource: postgresDatabases, namespace, name: 'shop' },
      { spec: { connectionLimit: 7, schemas: [{ name: 'orders' }] } },
    );
    await until('the database has changed', async () => {
      expect(await onPrimary("select datconnlimit from pg_database where datname = 'shop'")).toBe('7');
      expect(await asReports('p-primary', "select 1 from pg_namespace where nspname = 'orders'")).toBe('1');
    });
    await contentReady();
  });

  test('a pooler is added: the roles that a cluster of 15 was made with get their passwords', async () => {
    await cluster.change({ pooler: { instances: 1 } });
    await cluster.whole(3);
    await until('a client gets through it', async () =>
      expect(await asReports('p-pooler', 'select current_user')).toBe('reports'),
    );
  });

  /** With psql, from a pod of a member. */
  async function asReports(host: string, statement: string): Promise<string> {
    const pod = (await cluster.primary()).metadata.name;
    const login = `host=${host} user=reports dbname=shop sslmode=require connect_timeout=5`;
    return cluster.shell(pod, `PGPASSWORD=another-one "$PGBIN"/psql -X -At -c "${statement}" "${login}"`);
  }
});

describe('of two members, without a backup', () => {
  beforeAll(async () => {
    await cluster.remove();
    cluster = await stage.createPostgres('d', { ...older, instances: 2, upgrade: { withoutBackup: true } });
    await cluster.whole(2, { withinMs: 240_000 });
    scenario = { cluster, ledger: await openPostgresLedger({ cluster }) };
  });

  test('lowered again while the members stop, it is given up, and all start on 15', async () => {
    await underPostgresWriters('upgrade given up while members stop', scenario, async () => {
      await cluster.change({ version: '17' });
      await until('the primary stops', async () => expect((await cluster.pods()).length).toBeLessThan(2), long);
      await cluster.change({ version: '15' });
      await cluster.whole(2, long);
      return undefined;
    });
    expect(await major()).toBe('15');
  });

  test('the pod of pg_upgrade is deleted twice', async () => {
    const { gapMs } = await underPostgresWriters('the pod of pg_upgrade deleted twice', scenario, async () => {
      await cluster.change({ version: '17' });
      const deleted: string[] = [];
      while (deleted.length < 2) {
        const pod = await until(
          'pg_upgrade at work',
          async () => {
            const found = (await listAll(stage.client, podResource, stage.namespace)).find(
              ({ metadata }) => /^d-upgrade-/.test(metadata.name) && !deleted.includes(metadata.uid ?? ''),
            );
            // On a fast machine it may have ended before anybody saw its second pod.
            if (found === undefined && (await cluster.status()).version?.startsWith('17') === true) return undefined;
            if (found === undefined) throw new Error(await cluster.ready());
            expect((found.status as { readonly phase?: string }).phase).toBe('Running');
            return found;
          },
          long,
        );
        if (pod === undefined) break;
        await removeByName(stage.client, pod, { gracePeriodSeconds: 0 });
        deleted.push(pod.metadata.uid ?? '');
      }
      expect(deleted).not.toEqual([]);
      await cluster.whole(2, long);
      return undefined;
    });
    expect(await major()).toBe('17');
    expect(gapMs).toBeLessThan(120_000);
  });
});
