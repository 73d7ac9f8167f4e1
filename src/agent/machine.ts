/**
 * What the agent has of the machine that it runs on: files, the databases' processes, the target. Everything else about
 * it is the same wherever it runs.
 */
import type { Destination } from '../backup/agent-task.ts';
import type { KeyRing } from '../backup/key.ts';
import type { Place } from '../backup/place.ts';
import type { Source } from '../backup/source.ts';
import type { Dump } from './dump.ts';
import type { Spool } from './spool.ts';
import type { Surroundings } from './surroundings.ts';
import type { Target } from './target/target.ts';

/** Which backup a volume is filled from. */
export interface Origin {
  /** NAMESPACE/KIND/CLUSTER-UID/ID */
  readonly path: string;
  readonly plainSha256: string;
}

export interface Machine {
  /** Undefined where no file is named. @throws Failure SecretUnusable */
  keys(path: string | undefined, surroundings: Surroundings): Promise<KeyRing | undefined>;
  openTarget(place: Place, surroundings: Surroundings): Promise<Target>;
  /** Keeps all of the content in a directory of the machine, and lets it be read from there. @throws Failure */
  spool(directory: string, content: AsyncIterable<Uint8Array>, surroundings: Surroundings): Promise<Spool>;
  /** @throws Failure SourceUnreachable, SourceRefused, SourceBroken */
  dump(source: Source, surroundings: Surroundings): Promise<Dump>;
  /** NAMESPACE/KIND/CLUSTER-UID/ID that an earlier attempt has begun to fill it from; undefined where none has. */
  begun(destination: Destination): Promise<string | undefined>;
  /**
   * Puts the content where a new member finds it, once every byte has been checked.
   *
   * @returns whether an earlier attempt had done it
   * @throws Failure Occupied, BadTask
   */
  fill(
    destination: Destination,
    origin: Origin,
    content: () => AsyncIterable<Uint8Array>,
    surroundings: Surroundings,
  ): Promise<{ readonly isRepeated: boolean }>;
}
