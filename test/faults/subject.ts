/**
 * An engine as the harness sees it: how its clients write, what its processes say of themselves, and how they break.
 * Everything else of a scenario is the same for all engines.
 */
import type { KubeObject, Resource } from '../../src/api/object.ts';
import type { KubeClient } from '../../src/runtime/client.ts';
import type { Contents, Database } from './backup/database.ts';
import type { Fault } from './plan.ts';
import type { LedgerRecord } from './record.ts';
import type { SimulatedKubernetes } from './world/kubernetes.ts';
import type { Network } from './world/network.ts';
import type { VirtualTime } from './world/time.ts';
import type { Images } from './world/workload.ts';

export interface SimulatedWorld {
  readonly time: VirtualTime;
  readonly network: Network;
  readonly kubernetes: SimulatedKubernetes;
  readonly namespace: string;
  readonly cluster: string;
}

/** What a watch over the processes has found, a line each. */
export interface Findings {
  /** O6: what clients must never meet. */
  readonly membership: readonly string[];
  /** O4: what the operator must never do to processes and their data. */
  readonly unsafe: readonly string[];
  /** O8: what the status says of the database and is not so. */
  readonly untrue?: readonly string[];
}

export interface SimulatedLedger {
  /** Stops writing, and reads back what was acknowledged. */
  close(): Promise<LedgerRecord>;
}

export type ProcessFault = Extract<Fault, { do: 'kill' | 'freeze' | 'isolate' | 'fillDisk' }>;

export interface Subject {
  readonly resource: Resource;
  /** What is not as it should be, asked of the processes; empty when all is whole. */
  complaints(world: SimulatedWorld, cluster: KubeObject): readonly string[];
  /** A client that begins to write. `discovery`: see `Scenario`; of an engine with one way it makes no difference. */
  openLedger(world: SimulatedWorld, discovery?: 'service' | 'database'): SimulatedLedger;
  /** Watches over the processes from now on; the returned function tells what was found. */
  guard(world: SimulatedWorld): () => Findings;
  /** Breaks a process, and mends it when its time is over. */
  afflict(world: SimulatedWorld, fault: ProcessFault): void;
  /** Right before the power of the pod's machine goes. Undefined where all that is acknowledged is on the disk. */
  loseUnflushed?(world: SimulatedWorld, pod: string): void;
  /** See `Stage`. Undefined where no older state is simulated. */
  makeOlder?(world: SimulatedWorld, client: KubeClient): Promise<void>;
  /** See `Stage`. Undefined where no scenario asks for it. */
  empty?(world: SimulatedWorld): Promise<void>;
  /** See `Stage`. Undefined for a database that compares nothing. */
  readonly corruption?: {
    spoil(world: SimulatedWorld, pod: string): void;
    compare(): void;
  };
  /** Everything that clients would read now. Undefined where nobody takes writes. */
  contents(world: SimulatedWorld): Contents | undefined;
  /** Name of the data pod that takes writes now. */
  primary(world: SimulatedWorld): string | undefined;
}

/** An engine's programs and their subject belong to one world. */
export interface SubjectKit {
  readonly images: Images;
  readonly subject: Subject;
  /** Called once, when the world is there and nothing runs in it, for programs that speak to the API server. */
  join?(world: SimulatedWorld): void;
  /** How its data gets into backups and out of them. */
  readonly database: Database;
}
