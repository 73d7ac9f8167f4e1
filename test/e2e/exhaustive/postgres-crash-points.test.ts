/**
 * Every write of the creation and of the scaling of a PostgresCluster is a crash point: the operator is killed after each, and the
 * cluster ends as it does without crashes, with every commit that clients were promised.
 */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { configAnnotation } from '../../../src/engines/postgres/names.ts';
import { childrenAtRest, killedAfterEveryWrite, reportCrashes, undisturbed } from '../../support/crash-points.ts';
import { keepPostgresEvidence } from '../../support/postgres-evidence.ts';
import { openPostgresLedger } from '../../support/postgres-ledger.ts';
import { underPostgresWriters } from '../../support/postgres-scenario.ts';
import type { PostgresTestCluster } from '../../support/postgres-test-cluster.ts';
import { openStage, type Stage } from '../../support/stage.ts';

let stage: Stage;
let steady: PostgresTestCluster;
let shaken: PostgresTestCluster;

beforeAll(async () => {
  stage = await openStage('postgres-crashes');
});
afterEach((context) => keepPostgresEvidence(context, stage, shaken));
afterAll(() => stage.close());

const whole = (cluster: PostgresTestCluster, size: number) => () => cluster.whole(size, { withinMs: 0 });

/** The digest of a configuration, in which the name of the cluster is. */
const digest = new RegExp(`("${configAnnotation}":)"[0-9a-f]+"`, 'g');

async function atRest(cluster: PostgresTestCluster): Promise<Record<string, unknown>> {
  const found = JSON.stringify(await childrenAtRest(stage, cluster));
  return JSON.parse(found.replaceAll(digest, '$1"DIGEST"')) as Record<string, unknown>;
}

test('killed after every write it makes, the operator forms the same cluster', async () => {
  steady = await stage.createPostgres('steady', { instances: 2 });
  const without = await undisturbed(stage, whole(steady, 2));
  shaken = await stage.createPostgres('shaken', { instances: 2 });
  const crashed = await killedAfterEveryWrite(stage, whole(shaken, 2));
  await reportCrashes('postgres of 2', without, crashed);
  expect(without.length, without.join('\n')).toBeLessThan(60);
  expect(await atRest(shaken)).toEqual(await atRest(steady));
  expect(crashed.length).toBeGreaterThanOrEqual(20);
});

test('it scales it from two to three and back to two, and no acknowledged commit is lost', async () => {
  const without: string[] = [];
  const crashed: string[] = [];
  const scenario = { cluster: shaken, ledger: await openPostgresLedger({ cluster: shaken }) };
  await underPostgresWriters('2 to 3 to 2, every write a crash', scenario, async () => {
    for (const size of [3, 2] as const) {
      await steady.change({ instances: size });
      without.push(...(await undisturbed(stage, whole(steady, size))));
      await shaken.change({ instances: size });
      crashed.push(...(await killedAfterEveryWrite(stage, whole(shaken, size))));
    }
    return undefined;
  });
  await reportCrashes('postgres 2→3→2', without, crashed);
  // A planner that asks for the same thing again and again shows here.
  expect(without.length, without.join('\n')).toBeLessThan(60);
  expect(await atRest(shaken)).toEqual(await atRest(steady));
});
