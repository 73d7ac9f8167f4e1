/** As `relabel.py begin-anew`, before the Patroni of a member that forms a cluster: a database that was not finished is begun anew. */
import type { ProgramContext, RunningProgram, Volume } from '../world/workload.ts';
import { claimAnnotation, type Store, StoreAway } from './store.ts';
import { discard } from './wal.ts';

/** Of the interpreter. */
const startMs = 50;
const againMs = 500;
/** What only a member that has had the lock writes. */
const ofLeaders = ['leader', 'acquireTime', 'renewTime', 'optime'];

/** Nobody answers before Patroni starts, which it does as soon as the store has been asked. */
export class BeginningAnew implements RunningProgram {
  readonly #context: ProgramContext;
  readonly #store: Store;
  readonly #volume: Volume | undefined;
  readonly #patroni: () => RunningProgram;
  #then: RunningProgram | undefined;
  #hasEnded = false;

  constructor(context: ProgramContext, store: Store, volume: Volume | undefined, patroni: () => RunningProgram) {
    this.#context = context;
    this.#store = store;
    this.#volume = volume;
    this.#patroni = patroni;
    context.time.after(startMs, () => void this.#try());
  }

  async #try(): Promise<void> {
    if (this.#hasEnded) return;
    try {
      if (await this.#isTakenBack()) {
        if (!this.#hasEnded) this.#then = this.#patroni();
        return;
      }
    } catch (error) {
      if (!(error instanceof StoreAway)) throw error;
    }
    this.#context.time.after(againMs, () => void this.#try());
  }

  async #isTakenBack(): Promise<boolean> {
    const pod = this.#context.pod.metadata.name;
    const { initialize, versions, lock, sync, claim } = this.#store.view();
    if (initialize !== '') return true;
    if (versions.leader === undefined || versions.sync === undefined) return false;
    if (ofLeaders.some((name) => name in lock) || sync.leader !== '') return true;
    if (claim !== pod) {
      await this.#store.write('config', { [claimAnnotation]: pod }, versions.config);
      return false;
    }
    if (this.#volume !== undefined) discard(this.#volume);
    return this.#store.write('config', { initialize: null, [claimAnnotation]: null }, versions.config);
  }

  async exec(command: readonly string[]): Promise<boolean> {
    return (await this.#then?.exec(command)) ?? false;
  }

  async get(port: number, path: string): Promise<boolean> {
    return (await this.#then?.get?.(port, path)) ?? false;
  }

  terminate(): void {
    if (this.#then !== undefined) {
      this.#then.terminate();
      return;
    }
    this.#hasEnded = true;
    this.#context.exit(143);
  }

  kill(): void {
    this.#hasEnded = true;
    this.#then?.kill();
  }
}
