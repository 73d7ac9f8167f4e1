/** Certificates of a PostgresCluster whose spec is not valid: they are renewed, and members read them. */
import { describe, expect, it } from 'vitest';
import type { Cluster } from '../../../src/api/cluster.ts';
import type { KubeObject } from '../../../src/api/object.ts';
import { postgres } from '../../../src/engines/postgres/index.ts';
import type { LiveMember } from '../../../src/engines/postgres/observe/observed.ts';
import { defineEngine } from '../../../src/jobs/handlers.ts';
import type { Step } from '../../../src/plan/plan.ts';
import { deletionSpec, maintenanceSpec } from '../../../src/runtime/partial-spec.ts';
import type { Secrets } from '../../support/issued-secrets.ts';
import { postgresCluster, postgresWorld, type Story } from '../../support/postgres-situation.ts';
import { postgresSecrets, type ScriptedPatroni, scriptedPatroni } from '../../support/scripted-patroni.ts';

const handler = defineEngine(postgres).handler('agent:1');
/** The clock of TLS is that of the machine. */
const now = Date.now();
const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

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

async function kept(
  secrets: Secrets,
  story: Story = {},
  spec: object = {},
  read: (object: KubeObject) => Cluster | undefined = (object) => maintenanceSpec(handler, object),
): Promise<Kept> {
  const { children, observed } = postgresWorld({ ...story, children: started, observed: { at: now } });
  const patroni = scriptedPatroni(observed, secrets);
  const cluster = read(written(spec));
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

/** The members have read their files so long ago. */
function readAgo(ms: number): Story {
  const [first] = postgresWorld().observed.members;
  const { server } = first as LiveMember;
  if (server?.state !== 'seen') throw new Error('it does not say');
  return { members: { all: { server: { ...server, facts: { ...server.facts, configAgeMs: ms } } } } };
}

const made = (at: number, spec: object = {}): Secrets => postgresSecrets(postgresCluster(spec), at);
const leaves = ['server-tls', 'replication-tls', 'rewind-tls', 'operator-tls', 'patroni-tls', 'patroni-operator-tls'];

describe('where the rest of the spec is not valid', () => {
  it('what is due is renewed', async () => {
    const { steps } = await kept(made(now - 61 * dayMs));
    expect(steps).toEqual(leaves.map((leaf) => `db-${leaf}: leaf`));
  });

  it('what is not due is left alone', async () => {
    expect((await kept(made(now - 30 * dayMs), readAgo(minuteMs))).steps).toEqual([]);
  });

  it('nothing is founded: nobody was asked who runs', async () => {
    expect((await kept({})).steps).toEqual([]);
  });

  it('names that the spec adds stay in the certificate, and the pooler keeps its own', async () => {
    const spec = {
      access: { names: ['db.example.com'] },
      pooler: { image: 'pooler:1' },
    };
    const secrets = made(now - 30 * dayMs, spec);
    expect((await kept(secrets, readAgo(minuteMs), spec)).steps).toEqual([]);
    expect((await kept(made(now - 61 * dayMs, spec), {}, spec)).steps).toContain('db-pooler-tls: leaf');
  });

  it.each([{ access: { names: 'db.example.com' } }, { pooler: 3 }, { tls: { server: {} } }, { paused: true }])(
    'but for %j, where names or CAs would be wrong, or nothing is to be changed',
    (spec) => {
      expect(maintenanceSpec(handler, written(spec))).toBeUndefined();
    },
  );

  it('members that have not read what was renewed are told to, and Patroni hears it', async () => {
    const secrets = made(now - 10 * minuteMs);
    const { steps, plan, cluster, patroni } = await kept(secrets, readAgo(60 * minuteMs));
    expect(steps).toEqual([0, 1, 2].map((n) => `have db-${n}-0 read its renewed certificates`));
    for (const step of plan)
      if (step.type === 'act') await handler.maintenance?.act?.(step.action, cluster, patroni.io);
    const told = patroni.asked.filter((line) => line.startsWith('POST'));
    expect(told).toEqual([0, 1, 2].map((n) => `POST 10.0.0.${n}:8008 /reload {}`));
  });

  it.each([
    ['the kubelet may have yet to bring the files', 2 * minuteMs, 60 * minuteMs],
    ['they have been read since', 10 * minuteMs, 5 * minuteMs],
  ])('nobody is told where %s', async (_, renewedAgo, readBefore) => {
    expect((await kept(made(now - renewedAgo), readAgo(readBefore))).steps).toEqual([]);
  });
});

it.each([{ access: { names: ['db.example.com'] } }, { pooler: {} }])(
  'while the last backup of a deleted cluster is waited for, fresh certificates keep their names: %j',
  async (spec) => {
    const ending = (object: KubeObject): Cluster | undefined => deletionSpec(handler.kind, object);
    const { steps } = await kept(made(now, spec), { spec }, spec, ending);
    expect(steps.filter((step) => step.endsWith(': leaf'))).toEqual([]);
  },
);
