/** A Patroni in memory in each pod, which says of its member exactly what a situation tells of it. */
import type { Cluster } from '../../src/api/cluster.ts';
import type { EngineContext, HttpRequest, HttpResponse } from '../../src/engine/engine-context.ts';
import type { PostgresSpec } from '../../src/engines/postgres/kind/schema.ts';
import { answering, type LiveMember, type PostgresObserved } from '../../src/engines/postgres/observe/observed.ts';
import { authorityWanted, sides } from '../../src/engines/postgres/resources/certificates.ts';
import { issuing } from '../../src/plan/issuance.ts';
import { sleep } from '../../src/system/clock.ts';
import { blankAccounts, blankClaims } from './blank-claims.ts';
import { carryOut, type Secrets, seenIn } from './issued-secrets.ts';
import { answerAs, tlsPostgres } from './tls-postgres.ts';
import { VirtualClock } from './virtual-clock.ts';

export interface ScriptedPatroni {
  readonly io: EngineContext;
  readonly clock: VirtualClock;
  /** `METHOD ADDRESS PATH BODY` of every call. */
  readonly asked: string[];
}

/** In place of what the situation says; `hang` never answers. */
export type Script = (request: HttpRequest) => HttpResponse | Error | 'hang' | undefined;

/** Every certificate of the cluster as it has just been made, and the Secret of the application. */
export function postgresSecrets(cluster: Cluster<PostgresSpec>, now: number): Secrets {
  const secrets: Secrets = {
    'db-app': { password: 'correct-horse-battery-staple' },
    'db-pooler-login': { password: 'swimming-pool-attendant' },
    'db-exporter-login': { password: 'thermometer-reading' },
  };
  for (const side of sides) {
    const wanted = authorityWanted(cluster, side);
    const steps = issuing(wanted, seenIn(wanted, {}), { areNone: true, areUpToDate: true }, now) ?? [];
    carryOut(steps, secrets, now);
  }
  return secrets;
}

/** `dial`: by default PostgreSQL of each member lets everybody in, and says what the situation tells of it. */
export function scriptedPatroni(
  observed: PostgresObserved,
  secrets: Secrets,
  script: Script = () => undefined,
  dial: EngineContext['dial'] = async (host, port) => {
    const member = answering(observed.members).find(({ address }) => address === host);
    if (member?.server === undefined) throw new Error(`connect ECONNREFUSED ${host}:${port}`);
    return tlsPostgres(secrets, answerAs(member, observed.application)).connect();
  },
): ScriptedPatroni {
  const clock = new VirtualClock();
  const stopping = new AbortController();
  const asked: string[] = [];
  const io: EngineContext = {
    signal: stopping.signal,
    now: () => observed.at,
    sleep: (ms, signal) => sleep(clock, ms, AbortSignal.any([stopping.signal, ...(signal ? [signal] : [])])),
    secret: async (name) => secrets[name],
    secretNow: () => Promise.resolve(undefined),
    secretRefused: () => undefined,
    secretOutdated: () => undefined,
    claim: (name) => blankClaims('apps', name, stopping.signal),
    serviceAccount: (name) => blankAccounts('apps', name, stopping.signal),
    dial,
    async exchange(request) {
      asked.push(`${request.method} ${request.host}:${request.port} ${request.path} ${request.body ?? ''}`.trimEnd());
      const scripted = script(request);
      if (scripted instanceof Error) throw scripted;
      if (scripted === 'hang') {
        return new Promise((_, reject) => {
          request.signal.addEventListener('abort', () => reject(request.signal.reason as Error), { once: true });
        });
      }
      return scripted ?? answerOf(observed, request);
    },
  };
  return { io, clock, asked };
}

const json = (status: number, body: unknown): HttpResponse => ({ status, body: JSON.stringify(body) });

function answerOf({ members, config }: PostgresObserved, { host, path, method }: HttpRequest): HttpResponse {
  const member = answering(members).find(({ address }) => address === host);
  if (member === undefined) throw new Error(`connect ECONNREFUSED ${host}`);
  if (method !== 'GET') return { status: 200, body: 'done' };
  if (path === '/config') return config === undefined ? { status: 502, body: '' } : json(200, config);
  if (path === '/patroni') return json(member.postgres === 'running' ? 200 : 503, ofMember(member));
  return { status: 404, body: 'Not Found' };
}

/** As Patroni writes it: what is false is left out. */
function ofMember(member: LiveMember): object {
  const { version = '0.0', role, systemId, timeline, lsn } = member;
  const [major, minor] = version.split('.').map(Number);
  const location = role === 'primary' ? { location: lsn } : { received_location: lsn, replayed_location: lsn };
  return {
    state: member.postgres,
    role,
    ...(member.version === undefined ? {} : { server_version: (major ?? 0) * 10_000 + (minor ?? 0) }),
    ...(systemId === undefined ? {} : { database_system_identifier: systemId }),
    ...(timeline === undefined ? {} : { timeline }),
    ...(lsn === undefined ? {} : { xlog: location }),
    ...(member.isStreaming ? { replication_state: 'streaming' } : {}),
    ...(member.isSynchronous ? { quorum_standby: true } : {}),
    ...(member.restartPending ? { pending_restart: true } : {}),
    ...(member.isUnlocked ? { cluster_unlocked: true } : {}),
    replication: member.standbys.map((name) => ({ application_name: name, state: 'streaming' })),
  };
}
