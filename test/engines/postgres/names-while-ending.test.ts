/** A PostgresCluster whose spec is not valid, and which is deleted and waits for its last backup, keeps the names in its certificates. */
import { expect, it } from 'vitest';
import type { Cluster } from '../../../src/api/cluster.ts';
import type { KubeObject } from '../../../src/api/object.ts';
import { postgres } from '../../../src/engines/postgres/index.ts';
import { defineEngine } from '../../../src/jobs/handlers.ts';
import type { Step } from '../../../src/plan/plan.ts';
import { deletionSpec } from '../../../src/runtime/partial-spec.ts';
import type { Secrets } from '../../support/issued-secrets.ts';
import { postgresCluster, postgresWorld, type Story } from '../../support/postgres-situation.ts';
import { postgresSecrets, type ScriptedPatroni, scriptedPatroni } from '../../support/scripted-patroni.ts';

const handler = defineEngine(postgres).handler('agent:1');
/** The clock of TLS is that of the machine. */
const now = Date.now();
const dayMs = 24 * 60 * 60_000;

/** What is not valid stands beside `spec`. */
function written(spec: object = {}): KubeObject {
  const { metadata, ...rest } = postgresCluster();
  const creationTimestamp = new Date(now - 90 * dayMs).toISOString();
  return { ...rest, metadata: { ...metadata, creationTimestamp }, spec: { instances: 99, ...spec } };
}

interface Kept {
  readonly steps: readonly string[];
  readonly cluster: Cluster;
  readonly plan: readonly Step[];
  readonly patroni: ScriptedPatroni;
}

async function kept(secrets: Secrets, story: Story = {}, spec: object = {}): Promise<Kept> {
  const { children, observed } = postgresWorld({ ...story, children: started, observed: { at: now } });
  const patroni = scriptedPatroni(observed, secrets);
  const cluster = deletionSpec(handler.kind, written(spec));
  if (cluster === undefined) throw new Error('it is illegible');
  const plan = (await handler.maintenance?.plan(cluster, patroni.io, children)) ?? [];
  return { steps: plan.map(words), cluster, plan, patroni };
}

/** Its pods are as old as the cluster. */
function started(objects: readonly KubeObject[]): readonly KubeObject[] {
  const startTime = new Date(now - 90 * dayMs).toISOString();
  return objects.map((object) =>
    object.kind === 'Pod' ? { ...object, status: { ...(object.status as object), startTime } } : object,
  );
}

function words(step: Step): string {
  if (step.type === 'act') return step.summary;
  return step.type === 'issue' ? `${step.object.metadata.name}: ${step.issue.what}` : step.type;
}

const made = (at: number, spec: object = {}): Secrets => postgresSecrets(postgresCluster(spec), at);

it.each([{ access: { names: ['db.example.com'] } }, { pooler: {} }])(
  '%j: fresh certificates are not issued again',
  async (spec) => {
    expect((await kept(made(now, spec), { spec }, spec)).steps.filter((step) => step.endsWith(': leaf'))).toEqual([]);
  },
);
