/** What `clusterwright plan` prints of a PostgresCluster, with and without a Kubernetes cluster, is what the operator then does. */
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { apiVersionOf, type KubeObject } from '../../../src/api/object.ts';
import { isNotFound } from '../../../src/runtime/api-error.ts';
import {
  atRestIn,
  type Change,
  carriedOutIn,
  changedAsPrinted,
  managedObjects,
  type PlannedCluster,
  shownOf,
  titleOf,
} from '../../support/carried-out.ts';
import type { OperatorProcess } from '../../support/operator-process.ts';
import { keepPostgresEvidence } from '../../support/postgres-evidence.ts';
import { type PostgresTestCluster, postgresTestCluster } from '../../support/postgres-test-cluster.ts';
import { heardPlan, planned, printedPlans } from '../../support/printed-plan.ts';
import { postgresClusters } from '../../support/resources.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

let stage: Stage;
let operator: OperatorProcess;
let cluster: PostgresTestCluster;

beforeAll(async () => {
  stage = await openStage('postgres-plan');
  operator = await stage.startOperator();
});
afterEach((context) => keepPostgresEvidence(context, stage, cluster));
afterAll(() => stage.close());

const subject = 'PostgresCluster/p';

test('an offline plan holds the objects that a new cluster gets', async () => {
  cluster = postgresTestCluster(stage.client, stage.namespace, 'p');
  const object = {
    apiVersion: apiVersionOf(postgresClusters),
    kind: postgresClusters.kind,
    metadata: { name: 'p', namespace: stage.namespace },
    spec: {},
  };
  const file = join(dirname(stage.kubeconfig), 'p.yaml');
  await writeFile(file, JSON.stringify(object));
  const [plan] = await printedPlans(stage.kubeconfig, '--offline', file);
  if (plan === undefined) throw new Error('nothing was printed');
  // Against the Kubernetes cluster, as there is nothing yet, it is the same.
  expect((await printedPlans(stage.kubeconfig, file)).map(planned)).toEqual([planned(plan)]);
  await stage.client.create(object);
  await carriedOutIn(stage, plan, { ...object, metadata: { name: 'p', generation: 1 } } as KubeObject);
  await cluster.whole(3, { withinMs: 240_000 });
  await atRestIn(stage, subject);
  const { uid = '' } = (await cluster.object()).metadata;
  // A plan without a cluster knows no UID.
  const live = JSON.parse(JSON.stringify(await managedObjects(stage, 'p')).replaceAll(uid, 'p')) as KubeObject[];
  const shown = plan.plan.steps.flatMap((step) =>
    step.type === 'create' || step.type === 'issue' ? [step.object] : [],
  );
  expect(live.map(titleOf).sort()).toEqual(shown.map(titleOf).sort());
  for (const one of shown) expect(live.find((other) => titleOf(other) === titleOf(one))).toMatchObject(shownOf(one));
});

const changed = (change: Change) => changedAsPrinted(stage, cluster as unknown as PlannedCluster, change);

test('a setting that needs no restart', async () => {
  const before = (await cluster.pods()).map(({ metadata }) => metadata.uid);
  const { follows } = await changed({ parameters: { work_mem: '8MB' } });
  expect(follows.join()).not.toContain('restart');
  await cluster.whole(3);
  expect((await cluster.pods()).map(({ metadata }) => metadata.uid)).toEqual(before);
});

test('fewer members, and access from outside', async () => {
  await changed({ instances: 2 });
  await cluster.whole(2);
  await changed({ access: { primary: { type: 'NodePort' } } });
  await cluster.whole(2);
});

test('its deletion, with its data', async () => {
  await changed({ deletionPolicy: 'Delete' });
  await atRestIn(stage, subject);
  // Nobody carries it out while no operator runs.
  await operator.stop();
  await cluster.remove();
  const object = await cluster.object();
  const plan = await heardPlan(stage.kubeconfig, subject);
  expect(plan.follows.join()).toMatch(/once no process is left, the data is deleted: PersistentVolumeClaim/);
  operator = await stage.startOperator();
  await carriedOutIn(stage, plan, object);
  await until(`${subject} gone`, async () => {
    expect(await cluster.object().then(() => false, isNotFound)).toBe(true);
  });
});
