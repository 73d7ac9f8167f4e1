/**
 * TLS on real servers: the operator pass by pass, with Secrets and a clock that a test sets; pods whose files are brought when the test says so,
 * by the script that pods have; and clients that connect anew all the time.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import type { Cluster } from '../../src/api/cluster.ts';
import { mergeConditions } from '../../src/api/condition.ts';
import type { KubeObject } from '../../src/api/object.ts';
import type { Values } from '../../src/certificates/facts.ts';
import { issued, sourceOf } from '../../src/certificates/issue.ts';
import type { EngineContext } from '../../src/engine/engine-context.ts';
import { Unanswered } from '../../src/engine/within.ts';
import { actRedis } from '../../src/engines/redis/act/act.ts';
import type { RedisAction } from '../../src/engines/redis/action.ts';
import { type RedisConnection, redisConnection } from '../../src/engines/redis/client/connection.ts';
import type { RedisSpec, RedisSpecInput } from '../../src/engines/redis/kind/schema.ts';
import { observeRedis } from '../../src/engines/redis/observe/observe.ts';
import { situationOf } from '../../src/engines/redis/observe/situation.ts';
import { planRedis } from '../../src/engines/redis/plan/plan.ts';
import { scripts } from '../../src/engines/redis/resources/scripts.ts';
import { redisStatus } from '../../src/engines/redis/status.ts';
import type { Plan } from '../../src/plan/plan.ts';
import { stored } from '../../src/testing/stored-object.ts';
import { password, type Stage } from '../faults/redis/conformance/stage.ts';
import { realContext } from './real-context.ts';
import type { RedisProgram, ServerProgram } from './redis-program.ts';
import { nodeAddress, redisWorld, sentinelAddress } from './redis-situation.ts';

const own = 'pAsSwOrDoFtHeClUsTeR';

const within = (folder: string): string[] => [
  'unshare',
  '-rm',
  '/bin/sh',
  '-c',
  'mount -t tmpfs none /run && mkdir /run/redis && mount --bind "$0" /run/redis && exec "$@"',
  folder,
];

/** A server can have a `/run/redis` of its own. */
export const isMountPossible = spawnSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'none', '/run']).status === 0;

/** The folders of pods that servers and scripts share. */
export class PodFolders {
  readonly #home = mkdtempSync(join(tmpdir(), 'redis-tls-'));

  #at(...path: readonly string[]): string {
    return join(this.#home, ...path);
  }

  program({ server }: ServerProgram, member: string): RedisProgram {
    mkdirSync(this.#at(member, 'run'), { recursive: true });
    return [...within(this.#at(member, 'run')), ...server] as unknown as RedisProgram;
  }

  /** What a kubelet and the readiness probe do. */
  bring(member: string, secret: Values | undefined): void {
    if (secret === undefined) return;
    const mounted = this.#at(member, 'mounted');
    mkdirSync(mounted, { recursive: true });
    for (const [name, text] of Object.entries(secret)) writeFileSync(join(mounted, name), text);
    const script = `set -eu\n${scripts['tls.sh'].replaceAll('/run/redis', this.#at(member, 'run'))}\nstage_certificate`;
    execFileSync('/bin/sh', ['-c', script], { env: { PATH: process.env.PATH, TLS_DIR: mounted } });
  }

  remove(): void {
    rmSync(this.#home, { recursive: true, force: true, maxRetries: 10 });
  }
}

export interface TlsClusterOptions {
  readonly stage: Stage;
  readonly folders: PodFolders;
  readonly server: ServerProgram;
  readonly nodes: readonly string[];
  readonly sentinels: readonly string[];
  readonly spec: RedisSpecInput;
}

export class TlsOperator {
  spec: RedisSpecInput;
  /** Certificates are tried by the clock of the machine, too: so a first one can be due for renewal today. */
  now = Date.now() - 61 * 24 * 3_600_000;
  readonly secrets: Record<string, Values> = {
    'db-auth': { password },
    'db-internal': { password: own },
  };
  readonly told: string[] = [];
  /** The ConfigMap for clients, by its last word. */
  serverCa = '';
  status: Cluster<RedisSpec>['status'];
  readonly #options: TlsClusterOptions;
  #isSettled = false;
  #written: readonly KubeObject[] = [];

  constructor(options: TlsClusterOptions) {
    this.#options = options;
    this.spec = options.spec;
  }

  get ready(): string {
    const ready = this.status?.conditions?.find(({ type }) => type === 'Ready');
    return `${ready?.reason}: ${ready?.message}`;
  }

  /** Everything is as the spec says, and nothing is under way. */
  get isAtRest(): boolean {
    return this.#isSettled && this.ready.startsWith('AllMembersReady');
  }

  has(type: string): string | undefined {
    return this.status?.conditions?.find((one) => one.type === type)?.reason;
  }

  get #io(): EngineContext {
    const secret: EngineContext['secret'] = async (name) => this.secrets[name];
    return { ...realContext({}), now: () => this.now, secret, secretNow: secret };
  }

  #world(): ReturnType<typeof redisWorld> {
    const { stage, nodes, sentinels, server } = this.#options;
    const places = new Map([
      ...nodes.map((member, i) => [nodeAddress(i), stage.address(member)] as const),
      ...sentinels.map((member, i) => [sentinelAddress(i), stage.address(member)] as const),
    ]);
    const moved = (object: KubeObject): KubeObject => {
      const { podIP, ...status } = (object.status ?? {}) as { podIP?: string };
      return podIP === undefined ? object : { ...object, status: { ...status, podIP: places.get(podIP) } };
    };
    const spec = { ...this.spec, engine: server.engine, version: server.version };
    const status = this.status === undefined ? {} : { status: this.status };
    return redisWorld({ spec, children: (objects) => [...objects.map(moved), ...this.#written], ...status });
  }

  async pass(): Promise<Plan> {
    const { cluster, children } = this.#world();
    const situation = situationOf(cluster, children, await observeRedis(cluster, children, this.#io));
    const plan = planRedis(situation);
    const { conditions } = redisStatus(situation, plan);
    for (const step of plan.steps) {
      if (step.type === 'act') {
        this.told.push(step.summary);
        if (!(await this.#hasActed(step.action, cluster))) break;
      } else if (step.type === 'issue') {
        const { name } = step.object.metadata;
        this.told.push(`issue ${name}: ${step.reason}`);
        const source = this.secrets[sourceOf(step.issue) ?? ''];
        this.secrets[name] = issued(step.issue, { own: this.secrets[name], source }, this.now);
      } else if ('object' in step && step.object.metadata.name === 'db-server-ca') {
        this.#written = [stored(step.object)];
        this.serverCa = (step.object.data as { 'ca.crt': string })['ca.crt'];
      }
    }
    this.#isSettled =
      plan.outcome.state === 'settled' && !plan.steps.some(({ type }) => type === 'act' || type === 'issue');
    const before = this.status?.conditions ?? [];
    const at = new Date(this.now).toISOString();
    this.status = { initialized: true, conditions: mergeConditions(before, conditions, 1, at) } as never;
    return plan;
  }

  /** A server may be too slow while others use the machine: the next pass does it again, as in the controller. */
  #hasActed(action: RedisAction, cluster: Cluster<RedisSpec>): Promise<boolean> {
    return actRedis(action, cluster, this.#io).then(
      () => true,
      (error: unknown) => {
        if (error instanceof Unanswered) return false;
        throw error;
      },
    );
  }

  /** A pass each minute: after a gap, times that count how long something has been so begin anew. */
  async watch(forMs: number): Promise<void> {
    const end = this.now + forMs;
    while (this.now < end) {
      this.now = Math.min(end, this.now + 60_000);
      await this.pass();
    }
  }

  /** Passes, and kubelets that bring what there is, unless they are late, until `isDone`. */
  async until(story: string, isDone: () => boolean, kubelets: 'late' | 'prompt' = 'prompt'): Promise<void> {
    const { folders, nodes } = this.#options;
    for (let pass = 0; pass < 40; pass++) {
      await this.pass();
      if (isDone()) return;
      for (const member of kubelets === 'late' ? [] : nodes) folders.bring(member, this.secrets['db-shown-tls']);
      await delay(100);
    }
    throw new Error(`${story}: ${this.ready}; ${this.told.slice(-5).join('; ')}`);
  }
}

export interface Shown {
  readonly serial: string;
  readonly answer: string;
}

function plainSocket(host: string, port: number): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port });
    socket.once('error', reject).once('connect', () => resolve(socket));
  });
}

/** As a client that checks the CA and the name of the Service. It stays connected until it is closed. */
export async function tlsClient(host: string, ca: string, login = password): Promise<Shown & RedisConnection> {
  const socket = await plainSocket(host, 6380);
  const stream = connectTls({ socket, ca, servername: 'db-primary.apps.svc' });
  await new Promise<void>((resolve, reject) => {
    stream.once('secureConnect', () => resolve()).once('error', reject);
    socket.once('close', () => reject(new Error('closed')));
  });
  const serial = stream.getPeerCertificate().serialNumber;
  const connection = redisConnection(stream);
  await connection.command('AUTH', login);
  const answer = String(await connection.command('PING'));
  return { ...connection, serial, answer };
}

/** Connects, logs in, writes where it may, and leaves, again and again. */
export class Visitors {
  readonly errors: string[] = [];
  readonly counts: Record<string, number> = {};
  readonly #rounds: Promise<void>[] = [];
  #hasEnded = false;

  begin(name: string, visit: () => Promise<void>): void {
    this.counts[name] = 0;
    this.#rounds.push(this.#round(name, visit));
  }

  async #round(name: string, visit: () => Promise<void>): Promise<void> {
    while (!this.#hasEnded) {
      await visit().then(
        () => {
          this.counts[name] = (this.counts[name] ?? 0) + 1;
        },
        (error: Error) => this.errors.push(`${name}: ${error.message}`),
      );
      await delay(20);
    }
  }

  async end(): Promise<void> {
    this.#hasEnded = true;
    await Promise.all(this.#rounds);
  }
}

export async function plainVisit(host: string, isWriter: boolean): Promise<void> {
  const connection = redisConnection(await plainSocket(host, 6379));
  try {
    await connection.command('AUTH', password);
    await connection.command(...(isWriter ? ['INCR', 'visits'] : ['PING']));
  } finally {
    connection.close();
  }
}

export async function tlsVisit(host: string, ca: string): Promise<void> {
  (await tlsClient(host, ca)).close();
}
