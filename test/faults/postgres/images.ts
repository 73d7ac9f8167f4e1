/** The images of PostgreSQL with Patroni, simulated: from the start of a container, by its files and its volume, to its end. */
import { unitsOf } from '../../../src/api/quantity.ts';
import { paths, patroniPort, sqlPort } from '../../../src/engines/postgres/names.ts';
import { blankExitCode } from '../../../src/engines/postgres/plan/failed-member.ts';
import type { SimulatedWorld } from '../subject.ts';
import type { Images, Program, ProgramContext, RunningProgram } from '../world/workload.ts';
import { recovering } from './backup.ts';
import { Patroni } from './patroni.ts';
import { Processes } from './processes.ts';
import { answerTo, type Reply, serveRest } from './rest.ts';
import { serveSql } from './sql.ts';
import { type Json, Store, StoreAway } from './store.ts';
import { BeginningAnew } from './unfinished.ts';
import { upgrading } from './upgrade/job.ts';
import { dataOn } from './wal.ts';

export interface SimulatedPostgres {
  readonly images: Images;
  readonly processes: Processes;
  join(world: SimulatedWorld): void;
}

/** One for each simulated world. */
export function simulatedPostgres(): SimulatedPostgres {
  const processes = new Processes();
  const images: Images = (reference) => {
    const major = /postgres:(\d+)$/.exec(reference)?.[1];
    return major === undefined ? undefined : programOf(versionsIn(major), processes);
  };
  return {
    images,
    processes,
    join(world) {
      processes.world = world;
      world.kubernetes.onCommit(({ resource, after, before }) => {
        if (resource !== 'configmaps') return;
        const name = (after ?? before)?.metadata.name;
        const changed = (field: string): boolean =>
          before?.metadata.annotations?.[field] !== after?.metadata.annotations?.[field];
        const isConfig = name === `${world.cluster}-config` && changed('config');
        // Of the lock members hear whatever was written, and its holder of nothing that it has written itself.
        const isLock = name === `${world.cluster}-leader`;
        const writer = after?.metadata.annotations?.leader;
        if (!isConfig && !isLock) return;
        for (const member of processes.all) if (isConfig || member.name !== writer) member.noticed();
      });
    },
  };
}

/** Versions of PostgreSQL in an image: see `images.ts` of the engine. */
function versionsIn(tag: string): readonly number[] {
  return tag === '17' ? [15, 17] : [Number(tag)];
}

function programOf(versions: readonly number[], processes: Processes): Program {
  return (context) => {
    if (context.command.some((word) => word.endsWith('/upgrade.sh'))) return upgrading(versions, processes, context);
    if (context.command[0] === 'python3') return recovering(context);
    // As `start.sh`, which ends before there is a Patroni.
    const volume = context.volume(paths.volume);
    const patroni = (): RunningProgram => new Container(versions, processes, context);
    const start = context.file(`${paths.patroni}/start`);
    if (start === 'form') return new BeginningAnew(context, storeOf(processes, context), volume, patroni);
    if (start !== 'resume' || dataOn(volume) !== undefined) return patroni();
    context.time.after(blankMs, () => context.exit(blankExitCode, 'the volume is blank, and this member has had data'));
    return nothingServed;
  };
}

/** From the start of the container on. */
const blankMs = 20;

/** A shell that is about to end. */
const nothingServed: RunningProgram = {
  exec: () => Promise.resolve(false),
  get: () => Promise.resolve(false),
  terminate: () => undefined,
  kill: () => undefined,
};

function storeOf({ world }: Processes, context: ProgramContext): Store {
  const { ip, network, pod } = context;
  if (world === undefined) throw new Error('no world has been joined');
  return new Store({
    ...{ ip, network },
    namespace: pod.metadata.namespace ?? '',
    scope: String(parsed(context.file(`${paths.patroni}/patroni.yml`))?.scope),
    objects: () => world.kubernetes.objects(),
    transport: world.kubernetes.transport('patroni'),
  });
}

class Container implements RunningProgram {
  readonly #context: ProgramContext;
  readonly #patroni: Patroni;
  readonly #closers: (() => void)[] = [];

  constructor(versions: readonly number[], processes: Processes, context: ProgramContext) {
    this.#context = context;
    const { ip, env, network, time, random, pod } = context;
    const { world } = processes;
    if (world === undefined) throw new Error('no world has been joined');
    this.#patroni = new Patroni({
      ...{ ip, network, time, random, processes },
      name: env.PATRONI_NAME ?? '',
      serverVersion: programsIn(env, versions) * 10_000 + 2,
      store: storeOf(processes, context),
      volume: () => context.volume(paths.volume),
      megabytes: () => megabytesOf(world, `data-${pod.metadata.name}`),
      bootstrap() {
        const { bootstrap } = parsed(context.file(`${paths.patroni}/bootstrap.yml`)) ?? {};
        return (bootstrap as { readonly dcs?: Json } | undefined)?.dcs;
      },
      exit: (code, words) => this.#exit(code, words),
    });
    processes.add(this.#patroni);
    this.#listen();
  }

  #listen(): void {
    const { network, ip } = this.#context;
    const streams = new Set<{ destroy(): void }>();
    const track = <T extends { destroy(): void; on(event: 'close', call: () => void): unknown }>(stream: T): T => {
      streams.add(stream);
      stream.on('close', () => streams.delete(stream));
      return stream;
    };
    const patroni = this.#patroni;
    const rest = network.listen(ip, patroniPort, (stream) =>
      serveRest(track(stream), async (asked): Promise<Reply> => {
        await patroni.pause(1);
        try {
          return await answerTo(patroni, asked);
        } catch (error) {
          if (error instanceof StoreAway) return { status: 503, body: error.message };
          throw error;
        }
      }),
    );
    const running = () => (patroni.server?.isUp === true ? patroni.server : undefined);
    const sql = network.listen(ip, sqlPort, (stream) => serveSql(track(stream), running, () => patroni.pause(0)));
    this.#closers.push(rest, sql, () => {
      for (const stream of [...streams]) stream.destroy();
    });
  }

  /** The hook before the pod ends: see `pre-stop.py`. */
  async exec(command: readonly string[]): Promise<boolean> {
    if (!command.some((word) => word.endsWith('/pre-stop.py'))) return false;
    await this.#patroni.stopWherePaused();
    return true;
  }

  async get(_port: number, path: string): Promise<boolean> {
    const patroni = this.#patroni;
    await patroni.pause(0);
    if (path === '/readiness')
      return patroni.hasLock || (patroni.state === 'running' && patroni.server?.hasEnded === false);
    return path === '/liveness';
  }

  terminate(): void {
    void this.#patroni.pause(0).then(() => this.#patroni.terminate());
  }

  kill(): void {
    this.#end();
  }

  #exit(code: number, words?: string): void {
    if (this.#patroni.hasEnded) return;
    this.#end();
    this.#context.exit(code, words);
  }

  #end(): void {
    this.#patroni.end();
    for (const close of this.#closers) close();
  }
}

/** Version of the programs that the pod names; 0 where the image does not have them. */
function programsIn({ PGBIN = '' }: ProgramContext['env'], versions: readonly number[]): number {
  const [, named] = /\/postgresql\/(\d+)\//.exec(PGBIN) ?? [];
  return versions.includes(Number(named)) ? Number(named) : 0;
}

function megabytesOf({ kubernetes }: SimulatedWorld, claim: string): number {
  const found = kubernetes
    .objects()
    .find(({ kind, metadata }) => kind === 'PersistentVolumeClaim' && metadata.name === claim);
  const { resources } = (found?.spec ?? {}) as {
    readonly resources?: { readonly requests?: { readonly storage?: string } };
  };
  const size = resources?.requests?.storage;
  return size === undefined ? Number.POSITIVE_INFINITY : unitsOf(size) / 1024 ** 2;
}

function parsed(text: string | undefined): Json | undefined {
  return text === undefined ? undefined : (JSON.parse(text) as Json);
}
