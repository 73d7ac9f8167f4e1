/**
 * Stands for the agent's image. The agent itself runs, as it ships, from its task to its last words; what stands in are
 * its edges: files and targets are simulated ones, the databases' data is taken from the models at one moment, and
 * volumes are filled without files.
 */

import type { AgentIO } from '../../../src/agent/agent-io.ts';
import { exitCodeOf, runTask, serializeResult } from '../../../src/agent/run.ts';
import type { Target } from '../../../src/agent/target/target.ts';
import type { EngineSource } from '../../../src/backup/engine-data.ts';
import { parseKeys } from '../../../src/backup/key.ts';
import type { Place } from '../../../src/backup/place.ts';
import type { Driver } from '../../../src/engine/driver/driver.ts';
import { Failure } from '../../../src/engine/driver/failure.ts';
import { inTime } from '../../../src/engine/driver/wait.ts';
import { createLog } from '../../../src/system/log.ts';
import type { Program, ProgramContext, RunningProgram, Volume } from '../world/workload.ts';
import type { AgentContext, Database } from './database.ts';
import { driversFor } from './drivers.ts';
import { simulatedTarget } from './target.ts';
import type { Vault } from './vault.ts';

/** From the start of the process until it has read its task. */
const startMs = 300;
/** Of a call to a target. */
const callMs = 120;
/** For the data to reach the pod's own disk. */
const spoolMs = 60;
/** For whoever does not answer. */
const answerMs = 5_000;
const silent = createLog({ level: 'silent' });

export function agentProgram(vault: Vault, database: Database): Program {
  return (context) => {
    if (context.command.includes('-e')) return placing(context);
    const task = taskOf(context);
    if (task?.task === 'archive' && database.archive !== undefined)
      return database.archive(task.source as EngineSource, context, () => dialStore(vault, context));
    return new Agent(vault, database, context);
  };
}

class Agent implements RunningProgram {
  readonly #vault: Vault;
  readonly #database: Database;
  readonly #context: ProgramContext;
  readonly #stopping = new AbortController();
  #hasEnded = false;

  constructor(vault: Vault, database: Database, context: ProgramContext) {
    this.#vault = vault;
    this.#database = database;
    this.#context = context;
    void this.#run();
  }

  async #run(): Promise<void> {
    const { time, random, command, file, leave, exit } = this.#context;
    await this.#pass(startMs);
    const result = await runTask(
      file(command.at(-1) ?? '') ?? '',
      {
        clock: time,
        random: (bytes) => Buffer.from(Array.from({ length: bytes }, () => Math.floor(random() * 256))),
        log: silent,
        signal: this.#stopping.signal,
        protect: () => undefined,
        conceal: (text) => text,
        environment: {},
      },
      this.#machine(),
      this.#drivers(),
    );
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    leave(`${serializeResult(result)}\n`);
    exit(exitCodeOf(result));
  }

  /** Never resolves once the process has ended. */
  #pass(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#context.time.after(ms, () => {
        if (!this.#hasEnded) resolve();
      });
    });
  }

  async #pause(ms: number): Promise<void> {
    await this.#pass(ms);
    this.#stopping.signal.throwIfAborted();
  }

  #drivers(): readonly Driver[] {
    const context: AgentContext = {
      ...this.#context,
      pause: (ms) => this.#pause(ms),
      inTime: (promise, who) => this.#inTime(promise, () => new Failure('SourceUnreachable', `${who} does not answer`)),
    };
    return driversFor(this.#database).map((driver) => ({
      ...driver,
      dump: (source) => this.#database.dump(source, context),
      begun: async (destination) => this.#database.begun(destination, context),
      fill: async (destination, origin, content) => {
        const pieces: Uint8Array[] = [];
        for await (const piece of content()) pieces.push(piece);
        return this.#database.fill(destination, origin, Buffer.concat(pieces), context);
      },
    }));
  }

  #machine(): AgentIO {
    const { file } = this.#context;
    return {
      async keys(path) {
        if (path === undefined) return undefined;
        const content = file(path);
        if (content === undefined) throw new Failure('SecretUnusable', `${path} cannot be read`);
        return parseKeys(content);
      },
      openTarget: async (place) => this.#open(place),
      spool: async (_, content) => {
        const pieces: Uint8Array[] = [];
        for await (const piece of content) pieces.push(piece);
        await this.#pause(spoolMs);
        return { content: () => once(Buffer.concat(pieces)), remove: async () => undefined };
      },
    };
  }

  #inTime<T>(promise: Promise<T>, late: () => Failure): Promise<T> {
    const { time } = this.#context;
    return inTime(promise, { clock: time, signal: this.#stopping.signal, idleMs: answerMs }, late);
  }

  #open(place: Place): Target {
    const { time, file } = this.#context;
    const options = { prefix: place.prefix, now: () => time.now() };
    if (place.type === 'claim') {
      const volume = this.#context.volume(place.directory);
      if (volume === undefined) throw new Failure('TargetRefused', `${place.directory} cannot be used`);
      return this.#targetOn(volume, options, () => this.#pass(callMs));
    }
    for (const path of [place.accessKeyIdFile, place.secretAccessKeyFile]) {
      if (path !== undefined && file(path) === undefined) throw new Failure('SecretUnusable', `${path} cannot be read`);
    }
    return this.#targetOn(this.#vault.bucket, options, () => this.#dial());
  }

  #targetOn(
    place: Volume,
    options: { readonly prefix: string; readonly now: () => number },
    reach: () => Promise<void>,
  ): Target {
    return simulatedTarget({ ...options, place, reach, removing: (path) => this.#vault.onRemove(place, path) });
  }

  /** Also after SIGTERM: what was begun is cleaned up. */
  async #dial(): Promise<void> {
    await dialStore(this.#vault, this.#context);
    await this.#pass(callMs);
  }

  exec(): Promise<boolean> {
    return Promise.resolve(false);
  }

  terminate(): void {
    this.#stopping.abort(new Failure('Stopped', 'received SIGTERM'));
  }

  kill(): void {
    this.#hasEnded = true;
  }
}

function taskOf({ command, file }: ProgramContext): { readonly task?: unknown; readonly source?: unknown } | undefined {
  const text = file(command.at(-1) ?? '');
  return text === undefined ? undefined : JSON.parse(text);
}

async function dialStore({ address, port }: Vault, { network, time, ip }: ProgramContext): Promise<void> {
  const giveUp = new AbortController();
  const cancel = time.after(answerMs, () => giveUp.abort(new Error(`no answer within ${answerMs} ms`)));
  try {
    const stream = await network.dial(ip, address, port, giveUp.signal);
    stream.on('error', () => undefined);
    stream.destroy();
  } catch (cause) {
    throw new Failure('TargetUnreachable', 'the target does not answer', { cause });
  } finally {
    cancel();
  }
}

async function* once(data: Buffer): AsyncGenerator<Uint8Array, void, undefined> {
  yield data;
}

/** What `engines/etcd/backup/support.ts` has Node.js do: a data directory that was made beside its place is moved there. */
function placing({ command, time, volume, exit }: ProgramContext): RunningProgram {
  const [path = '', made = '', name = ''] = command.slice(-4);
  let hasEnded = false;
  time.after(startMs, () => {
    if (hasEnded) return;
    hasEnded = true;
    const content = volume(path);
    if (content === undefined) return exit(1, `${path} is not mounted`);
    if (!content.has(made)) return exit(1, `${path}/${made} is not there`);
    content.set(name, content.get(made));
    for (const entry of [...content.keys()]) if (entry !== name) content.delete(entry);
    exit(0);
  });
  const end = (): void => {
    hasEnded = true;
  };
  return {
    exec: () => Promise.resolve(false),
    terminate() {
      if (!hasEnded) exit(143);
      end();
    },
    kill: end,
  };
}
