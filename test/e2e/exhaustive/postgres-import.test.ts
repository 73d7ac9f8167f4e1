/** A PostgresCluster whose data comes from a PostgreSQL that runs elsewhere, and is written to until the cut-over. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { cutOverAnnotation } from '../../../src/engines/postgres/names.ts';
import { removeByName } from '../../support/kubernetes.ts';
import { keepPostgresEvidence } from '../../support/postgres-evidence.ts';
import { openPostgresLedger, type PostgresLedger } from '../../support/postgres-ledger.ts';
import { prepareSoundness, soundnessOf } from '../../support/postgres-soundness.ts';
import { type PostgresSource, startPostgresSource } from '../../support/postgres-source.ts';
import type { PostgresTestCluster } from '../../support/postgres-test-cluster.ts';
import { postgresClusters } from '../../support/resources.ts';
import { recordResult } from '../../support/results.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

let stage: Stage;
let source: PostgresSource;
let cluster: PostgresTestCluster;
let ledger: PostgresLedger;

beforeAll(async () => {
  stage = await openStage('postgres-import');
  source = await startPostgresSource(stage.client, stage.namespace, 'source');
  await stage.startOperator();
});
afterEach((context) => keepPostgresEvidence(context, stage, cluster));
afterAll(() => stage.close());

const seconds = (since: number): string => `${((performance.now() - since) / 1000).toFixed(1)} s`;
const said = async (): Promise<string> =>
  (await cluster.status()).conditions?.find(({ type }) => type === 'Ready')?.message ?? '';
const ask = async (value: string | null): Promise<void> => {
  const ref = { resource: postgresClusters, namespace: stage.namespace, name: cluster.name };
  await stage.client.mergePatch(ref, { metadata: { annotations: { [cutOverAnnotation]: value } } });
};
const uid = async (): Promise<string> => (await cluster.object()).metadata.uid ?? '';

test('the first member copies it and follows it under writers, also after its pod was deleted', async () => {
  const from = { client: stage.client, namespace: stage.namespace, name: source.name } as PostgresTestCluster;
  ledger = await openPostgresLedger({ cluster: from });
  await until('writes acknowledged', async () => expect(await ledger.count()).toBeGreaterThan(200));
  const beganAt = performance.now();
  cluster = await stage.createPostgres('p', {
    storage: { size: '1Gi' },
    bootstrap: {
      importFrom: { host: source.name, user: 'importer', password: { name: source.secret }, tls: { mode: 'disable' } },
    },
  });
  await until('it follows', async () => expect(await cluster.ready()).toBe('False Following'));
  const tookMs = seconds(beganAt);
  const [first, ...others] = await cluster.pods();
  if (first === undefined) throw new Error('there is no member');
  expect(others).toEqual([]);
  await removeByName(stage.client, first, { gracePeriodSeconds: 0 });
  const log = await until('another pod goes on', async () => {
    const [next] = await cluster.pods();
    expect([undefined, first.metadata.uid]).not.toContain(next?.metadata.uid);
    // Until its own container runs, the kubelet may still answer with the log of the one before.
    const { state } = next?.status?.containerStatuses?.find(({ name }) => name === 'postgres') ?? {};
    expect(state?.running).toBeDefined();
    const text = await cluster.log('p-0-0');
    expect(text).toContain('import: following');
    return text;
  });
  expect(log, 'it was not copied again').not.toContain('import: copying');
  await until('it says so', async () => expect(await cluster.ready()).toBe('False Following'));
  await recordResult({ scenario: 'postgres: import, from creation to following', measured: tookMs });
});

test('it does not end while the source is written to', async () => {
  await ask(`verified@${await uid()}`);
  await until('it is refused', async () => expect(await cluster.ready()).toBe('False CutOverRefused'));
  expect(await said()).toContain('the source still writes');
  await ask(null);
  await until('it follows', async () => expect(await cluster.ready()).toBe('False Following'));
});

test('it is cut over once the source was stopped in order: nothing that was acknowledged is lost', async () => {
  ledger.mark();
  await ledger.pause();
  const stoppedAt = performance.now();
  await source.shutDown();
  const stopTook = seconds(stoppedAt);
  const askedAt = performance.now();
  await ask(`stopped@${await uid()}`);
  await ledger.move(undefined, cluster);
  const before = await ledger.count();
  await until('the new cluster acknowledges', async () => expect(await ledger.count()).toBeGreaterThan(before));
  const first = seconds(askedAt);
  await cluster.whole(3);
  const whole = seconds(askedAt);
  await prepareSoundness(cluster);
  await until('more writes', async () => expect(await ledger.count()).toBeGreaterThan(before + 100));
  const gapMs = await ledger.gapSinceMark();
  await ledger.pause();
  const lost = await ledger.lost();
  const acknowledged = await ledger.count();
  const names = (await cluster.status()).members?.map(({ name }) => name) ?? [];
  const { timelines, digests, damage } = await soundnessOf(cluster, names);
  const measured = `source stopped in ${stopTook}; from the request to the first write ${first}, to Ready with three members ${whole}`;
  await recordResult({ scenario: 'postgres: import, cut over', gapMs, acknowledged, lost: lost.length, measured });
  expect({ lost: lost.slice(0, 10), damage }).toEqual({ lost: [], damage: [] });
  expect([timelines.length, digests.length]).toEqual([1, 1]);
  expect((await cluster.object()).metadata.annotations?.[cutOverAnnotation]).toBeUndefined();
  expect(await cluster.sql('p-0-0', 'SHOW synchronous_standby_names')).toMatch(/^ANY 1/);
});
