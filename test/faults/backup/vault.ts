/** Where simulated backups are kept: a server of objects outside of the cluster, and whatever claims are mounted. */
import type { Network } from '../world/network.ts';
import type { VirtualTime } from '../world/time.ts';
import type { Volume } from '../world/workload.ts';

/** Under its path in a volume, or in the bucket. */
export interface KeptObject {
  readonly content: Buffer;
  /** Milliseconds since the epoch. */
  readonly modifiedAt: number;
}

export interface Vault {
  /** Content of the bucket. */
  readonly bucket: Volume;
  readonly address: string;
  readonly port: number;
  /** Nobody reaches the server for so long. */
  away(forMs: number): void;
  /** Called before an object goes: by its path, in the bucket or the volume that is given. */
  onRemove: (place: Volume, path: string) => void;
}

export const storeAddress = '10.3.0.1';
export const storePort = 9000;

export function createVault(time: VirtualTime, network: Network): Vault {
  // What goes over the connection is not simulated: that there is one is what counts.
  network.listen(storeAddress, storePort, (stream) => stream.on('error', () => undefined).resume());
  return {
    bucket: new Map(),
    address: storeAddress,
    port: storePort,
    away(forMs) {
      time.after(forMs, network.cut([storeAddress], 'all'));
    },
    onRemove: () => undefined,
  };
}

/** Every object of a place. */
export function* objectsIn(place: Volume): Generator<readonly [path: string, object: KeptObject]> {
  for (const [path, object] of place) yield [path, object as KeptObject];
}
