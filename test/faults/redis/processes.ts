/** Who runs where: how simulated processes find each other, and how a harness finds one to freeze it. */
import type { Random } from '../../../src/system/clock.ts';
import type { Network } from '../world/network.ts';
import type { VirtualTime } from '../world/time.ts';
import type { Volume } from '../world/workload.ts';
import type { DataNode } from './data-node.ts';
import type { Sentinel } from './sentinel.ts';

/** What a process is given of its machine and its fellows. */
export interface Host {
  readonly ip: string;
  readonly network: Network;
  readonly time: VirtualTime;
  readonly random: Random;
  readonly processes: Processes;
  readonly pace: Pace;
  volume(mountPath: string): Volume | undefined;
  exit(code: number): void;
}

/** How long things take, in milliseconds of virtual time. */
export interface Pace {
  /** From the start of the server until the dataset is in memory. */
  readonly loadMs: number;
  /** A full copy of a dataset to a replica. */
  readonly copyMs: number;
  /** After a full copy, until the append-only file holds it: until then the old one is what a restart finds. */
  readonly rewriteMs: number;
}

export const briskly: Pace = { loadMs: 10, copyMs: 40, rewriteMs: 30 };

export class Processes {
  readonly #data = new Map<string, DataNode>();
  readonly #sentinels = new Map<string, Sentinel>();

  /** The one at an address: a pod runs either. */
  at(ip: string): DataNode | Sentinel | undefined {
    return this.#data.get(ip) ?? this.#sentinels.get(ip);
  }

  data(ip: string): DataNode | undefined {
    return this.#data.get(ip);
  }

  sentinel(ip: string): Sentinel | undefined {
    return this.#sentinels.get(ip);
  }

  get dataNodes(): Iterable<DataNode> {
    return this.#data.values();
  }

  get sentinels(): Iterable<Sentinel> {
    return this.#sentinels.values();
  }

  add(process: DataNode | Sentinel): void {
    if (process.kind === 'data') this.#data.set(process.ip, process);
    else this.#sentinels.set(process.ip, process);
  }

  remove(process: DataNode | Sentinel): void {
    if (this.at(process.ip) !== process) return;
    this.#data.delete(process.ip);
    this.#sentinels.delete(process.ip);
  }
}
