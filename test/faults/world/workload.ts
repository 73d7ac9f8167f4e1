/**
 * What a simulated node runs in place of a container, and what such a program sees of the world: exactly what a real
 * one does, its environment, its files, its volumes and the network of its pod.
 */
import type { KubeObject } from '../../../src/api/object.ts';
import type { Random } from '../../../src/system/clock.ts';
import type { Network } from './network.ts';
import type { VirtualTime } from './time.ts';

/** The content of one volume: file names to whatever the program keeps there. It outlives the program. */
export type Volume = Map<string, unknown>;

export interface ProgramContext {
  readonly pod: KubeObject;
  readonly ip: string;
  /** With references to the environment resolved. */
  readonly command: readonly string[];
  /** With references to fields of the pod resolved. */
  readonly env: Readonly<Record<string, string>>;
  /** A file of a mounted ConfigMap or Secret, by absolute path, as it is now. */
  file(path: string): string | undefined;
  /** The volume mounted there. Undefined where none is. */
  volume(mountPath: string): Volume | undefined;
  readonly network: Network;
  readonly time: VirtualTime;
  readonly random: Random;
  /** Writes the termination message's file, which the container's status shows once it has ended. */
  leave(message: string): void;
  /** The program ends by itself. `lastWords`: the end of what it wrote to its log. */
  exit(code: number, lastWords?: string): void;
}

/** One run of a program. After it has ended, nothing of it acts any more. */
export interface RunningProgram {
  /** What `exec` probes and lifecycle hooks run inside the container: true when the command exits with 0. */
  exec(command: readonly string[]): Promise<boolean>;
  /** What `httpGet` probes ask: true for a status below 400. Absent where a program serves nothing of the kind. */
  get?(port: number, path: string): Promise<boolean>;
  /** SIGTERM. It ends through `exit`, or is killed when its grace period is over. */
  terminate(): void;
  /** SIGKILL, or the machine's power is gone: it has ended when this returns. */
  kill(): void;
}

export type Program = (context: ProgramContext) => RunningProgram;

/** The program of an image, by the image's reference. Unknown images cannot be pulled. */
export type Images = (reference: string) => Program | undefined;
