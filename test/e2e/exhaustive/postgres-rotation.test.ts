/**
 * What lets clients, members and the operator in is replaced while clients write: the password of the application, every certificate, and both
 * CAs. Nothing is lost. Of certificates and passwords nobody restarts; whom members trust is read by a restart of each, one at a time.
 */
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Cluster } from '../../../src/api/cluster.ts';
import { secrets } from '../../../src/api/resource.ts';
import { validateCluster } from '../../../src/api/validate.ts';
import type { Values } from '../../../src/certificates/facts.ts';
import { issued } from '../../../src/certificates/issue.ts';
import { type PostgresSpec, postgresKind } from '../../../src/engines/postgres/kind/schema.ts';
import {
  authoritiesAnnotation,
  passwordChangedAnnotation,
  patroniPort,
  postgresNames,
  sqlPort,
} from '../../../src/engines/postgres/names.ts';
import { fingerprint } from '../../../src/engines/postgres/resources/authorities.ts';
import { authorityWanted, type Side, sides } from '../../../src/engines/postgres/resources/certificates.ts';
import { removeByName } from '../../support/kubernetes.ts';
import type { OperatorProcess } from '../../support/operator-process.ts';
import { keepPostgresEvidence } from '../../support/postgres-evidence.ts';
import { openPostgresLedger } from '../../support/postgres-ledger.ts';
import { type PostgresScenario, underPostgresWriters } from '../../support/postgres-scenario.ts';
import type { PostgresTestCluster } from '../../support/postgres-test-cluster.ts';
import { replacedPods } from '../../support/replaced-pods.ts';
import { postgresClusters } from '../../support/resources.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

const dayMs = 86_400_000;
const names = postgresNames('p');

let stage: Stage;
let operator: OperatorProcess;
let cluster: PostgresTestCluster;
let scenario: PostgresScenario;
let createdAt = 0;

beforeAll(async () => {
  stage = await openStage('postgres-rotation');
  operator = await stage.startOperator();
  cluster = await stage.createPostgres('p');
  createdAt = Date.now();
  await cluster.whole(3);
  scenario = { cluster, ledger: await openPostgresLedger({ cluster }) };
});
afterEach((context) => keepPostgresEvidence(context, stage, cluster));
afterAll(() => stage.close());

const seconds = (since: number): string => `${((performance.now() - since) / 1000).toFixed(1)} s`;
const secretRef = (name: string) => ({ resource: secrets, namespace: stage.namespace, name });

async function valuesOf(name: string): Promise<Values> {
  const { data } = await stage.client.get(secretRef(name));
  const encoded = Object.entries((data ?? {}) as Record<string, string>);
  return Object.fromEntries(encoded.map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]));
}

async function write(name: string, values: Values): Promise<void> {
  const data = Object.fromEntries(
    Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
  );
  await stage.client.mergePatch(secretRef(name), { data });
}

async function wanted(side: Side) {
  const verdict = validateCluster(postgresKind, await cluster.object());
  if (!verdict.ok) throw new Error(JSON.stringify(verdict.violations));
  return authorityWanted(verdict.cluster as Cluster<PostgresSpec>, side);
}

/** Secrets are not watched: an operator that has just started has read none yet. */
async function restartOperator(): Promise<void> {
  await operator.stop();
  operator = await stage.startOperator();
}

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

/** The certificate that a process shows, in DER. PostgreSQL wants to be asked for TLS first. */
async function shownBy(host: string, port: number): Promise<Buffer> {
  const socket = await new Promise<Socket>((resolve, reject) => {
    const opened = connectTcp({ host, port }, () => resolve(opened));
    opened.once('error', reject);
    opened.setTimeout(2000, () => opened.destroy(new Error('no answer')));
  });
  if (port === sqlPort) {
    socket.write(Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]));
    const [answer] = await new Promise<Buffer>((resolve) => socket.once('data', resolve));
    if (answer !== 'S'.charCodeAt(0)) throw new Error('it speaks no TLS');
  }
  return new Promise((resolve, reject) => {
    const secured: TLSSocket = connectTls({ socket, rejectUnauthorized: false }, () => {
      resolve(secured.getPeerCertificate().raw);
      secured.destroy();
    });
    secured.once('error', reject);
  });
}

const derOf = (pem = ''): Buffer =>
  Buffer.from(pem.split('-----END')[0]?.replaceAll(/-----[A-Z ]+-----|\s/g, '') ?? '', 'base64');

async function everyMemberShows(): Promise<void> {
  const shown = [
    [sqlPort, derOf((await valuesOf(names.certificates.server))['tls.crt'])],
    [patroniPort, derOf((await valuesOf(names.certificates.patroni))['tls.crt'])],
  ] as const;
  await until(
    'every member shows its new certificates',
    async () => {
      for (const { metadata, status } of await cluster.pods()) {
        for (const [port, certificate] of shown) {
          const found = await shownBy(status?.podIP ?? '', port);
          expect(found.equals(certificate), `${metadata.name}:${port}`).toBe(true);
        }
      }
    },
    { withinMs: 420_000, everyMs: 1000 },
  );
}

/** Every member has started with the CAs of now, and all are well. */
async function everybodyTrustsThem(): Promise<void> {
  await until(
    'every member has started with the CAs of now',
    async () => {
      const leaves = await Promise.all([names.certificates.server, names.certificates.patroni].map(valuesOf));
      const now = fingerprint(leaves.map(({ generation }) => Number(generation)));
      for (const { metadata } of await cluster.pods())
        expect(metadata.annotations?.[authoritiesAnnotation], metadata.name).toBe(now);
    },
    { withinMs: 400_000, everyMs: 500 },
  );
  await cluster.whole(3, { withinMs: 300_000 });
}

/** Whether the application is let in with a password, at the Service. */
async function isLetIn(password: string): Promise<boolean> {
  const { host = '', username = '', database = '' } = await valuesOf(names.app);
  const [pod] = await cluster.pods();
  const url = `host=${host} user=${username} dbname=${database} sslmode=require connect_timeout=2`;
  const said = await cluster.shell(
    pod?.metadata.name ?? '',
    `PGPASSWORD='${password}' "$PGBIN/psql" -X -At -c 'select 1' "${url}" 2>&1 || true`,
  );
  if (said === '1') return true;
  if (/password authentication failed/.test(said)) return false;
  throw new Error(said);
}

test('the password of the application: clients that are connected go on, new ones need the new one', async () => {
  const { password: old = '', ...others } = await valuesOf(names.app);
  const next = 'another-long-password-that-a-person-has-chosen';
  const { gapMs } = await underPostgresWriters('password of the application changed', scenario, () =>
    errorsDuring(async () => {
      const replaced = await replacedPods(cluster.pods, async () => {
        const changed = Object.entries(others).map(([key, value]) => [key, value.replaceAll(old, next)]);
        await write(names.app, { ...Object.fromEntries(changed), password: next });
        const ref = { resource: postgresClusters, namespace: stage.namespace, name: 'p' };
        await stage.client.mergePatch(ref, { metadata: { annotations: { [passwordChangedAnnotation]: 'once' } } });
        await until('the new one is let in', async () => expect(await isLetIn(next)).toBe(true));
        expect(await isLetIn(old)).toBe(false);
        // It asks with the URI of the Secret, and begins with that.
        const [standby] = await cluster.standbys();
        await scenario.ledger.move(standby?.spec?.nodeName ?? '');
        await cluster.whole(3);
      });
      expect(replaced).toEqual([]);
      return 'nobody restarts';
    }),
  );
  expect(gapMs).toBeLessThan(10_000);
});

test('the CA of Patroni is lost: another one follows it, and members restart one at a time', async () => {
  const before = await valuesOf(names.authorities.patroni);
  const { uid = '' } = (await stage.client.get(secretRef(names.authorities.patroni))).metadata;
  const { gapMs } = await underPostgresWriters('another CA of Patroni', scenario, () =>
    errorsDuring(async () => {
      const startedAt = performance.now();
      await stage.client.remove({ ...secretRef(names.authorities.patroni), uid });
      await restartOperator();
      await until(
        'only the next CA is trusted',
        async () => {
          const [authority, leaf] = await Promise.all([
            valuesOf(names.authorities.patroni),
            valuesOf(names.certificates.patroni),
          ]);
          expect(authority['tls.crt']).not.toBe(before['tls.crt']);
          expect(leaf['ca.crt']).toBe(authority['tls.crt']);
        },
        { withinMs: 600_000, everyMs: 500 },
      );
      await everybodyTrustsThem();
      return `done after ${seconds(startedAt)}`;
    }),
  );
  expect(gapMs).toBeLessThan(10_000);
});

test('every certificate has passed two thirds of its life: renewed, read again, and nobody restarts', async () => {
  // A cluster that is younger has never had others, as far as the operator can tell.
  await until('it is older than what a kubelet needs', () => expect(Date.now() - createdAt).toBeGreaterThan(190_000), {
    withinMs: 200_000,
  });
  const leaves = (
    await Promise.all(
      sides.map(async (side) => {
        const { secret: authority, leafHours, leaves } = await wanted(side);
        return leaves.map(({ secret, ...request }) => ({ secret, request, authority, hours: leafHours }));
      }),
    )
  ).flat();
  const { gapMs } = await underPostgresWriters('every certificate renewed', scenario, () =>
    errorsDuring(async () => {
      let words = '';
      const replaced = await replacedPods(cluster.pods, async () => {
        for (const { secret, request, authority, hours } of leaves) {
          const [own, source] = await Promise.all([valuesOf(secret), valuesOf(authority)]);
          const issue = { what: 'leaf', seen: '', authority, hours, renew: true, ...request } as const;
          await write(secret, issued(issue, { own, source }, Date.now() - 61 * dayMs));
        }
        const old = await Promise.all(leaves.map(({ secret }) => valuesOf(secret)));
        await restartOperator();
        await until('the operator renews them', async () => {
          const now = await Promise.all(leaves.map(({ secret }) => valuesOf(secret)));
          expect(now.filter((values, i) => values['tls.crt'] === old[i]?.['tls.crt'])).toEqual([]);
        });
        const renewedAt = performance.now();
        // The operator gives the kubelets three minutes to bring them to the pods. It would look again within ten.
        await until('three minutes are over', () => expect(performance.now() - renewedAt).toBeGreaterThan(185_000), {
          withinMs: 200_000,
        });
        await restartOperator();
        await everyMemberShows();
        words = `${leaves.length} certificates, shown by all ${seconds(renewedAt)} after they were made`;
        await cluster.whole(3);
      });
      expect(replaced).toEqual([]);
      return `${words}, nobody restarts`;
    }),
  );
  expect(gapMs).toBeLessThan(2_000);
});

test('the CA of PostgreSQL is lost: the next one signs after clients have had the life of a certificate to read it', async () => {
  const before = await valuesOf(names.authorities.sql);
  const { uid = '' } = (await stage.client.get(secretRef(names.authorities.sql))).metadata;
  const { gapMs } = await underPostgresWriters('another CA of PostgreSQL', scenario, () =>
    errorsDuring(async () => {
      const startedAt = performance.now();
      await stage.client.remove({ ...secretRef(names.authorities.sql), uid });
      await restartOperator();
      await until('another one is trusted beside it', async () => {
        const leaf = await valuesOf(names.certificates.server);
        expect(leaf['ca.crt']?.match(/BEGIN/g)?.length).toBe(2);
        expect(leaf['ca.crt']).toContain(before['tls.crt']);
      });
      await everybodyTrustsThem();
      // Each step waits for 90 days.
      for (const step of ['signs', 'is trusted alone'] as const) {
        const authority = await valuesOf(names.authorities.sql);
        await write(names.authorities.sql, { ...authority, changed: new Date(Date.now() - 91 * dayMs).toISOString() });
        await restartOperator();
        await until(
          `the next one ${step}`,
          async () => {
            const [now, leaf] = await Promise.all([
              valuesOf(names.authorities.sql),
              valuesOf(names.certificates.server),
            ]);
            expect(now['tls.crt']).not.toBe(before['tls.crt']);
            expect(leaf.generation).toBe(now.generation);
            if (step === 'is trusted alone') expect(leaf['ca.crt']).toBe(now['tls.crt']);
          },
          { withinMs: 300_000, everyMs: 500 },
        );
        await everybodyTrustsThem();
      }
      // Members log in to each other with certificates of the new one.
      const [standby] = await cluster.standbys();
      if (standby === undefined) throw new Error('there is no standby');
      const { name, uid: former } = standby.metadata;
      await removeByName(stage.client, standby);
      await until('its pod is another one', async () =>
        expect((await cluster.pod(name)).metadata.uid).not.toBe(former),
      );
      await cluster.whole(3);
      return `done after ${seconds(startedAt)}, without the 90 days for clients`;
    }),
  );
  expect(gapMs).toBeLessThan(10_000);
});
