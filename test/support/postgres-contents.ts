/**
 * Databases and users on a real server: what the controller would do with a resource, step by step, with Secrets in memory. The operator's
 * role is made as a new cluster makes it.
 */
import type { Cluster } from '../../src/api/cluster.ts';
import type { KubeObject } from '../../src/api/object.ts';
import { validateCluster } from '../../src/api/validate.ts';
import type { Assessment, KindHandler } from '../../src/engine/engine.ts';
import type { EngineContext } from '../../src/engine/engine-context.ts';
import { Refused } from '../../src/engine/refused.ts';
import { postgresContents } from '../../src/engines/postgres/contents.ts';
import { postgresKind } from '../../src/engines/postgres/kind/schema.ts';
import { noChildren } from '../../src/resources/children.ts';
import { filledSecret } from '../../src/resources/secret.ts';
import { sleep, systemClock } from '../../src/system/clock.ts';
import { dialTcp as dialed } from '../../src/system/dial.ts';
import { openAuthority } from './etcd-certificates.ts';
import { initialise, openHome, type PostgresProcess, startPostgres } from './postgres-process.ts';
import type { PostgresProgram } from './postgres-program.ts';

const namespace = 'apps';
const apiVersion = 'clusterwright.dev/v1alpha1';

export interface Contents {
  readonly server: PostgresProcess;
  readonly secrets: Map<string, Record<string, string>>;
  readonly target: Cluster;
  readonly io: EngineContext;
  /** Reconciles until nothing is left to do, or nothing helps. */
  settle(resource: Cluster, more?: Settle): Promise<Settled>;
  remove(resource: Cluster, target?: Cluster): Promise<Settled>;
  close(): Promise<void>;
}

export interface Settle {
  readonly peers?: readonly KubeObject[];
  readonly target?: Cluster;
  /** Stops after so many steps: as an operator that is killed. */
  readonly steps?: number;
}

export interface Settled {
  /** In words, in order. */
  readonly did: readonly string[];
  readonly reason: string;
  readonly message: string;
  readonly refused: readonly string[];
  readonly assessment: Pick<Assessment, 'plan'> & Partial<Assessment>;
}

export function contentResource(
  kind: 'PostgresDatabase' | 'PostgresUser',
  name: string,
  spec: object,
  metadata: object = {},
): Cluster {
  const object = {
    apiVersion,
    kind,
    metadata: {
      name,
      namespace,
      uid: `0000-${name}`,
      generation: 1,
      creationTimestamp: '2026-01-01T00:00:00Z',
      ...metadata,
    },
    spec: { cluster: { name: 'db' }, ...spec },
  };
  const handler = handlerOf(kind);
  const verdict = validateCluster(handler.kind, object, { namespace });
  if (!verdict.ok) throw new Error(JSON.stringify(verdict.violations));
  return verdict.cluster;
}

function handlerOf(kind: string): KindHandler {
  const handler = postgresContents.find((each) => each.kind.resource.kind === kind);
  if (handler === undefined) throw new Error(kind);
  return handler;
}

export async function openContents(program: PostgresProgram): Promise<Contents> {
  const home = openHome(program);
  const authority = openAuthority();
  const certificates = authority.issue(['127.0.0.1'], undefined, ['db-primary.apps.svc']);
  initialise(home, 'primary', '--locale=C.UTF-8');
  const server = await startPostgres(home, 'primary', {
    certificates,
    hba: [
      'hostssl all clusterwright 127.0.0.1/32 cert clientname=DN map=members',
      'hostssl all all 127.0.0.1/32 scram-sha-256',
    ],
    identities: ['members "O=members" clusterwright'],
  });
  await server.sql('CREATE ROLE clusterwright LOGIN CREATEROLE CREATEDB');
  await server.sql('GRANT pg_monitor, pg_signal_backend, pg_checkpoint TO clusterwright');
  const secrets = new Map<string, Record<string, string>>([['db-operator-tls', certificates]]);
  const signal = new AbortController().signal;
  const io = {
    dial: (host: string, _port: number, also: AbortSignal) => dialed(host, server.port, also),
    secret: (name: string) => Promise.resolve(secrets.get(name)),
    secretRefused: () => undefined,
    signal,
    now: () => Date.now(),
    sleep: (ms: number, until?: AbortSignal) => sleep(systemClock, ms, until),
  } as unknown as EngineContext;
  const target = targetOf({});

  async function act(
    assessment: Pick<Assessment, 'plan' | 'act'>,
    limit: number,
    did: string[],
    refused: string[],
  ): Promise<void> {
    for (const step of assessment.plan.steps.slice(0, limit)) {
      if (step.type === 'create') {
        const { name } = step.object.metadata;
        did.push(`create Secret ${name}`);
        secrets.set(
          name,
          filledSecret(
            step.object,
            Object.fromEntries((step.generate ?? []).map(({ key }) => [key, `generated-for-${name}`])),
          ),
        );
      } else if (step.type === 'act') {
        did.push(step.summary);
        await assessment.act(step.action).catch((error: unknown) => {
          if (!(error instanceof Refused)) throw error;
          refused.push(error.message);
        });
      }
    }
  }

  const rounds = async (
    next: () => Promise<Pick<Assessment, 'plan' | 'act'> & Partial<Assessment>>,
    limit = Number.POSITIVE_INFINITY,
  ) => {
    const [did, refused]: [string[], string[]] = [[], []];
    let assessment = await next();
    for (let round = 0; round < 6 && assessment.plan.steps.length > 0 && did.length < limit; round++) {
      await act(assessment, limit - did.length, did, refused);
      if (refused.length > 0 || did.length >= limit) break;
      assessment = await next();
    }
    const { outcome } = assessment.plan;
    const { reason, message } = outcome.state === 'settled' ? { reason: 'settled', message: '' } : outcome;
    return { did, reason, message, refused, assessment };
  };

  return {
    server,
    secrets,
    target,
    io,
    settle: (resource, { peers = [], target: other = target, steps } = {}) =>
      rounds(() => handlerOf(resource.kind).assess(resource, noChildren, io, other, peers), steps),
    remove: (resource, other = target) => {
      const going = { ...resource, metadata: { ...resource.metadata, deletionTimestamp: '2026-01-02T00:00:00Z' } };
      return rounds(async () => {
        const removal = await handlerOf(resource.kind).removal?.(going, io, other);
        if (removal === undefined) throw new Error('nothing is removed');
        return removal;
      });
    },
    async close() {
      await server.stop();
      home.remove();
      authority.close();
    },
  };
}

/** A cluster that runs. */
export function targetOf(spec: object, status: object = {}): Cluster {
  const object = { apiVersion, kind: 'PostgresCluster', metadata: { name: 'db', namespace, uid: 'db' }, spec };
  const verdict = validateCluster(postgresKind, object, { namespace });
  if (!verdict.ok) throw new Error(JSON.stringify(verdict.violations));
  const members = [{ name: 'db-0-0', role: 'primary', ready: true, address: '127.0.0.1' }];
  return { ...verdict.cluster, status: { primary: 'db-0-0', members, ...status } };
}
