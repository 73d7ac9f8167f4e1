/** What the stand-in of the agent needs to know of a database: in a simulation its data goes over no wire. */

import type { EngineDestination, EngineSource } from '../../../src/backup/engine-data.ts';
import type { Driver, Origin } from '../../../src/engine/driver/driver.ts';
import type { Dump } from '../../../src/engine/driver/dump.ts';
import type { ProgramContext, RunningProgram, Volume } from '../world/workload.ts';

export type Contents = ReadonlyMap<string, string>;

/** The agent's container. */
export interface AgentContext extends Pick<ProgramContext, 'ip' | 'network' | 'time' | 'file' | 'volume'> {
  /** Lets time pass; never resolves once the process has ended, and rejects where it has been told to. */
  pause(ms: number): Promise<void>;
  /** The same promise, or a Failure that says who does not answer. */
  inTime<T>(promise: Promise<T>, who: string): Promise<T>;
}

export interface Database {
  readonly engine: 'redis' | 'etcd' | 'postgres';
  /** What a whole stored backup holds. */
  read(data: Buffer): Contents;
  /** The bytes that hold this, as the database would give them. */
  write(contents: Contents): Buffer;
  /** Of data that is in no form of the database's own; absent where the agent checks it as it is. */
  readonly check?: Driver['check'];
  /** The program that archives its log; `reachStore` rejects where the store does not answer. Absent: it has no log. */
  readonly archive?: (source: EngineSource, context: ProgramContext, reachStore: () => Promise<void>) => RunningProgram;
  dump(source: EngineSource, context: AgentContext): Promise<Dump>;
  /** The backup that an earlier attempt has begun to fill it from. */
  begun(destination: EngineDestination, context: AgentContext): string | undefined;
  fill(
    destination: EngineDestination,
    origin: Origin,
    content: Buffer,
    context: AgentContext,
  ): Promise<{ readonly isRepeated: boolean }>;
  /** Whether a member would find data on a volume. */
  hasData(volume: Volume): boolean;
  /** Claim of a cluster's first member. */
  firstClaim(cluster: string): string;
}
