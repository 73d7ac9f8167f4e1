/**
 * etcd's image, simulated: from the start of the process, by what its environment and its volume say, to its end.
 *
 * What is not there: snapshots (a member that is behind gets the log), leases, watches, transactions, history of keys
 * beside its size, TLS, and a disk that is slow or full.
 */
import { discoveryFailed } from '../../support/etcd-last-line.ts';
import type { Images, Program, ProgramContext, RunningProgram } from '../world/workload.ts';
import { restoring } from './backup.ts';
import { answerTo } from './calls.ts';
import { checksItself, findsOthers } from './corruption.ts';
import { serveGateway } from './gateway.ts';
import { addressIn, type Host } from './host.ts';
import { Member } from './member.ts';
import { serveMetrics } from './metrics.ts';
import { Processes } from './processes.ts';
import { startOn } from './start.ts';

const clientPort = 2379;
const metricsPort = 2381;
/** From its start until it has read its data. */
const loadMs = 150;
/** How long it waits for others that start as well, to compare data with them. */
const comparisonMs = 7_000;
const retryMs = 500;
/** How long it looks for its own address. */
const addressMs = 30_000;

export interface SimulatedEtcd {
  readonly images: Images;
  readonly processes: Processes;
}

/** One for each simulated world. */
export function simulatedEtcd(): SimulatedEtcd {
  const processes = new Processes();
  const images: Images = (reference) => {
    const version = /etcd:v?(\d+\.\d+\.\d+)$/.exec(reference)?.[1];
    return version === undefined ? undefined : programOf(version, processes);
  };
  return { images, processes };
}

export function programOf(version: string, processes: Processes): Program {
  return (context) =>
    context.command[0]?.endsWith('/etcdutl') === true ? restoring(context) : new Container(version, processes, context);
}

class Container implements RunningProgram {
  readonly #context: ProgramContext;
  readonly #host: Host;
  readonly #closers: (() => void)[] = [];
  #member: Member | undefined;
  #isReady = false;
  #hasEnded = false;
  readonly #held: (() => void)[] = [];

  constructor(version: string, processes: Processes, context: ProgramContext) {
    this.#context = context;
    const { ip, env, network, time, random } = context;
    this.#host = {
      ...{ ip, version, env, network, time, random, processes },
      volume: () => context.volume((env.ETCD_DATA_DIR ?? '').replace(/\/[^/]*$/, '')),
      reachable(url) {
        const address = addressIn(network, url);
        const found = address === undefined ? undefined : processes.at(address);
        return found?.servesPeers === true && network.reaches(ip, found.ip) ? found : undefined;
      },
      exit: (code, lastWords) => this.#exit(code, lastWords),
    };
    this.#listen();
    void this.#run();
  }

  #listen(): void {
    const { network, ip, time } = this.#context;
    const streams = new Set<{ destroy(): void }>();
    const close = network.listen(ip, clientPort, (stream) => {
      streams.add(stream);
      stream.on('close', () => streams.delete(stream));
      serveGateway(stream, async ({ path, body, token }) => {
        await this.#serving();
        const member = this.#member;
        return member === undefined ? undefined : answerTo(path, { member, body, token, time });
      });
    });
    const closeMetrics = network.listen(ip, metricsPort, (stream) => {
      streams.add(stream);
      stream.on('close', () => streams.delete(stream));
      serveMetrics(stream, () => this.#member);
    });
    this.#closers.push(close, closeMetrics, () => {
      for (const stream of [...streams]) stream.destroy();
    });
  }

  /** Until the others know where clients reach it, and while the process stands still, nobody is answered. */
  async #serving(): Promise<void> {
    while (!this.#isReady || this.#member?.isFrozen === true || this.#hasEnded) {
      await new Promise<void>((resolve) => this.#held.push(resolve));
    }
  }

  release(): void {
    for (const go of this.#held.splice(0)) go();
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#context.time.after(ms, () => {
        if (!this.#hasEnded) resolve();
      });
    });
  }

  async #run(): Promise<void> {
    const { time, env, ip, network } = this.#context;
    const { processes } = this.#host;
    const began = time.monotonic();
    await this.#pause(loadMs);
    while (addressIn(network, env.ETCD_INITIAL_ADVERTISE_PEER_URLS ?? '') !== ip) {
      if (time.monotonic() - began > addressMs) return this.#exit(1, 'failed to resolve URL Host');
      await this.#pause(retryMs);
    }
    const start = startOn(this.#host);
    if ('lastWords' in start) return this.#exit(1, start.lastWords);
    const member = new Member(this.#host, start.disk);
    this.#member = member;
    member.released = () => this.release();
    processes.add(member);
    if (start.origin === 'resumed') await this.#compare(member);
    if (start.origin === 'resumed' && checksItself(env) && findsOthers(member)) {
      const own = BigInt(member.id).toString(16);
      return this.#exit(1, `${own} found data inconsistency with peers`);
    }
    processes.onStart(member, start.origin);
    member.start();
    await this.#publish(member);
    this.#isReady = true;
    this.release();
  }

  /** Others that are starting, too, accept the question and do not answer it. */
  async #compare(member: Member): Promise<void> {
    const { time, network } = this.#context;
    const { processes } = this.#host;
    const until = time.monotonic() + comparisonMs;
    const peers = [...member.state.members.values()].filter(({ id }) => id !== member.id);
    const isStarting = (): boolean =>
      peers.some(({ peerUrls }) => {
        const process = processes.at(addressIn(network, peerUrls[0] ?? '') ?? '');
        return process !== undefined && !process.servesPeers && network.reaches(member.ip, process.ip);
      });
    while (isStarting() && time.monotonic() < until) await this.#pause(retryMs);
  }

  async #publish(member: Member): Promise<void> {
    const { env } = this.#context;
    const clientUrls = (env.ETCD_ADVERTISE_CLIENT_URLS ?? '').split(',');
    const change = { type: 'publish', id: member.id, name: env.ETCD_NAME ?? '', clientUrls } as const;
    while ((await member.propose(change)) !== undefined) await this.#pause(retryMs);
  }

  exec(): Promise<boolean> {
    // The image has no shell.
    return Promise.resolve(false);
  }

  async get(port: number, path: string): Promise<boolean> {
    const member = this.#member;
    if (port !== metricsPort || member === undefined || !member.servesPeers) return false;
    if (member.isFrozen) return new Promise(() => undefined);
    if (path.split('?')[0] === '/livez') return true;
    // A learner answers no linearizable question, not even its own.
    if (path !== '/readyz' || member.own?.isLearner === true) return false;
    if (member.state.alarms.some(({ alarm }) => alarm === 'CORRUPT')) return false;
    return member.isCurrent || (await member.current()) === undefined;
  }

  terminate(): void {
    if (this.#member?.servesPeers !== true) this.#exit(0);
    else if (!this.#member.isFrozen) this.#member.terminate();
  }

  kill(): void {
    this.#end();
  }

  #exit(code: number, lastWords?: string): void {
    if (this.#hasEnded) return;
    this.#end();
    this.#context.exit(code, lastWords === undefined ? undefined : discoveryFailed(lastWords));
  }

  #end(): void {
    this.#hasEnded = true;
    this.#member?.end();
    for (const close of this.#closers) close();
  }
}
