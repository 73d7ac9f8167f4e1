/**
 * The images that the builders put into pods, simulated: which program a container runs, from its first script to the
 * end of its server.
 *
 * What is not there, beside everything that nobody asks for: Sentinel's TILT, votes that cross each other on the wire,
 * eviction and expiry, a pause of more than writes, and copies whose length depends on the dataset.
 */
import type { Images, Program, ProgramContext, RunningProgram } from '../world/workload.ts';
import { DataNode } from './data-node.ts';
import { dataVolume } from './data-volume.ts';
import { parseConf, words } from './directives.ts';
import { briskly, type Host, type Pace, Processes } from './processes.ts';
import { redisCli } from './redis-cli.ts';
import { fenceLoop } from './scripts/fence.ts';
import { handOver } from './scripts/hand-over.ts';
import type { PodShell } from './scripts/pod-shell.ts';
import { admit, alive, ping, sentinelAlive, watching } from './scripts/probes.ts';
import { startData } from './scripts/start-data.ts';
import { startSentinel } from './scripts/start-sentinel.ts';
import { Sentinel } from './sentinel.ts';
import { parseSentinelConf, readSentinelFile, type SentinelConf } from './sentinel-file.ts';

/** What a run of the harness has of Redis: the images to run, and the processes that run. */
export interface SimulatedRedis {
  readonly images: Images;
  readonly processes: Processes;
}

/** One for each simulated world. */
export function simulatedRedis(pace: Partial<Pace> = {}): SimulatedRedis {
  const processes = new Processes();
  const images: Images = (reference) => {
    if (reference.includes('redis_exporter')) return exporter;
    const version = /redis:(\d+\.\d+)/.exec(reference)?.[1];
    return version === undefined ? undefined : program(version, processes, { ...briskly, ...pace });
  };
  return { images, processes };
}

/** Nobody of this world asks it. */
const exporter: Program = ({ exit }) => ({
  exec: () => Promise.resolve(false),
  terminate: () => exit(0),
  kill: () => undefined,
});

const probes: Readonly<Record<string, (shell: PodShell) => Promise<boolean>>> = {
  'admit.sh': admit,
  'ping.sh': ping,
  'alive.sh': alive,
  'hand-over.sh': handOver,
  'watching.sh': watching,
  'sentinel-alive.sh': sentinelAlive,
};

const scriptOf = (command: readonly string[]): string => command.at(-1)?.split('/').at(-1) ?? '';

/** What a script gets instead of an answer once its container is gone. */
class Ended extends Error {
  override readonly name = 'Ended';
}

function program(version: string, processes: Processes, pace: Pace): Program {
  return (context) => new Container(version, processes, pace, context);
}

class Container implements RunningProgram {
  readonly #context: ProgramContext;
  readonly #version: string;
  readonly #host: Host;
  #server: DataNode | Sentinel | undefined;
  #hasEnded = false;
  /** Resolves the scripts that run when the container ends. */
  readonly #abandon = new Set<() => void>();

  constructor(version: string, processes: Processes, pace: Pace, context: ProgramContext) {
    this.#context = context;
    this.#version = version;
    const { ip, network, time, random } = context;
    this.#host = {
      ...{ ip, network, time, random, processes, pace },
      volume: (path) => context.volume(path),
      exit: (code) => this.#exit(code),
    };
    void this.#run();
  }

  async #run(): Promise<void> {
    try {
      switch (scriptOf(this.#context.command)) {
        case 'start-data.sh':
          return await this.#runData();
        case 'start-sentinel.sh':
          return await this.#runSentinel();
        default:
          this.#exit(127);
      }
    } catch (error) {
      if (!(error instanceof Ended)) throw error;
    }
  }

  async #runData(): Promise<void> {
    const lines = await startData(this.#shell());
    const conf = parseConf(lines.join('\n'), this.#version, (path) => this.#context.file(path));
    if (conf === undefined) {
      this.#exit(1);
      return;
    }
    const node = new DataNode(this.#host, this.#version, conf);
    if (!node.start()) {
      this.#exit(1);
      return;
    }
    this.#server = node;
    await fenceLoop(() => this.#shell());
  }

  async #runSentinel(): Promise<void> {
    const { ip } = this.#context;
    const file = readSentinelFile(this.#context.volume('/run/redis'));
    if (file === 'unreadable') {
      this.#exit(1);
      return;
    }
    const fresh = async (): Promise<SentinelConf> => parseSentinelConf((await startSentinel(this.#shell())).map(words));
    const conf = file === 'none' ? await fresh() : { ...file, announceIp: ip };
    const sentinel = new Sentinel(this.#host, this.#version, conf);
    this.#server = sentinel;
    sentinel.start();
  }

  #shell(): PodShell {
    const { ip, env, time } = this.#context;
    const namespace = env.POD_NAMESPACE ?? '';
    const run = this.#context.volume('/run/redis') ?? new Map<string, unknown>();
    const mounted = (this.#context.file(env.AUTH_FILE ?? '') ?? '').split('\n', 1)[0] ?? '';
    const password = typeof run.get('password') === 'string' ? String(run.get('password')) : mounted;
    const identityFile = env.IDENTITY_FILE === undefined ? undefined : this.#context.file(env.IDENTITY_FILE);
    const errand = { host: this.#host, namespace };
    const shell: PodShell = {
      podIP: ip,
      podName: `${namespace}/${env.POD_NAME}`,
      clusterName: env.CLUSTER_NAME ?? '',
      configDir: env.CONFIG_DIR ?? '',
      password,
      mounted,
      isNew: !run.has('password'),
      identityPassword: identityFile?.split('\n', 1)[0],
      databases: env.DATABASES,
      config: (name) => this.#context.file(`${env.CONFIG_DIR}/${name}`) ?? '',
      cli: async (seconds, args, other) => {
        this.#throwIfEnded();
        const end = await redisCli({ ...errand, password: other ?? shell.password, seconds, args });
        this.#throwIfEnded();
        return end?.printed;
      },
      heard: async (seconds, args, login, other) => {
        this.#throwIfEnded();
        const end = await redisCli({ ...errand, password: other ?? shell.password, seconds, args, login });
        this.#throwIfEnded();
        return end === undefined ? '' : [...end.warned, end.printed].join('\n');
      },
      run,
      sleep: async (ms) => {
        await new Promise<void>((resolve) => time.after(ms, resolve));
        this.#throwIfEnded();
      },
      seconds: () => Math.floor(time.now() / 1000),
      uptime: () => Math.floor(time.monotonic()),
      disk: dataVolume(
        () => this.#context.volume('/data') ?? new Map<string, unknown>(),
        ip,
        () => time.monotonic(),
      ),
    };
    return shell;
  }

  #throwIfEnded(): void {
    if (this.#hasEnded) throw new Ended('the container has ended');
  }

  exec(command: readonly string[]): Promise<boolean> {
    const probe = probes[scriptOf(command)];
    if (probe === undefined || this.#hasEnded) return Promise.resolve(false);
    return new Promise((resolve, reject) => {
      const abandon = (): void => resolve(false);
      this.#abandon.add(abandon);
      probe(this.#shell())
        .then(resolve, (error: unknown) => (error instanceof Ended ? resolve(false) : reject(error)))
        .finally(() => this.#abandon.delete(abandon));
    });
  }

  /** The first script, too, ends on SIGTERM. */
  terminate(): void {
    if (this.#server === undefined) this.#exit(143);
    else this.#server.terminate();
  }

  kill(): void {
    this.#end();
    this.#server?.end();
  }

  #exit(code: number): void {
    if (this.#hasEnded) return;
    this.#end();
    this.#context.exit(code);
  }

  #end(): void {
    this.#hasEnded = true;
    for (const abandon of [...this.#abandon]) abandon();
  }
}
