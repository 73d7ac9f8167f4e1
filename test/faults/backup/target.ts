/** A target of the agent's over a simulated volume or bucket: each call takes its time, and is done at once at its end. */

import type { Target } from '../../../src/agent/target/target.ts';
import { Failure } from '../../../src/engine/driver/failure.ts';
import type { Volume } from '../world/workload.ts';
import { type KeptObject, objectsIn } from './vault.ts';

export interface TargetOptions {
  readonly place: Volume;
  /** Empty, or without slashes at its ends. */
  readonly prefix: string;
  /** Resolves when the place has been reached and the call has had its time. */
  readonly reach: () => Promise<void>;
  readonly now: () => number;
  readonly removing: (path: string) => void;
}

export function simulatedTarget({ place, prefix, reach, now, removing }: TargetOptions): Target {
  const root = prefix === '' ? '' : `${prefix}/`;
  const pathOf = (key: string): string => `${root}${key}`;
  return {
    async put(key, content) {
      const pieces: Uint8Array[] = [];
      for await (const piece of content) pieces.push(piece);
      await reach();
      place.set(pathOf(key), { content: Buffer.concat(pieces), modifiedAt: now() } satisfies KeptObject);
    },
    async *get(key) {
      await reach();
      const found = place.get(pathOf(key)) as KeptObject | undefined;
      if (found === undefined) throw new Failure('NotFound', `there is no ${key}`);
      yield found.content;
    },
    async *list(folder) {
      await reach();
      const below = folder === '' ? root : pathOf(`${folder}/`);
      for (const [path, { content, modifiedAt }] of objectsIn(new Map(place))) {
        if (path.startsWith(below)) yield { key: path.slice(root.length), bytes: content.length, modifiedAt };
      }
    },
    async remove(key) {
      await reach();
      if (!place.has(pathOf(key))) return;
      removing(pathOf(key));
      place.delete(pathOf(key));
    },
    // Nothing is ever half written here.
    sweep: async () => 0,
    close: () => undefined,
  };
}
