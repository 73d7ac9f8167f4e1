/**
 * What the agent knows of one engine: how its data is read, checked, put in place and described. Everything else about
 * backups is the same for all.
 */
import type {
  DataSummary,
  EngineDestination,
  EngineFormat,
  EngineSource,
  EngineState,
} from '../../backup/engine-data.ts';
import type { LossSince } from '../../backup/sudden-loss.ts';
import type { AgentContext } from './agent-context.ts';
import type { Dump } from './dump.ts';
import { Failure } from './failure.ts';
import type { LogArchive } from './log-archive.ts';

/** Which backup a volume is filled from. */
export interface Origin {
  /** NAMESPACE/KIND/CLUSTER-UID/ID */
  readonly path: string;
  /** Of the part that goes there, where the backup has several. */
  readonly plainSha256: string;
}

export interface Filled {
  /** An earlier attempt had done it. */
  readonly isRepeated: boolean;
  /** What the engine's other half is to know of the volume: see `RestoreTemplate.annotationsOf`. */
  readonly told?: string;
}

/** Where an engine's data comes from, and where it goes. */
export interface DriverIO<Source, Destination, State extends EngineState> {
  /** @throws Failure SourceUnreachable, SourceRefused, SourceBroken */
  dump(source: Source, context: AgentContext): Promise<Dump<State>>;
  /** NAMESPACE/KIND/CLUSTER-UID/ID that an earlier attempt has begun to fill it from; undefined where none has. */
  begun(destination: Destination): Promise<string | undefined>;
  /**
   * Puts the content where a new member finds it, once every byte has been checked.
   *
   * @param state what the manifest says of the whole backup
   * @throws Failure Occupied, BadTask
   */
  fill(
    destination: Destination,
    origin: Origin,
    content: () => AsyncIterable<Uint8Array>,
    context: AgentContext,
    state: State,
  ): Promise<Filled>;
}

export interface Driver<Source = EngineSource, Destination = EngineDestination, State extends EngineState = EngineState>
  extends EngineFormat,
    DriverIO<Source, Destination, State> {
  /** The same content, which fails at its end unless the database's own checksum fits it. */
  check(content: AsyncIterable<Uint8Array>, fault: (why: string) => Failure): AsyncIterable<Uint8Array>;
  describe(state: State): DataSummary;
  readonly lossSince: LossSince<State>;
  /** Absent where the database has no log that could be followed. */
  readonly archive?: LogArchive<Source, Destination, State>;
  /**
   * Number of the part that goes there; undefined of a backup whose data is one object. Absent where no backup of the engine has several.
   *
   * @throws Failure Unfit where the new cluster has no place for the parts that there are
   */
  partFor?(destination: Destination, state: State): number | undefined;
  /** Whether a database of the second version reads what one of the first has written. */
  canRead(written: string, wanted: string): boolean;
}

/**
 * Hides the engine's own types. What comes back through these functions was checked by `schemas`, and is of the driver's
 * own engine: tasks and manifests are refused otherwise.
 */
export function defineDriver<Source, Destination, State extends EngineState>(
  driver: Driver<Source, Destination, State>,
): Driver {
  return driver as unknown as Driver;
}

/** @throws Failure Unfit */
export function driverOf(drivers: readonly Driver[], engine: string): Driver {
  const driver = drivers.find((each) => each.engine === engine);
  if (driver === undefined) throw new Failure('Unfit', `this agent does not know the engine ${engine}`);
  return driver;
}

/** Data of a later MAJOR.MINOR cannot be read. */
export function isNoLaterMinor(written: string, wanted: string): boolean {
  const [[major = 0, minor = 0], [newMajor = 0, newMinor = 0]] = [numbers(written), numbers(wanted)];
  return major < newMajor || (major === newMajor && minor <= newMinor);
}

function numbers(version: string): readonly number[] {
  return version.split('.').map(Number);
}
