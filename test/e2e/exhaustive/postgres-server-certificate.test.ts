/**
 * Members show clients a certificate from a Secret that somebody brings. Another one, also of another CA, is shown without a restart, while
 * clients write and standbys connect again and again. Whoever has a certificate of that CA is let in as nobody.
 */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type Issued, makeLeaf } from '../../../src/certificates/certificate.ts';
import { images as recipes } from '../../../src/engines/images.ts';
import type { PostgresSpecInput } from '../../../src/engines/postgres/kind/schema.ts';
import { postgresNames, roles } from '../../../src/engines/postgres/names.ts';
import { createProgress } from '../../../src/sandbox/progress.ts';
import { loadImages } from '../../../src/sandbox/sandbox.ts';
import { keepPostgresEvidence } from '../../support/postgres-evidence.ts';
import { openPostgresLedger } from '../../support/postgres-ledger.ts';
import { type PostgresScenario, underPostgresWriters } from '../../support/postgres-scenario.ts';
import type { PostgresTestCluster } from '../../support/postgres-test-cluster.ts';
import {
  answer,
  casForClients,
  company,
  everybodyShows,
  heldBack,
  life,
  secretText,
  serialOf,
  shown,
  userCertificate,
} from '../../support/postgres-user-certificate.ts';
import { replacedPods } from '../../support/replaced-pods.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

let stage: Stage;
let cluster: PostgresTestCluster;
let other: PostgresTestCluster;
let scenario: PostgresScenario;
let second: Issued;
let brought: ReturnType<typeof userCertificate>;

const secret = 'shop-db-tls';
const first = company();
const names = postgresNames('p');
const spec: PostgresSpecInput = {
  resources: { limits: { memory: '256Mi' } },
  tls: { server: { secretRef: { name: secret } } },
};
const pooler = { instances: 1, resources: { requests: { cpu: '10m', memory: '32Mi' }, limits: { memory: '64Mi' } } };

beforeAll(async () => {
  await loadImages(['pgbouncer:1.24', 'postgres-exporter:0.17'], { recipes }, createProgress());
  stage = await openStage('postgres-server-certificate');
  brought = userCertificate(stage, secret, ['p', 'q']);
  await stage.startOperator();
  cluster = await stage.createPostgres('p', spec);
});
afterEach((context) => keepPostgresEvidence(context, stage, cluster));
afterAll(() => stage.close());

const seconds = (since: number): string => `${((performance.now() - since) / 1000).toFixed(1)} s`;

/** What clients met during `work`, in words. */
async function errorsDuring(work: () => Promise<string>): Promise<string> {
  const { ledger } = scenario;
  const before = await ledger.errors();
  const words = await work();
  const after = Object.entries(await ledger.errors()).map(
    ([what, count]) => [what, count - (before[what] ?? 0)] as const,
  );
  const met = after.filter(([, count]) => count > 0).map(([what, count]) => `${count} × ${what.slice(0, 90)}`);
  return `${words}; errors of four clients: ${met.length === 0 ? 'none' : met.join(' | ')}`;
}

/** During `work`, the connection of one standby after the other is ended. Each has to come back: how often, and how long the slowest took. */
async function reconnecting(of: PostgresTestCluster, work: () => Promise<void>): Promise<string> {
  let isOver = false;
  let count = 0;
  let slowest = 0;
  const size = (await of.standbys()).length;
  const loop = async (): Promise<void> => {
    while (!isOver) {
      const { metadata } = await of.primary();
      const which = `select pid from pg_stat_replication where application_name like 'p-%' order by application_name offset ${count % size} limit 1`;
      await of.sql(metadata.name, `select pg_terminate_backend((${which}))`);
      const since = performance.now();
      await until(
        'it streams again',
        async () =>
          expect(
            await of.sql(metadata.name, "select count(*) from pg_stat_replication where state = 'streaming'"),
          ).toBe(String(size)),
        { withinMs: 60_000, everyMs: 250 },
      );
      slowest = Math.max(slowest, performance.now() - since);
      count += 1;
      // The operator takes no step while a member is not well.
      const restedAt = performance.now();
      await until(
        'the cluster has had a rest',
        () => expect(isOver || performance.now() - restedAt > 10_000).toBe(true),
        {
          withinMs: 20_000,
        },
      );
    }
  };
  const ended = loop();
  try {
    await work();
  } finally {
    isOver = true;
    await ended;
  }
  expect(slowest).toBeLessThan(30_000);
  return `${count} times a standby connected again, the slowest after ${(slowest / 1000).toFixed(1)} s`;
}

test('nobody starts before the Secret is there, and the status says so', async () => {
  await until('it says so', async () => expect(await cluster.ready()).toBe('False AwaitingCertificates'));
  expect(await cluster.pods()).toEqual([]);
});

test('with the Secret the cluster starts, and a client checks the name over the CA of the user', async () => {
  await brought.create(brought.signedBy(first));
  await cluster.whole(3, { withinMs: 240_000 });
  expect(await answer(stage, cluster, first.certificate)).toBe('1');
  expect(await answer(stage, cluster, company().certificate)).toMatch(/certificate verify failed/);
  expect(await casForClients(stage, 'p')).toEqual([first.certificate]);
  expect((await cluster.status()).connection).toMatchObject({ caConfigMapName: 'p-server-ca' });
  scenario = { cluster, ledger: await openPostgresLedger({ cluster }) };
});

test('a certificate of the same CA with the name of a role lets nobody in', async () => {
  const { metadata } = await cluster.primary();
  for (const role of [roles.operator, roles.replication, roles.rewind]) {
    const request = { organisation: 'p', commonName: role, names: [], usages: ['client'] } as const;
    const { certificate, key } = makeLeaf(request, life(), first);
    const write = `d=$(mktemp -d); cat > $d/c <<'A'\n${certificate}A\ncat > $d/k <<'A'\n${key}A\nchmod 600 $d/k`;
    const target = `host=127.0.0.1 user=${role} dbname=postgres sslmode=require sslcert=$d/c sslkey=$d/k`;
    const said = await cluster.shell(
      metadata.name,
      `${write}; "$PGBIN"/psql -X -At "${target}" -c 'select 1' 2>&1 || true; rm -r $d`,
    );
    expect(said).toMatch(/unknown ca|certificate/);
    expect(said).not.toBe('1');
  }
});

test('a certificate of the same CA is shown by all within minutes, and nobody restarts', async () => {
  const { gapMs } = await underPostgresWriters('another certificate of members, of the same CA', scenario, () =>
    errorsDuring(async () => {
      let words = '';
      const replaced = await replacedPods(cluster.pods, async () => {
        const next = brought.signedBy(first);
        const since = performance.now();
        await brought.bring(next);
        await everybodyShows(cluster, serialOf(next['tls.crt']), 240_000);
        words = `shown by all ${seconds(since)} after the Secret changed`;
        expect(await answer(stage, cluster, first.certificate)).toBe('1');
        await cluster.whole(3);
      });
      expect(replaced).toEqual([]);
      return `${words}, nobody restarts`;
    }),
  );
  expect(gapMs).toBeLessThan(2_000);
});

test('a certificate of another CA: trusted first, shown then, and the CA before dropped last', async () => {
  second = company();
  const { gapMs } = await underPostgresWriters('another CA of what members show', scenario, () =>
    errorsDuring(async () => {
      const next = brought.signedBy(second);
      let words = '';
      const replaced = await replacedPods(cluster.pods, async () => {
        const since = performance.now();
        const reconnected = await reconnecting(cluster, async () => {
          await brought.bring(next);
          await until('it is held back', async () => expect(await heldBack(cluster)).toBe('True NotTrustedYet'), {
            withinMs: 60_000,
          });
          await until('clients find both CAs', async () => expect(await casForClients(stage, 'p')).toHaveLength(2));
          expect(await answer(stage, cluster, first.certificate)).toBe('1');
          await everybodyShows(cluster, serialOf(next['tls.crt']), 600_000);
          words = `shown by all after ${seconds(since)}`;
          await until(
            'the CA before is dropped',
            async () => expect(await casForClients(stage, 'p')).toEqual([second.certificate]),
            {
              withinMs: 400_000,
            },
          );
          words += `, the CA before dropped after ${seconds(since)}`;
          await until('each pod has the new CAs', async () => expect(await heldBack(cluster)).toBeUndefined());
        });
        words += `, ${reconnected}`;
        await cluster.whole(3);
      });
      expect(replaced).toEqual([]);
      expect(await answer(stage, cluster, second.certificate)).toBe('1');
      return `${words}, nobody restarts`;
    }),
  );
  expect(gapMs).toBeLessThan(10_000);
});

test.each([
  [
    'with the key of another',
    (values: Record<string, string>) => ({ ...values, 'tls.key': brought.signedBy(second)['tls.key'] ?? '' }),
  ],
  ['of another CA than its ca.crt', (values: Record<string, string>) => ({ ...values, 'ca.crt': first.certificate })],
])('a Secret %s: the status says so, and members go on with what they show', async (_, wrong) => {
  const before = await shown(cluster);
  const next = brought.signedBy(second);
  await brought.bring(wrong(next));
  await until('it says so', async () => expect(await heldBack(cluster)).toBe('True Unusable'), { withinMs: 90_000 });
  expect(await cluster.ready()).toBe('True AllMembersReady');
  expect(await shown(cluster)).toEqual(before);
  await brought.bring(next);
  await until('it is taken', async () => expect(await heldBack(cluster)).toBeUndefined(), { withinMs: 90_000 });
  await everybodyShows(cluster, serialOf(next['tls.crt']), 240_000);
});

test('a running cluster with a pooler and exporters goes over to it, and another one back to the certificate of the operator', async () => {
  // A merge patch takes out what is null.
  await cluster.change({ tls: { server: { secretRef: null, selfManaged: {} } } } as never);
  other = await stage.createPostgres('q', {
    instances: 2,
    resources: { limits: { memory: '256Mi' } },
    pooler,
    monitoring: {},
  });
  await other.whole(2, { withinMs: 240_000 });
  const ledger = await openPostgresLedger({ cluster: other });
  const { gapMs } = await underPostgresWriters(
    'a running cluster shows the certificate of a Secret',
    { cluster: other, ledger },
    async () => {
      const since = performance.now();
      await other.change({ tls: { server: { secretRef: { name: secret } } } });
      await until(
        'a client of the user is answered',
        async () => expect(await answer(stage, other, second.certificate)).toBe('1'),
        {
          withinMs: 600_000,
          everyMs: 2000,
        },
      );
      const words = `after ${seconds(since)}`;
      await until(
        'only the next CA is trusted',
        async () => expect(await casForClients(stage, 'q')).toEqual([second.certificate]),
        {
          withinMs: 400_000,
        },
      );
      await other.whole(2, { withinMs: 240_000 });
      return words;
    },
  );
  expect(gapMs).toBeLessThan(15_000);
  const own = await secretText(stage, 'q-pooler-tls', 'ca.crt');
  await until('the pooler answers', async () => expect(await answer(stage, other, own, 'pooler')).toBe('1'));
  // The first one has had as long.
  const operators = await secretText(stage, names.certificates.server, 'ca.crt');
  await until(
    'the operator’s CA alone is trusted',
    async () => expect(await casForClients(stage, 'p')).toEqual([operators]),
    {
      withinMs: 600_000,
    },
  );
  expect(await answer(stage, cluster, operators)).toBe('1');
  await cluster.whole(3);
});
