/** The network between the simulated pods and the operator: connections by address and port, and cuts between them. */
import type { Duplex } from 'node:stream';

export interface Network {
  /** Until the returned function is called. Rejects a second listener on the same place by throwing. */
  listen(address: string, port: number, accept: (stream: Duplex, from: string) => void): () => void;
  /**
   * From an address of its own, so that cuts apply to it. Host names are looked up with `resolve`. Refused at once where
   * nobody listens; never answered where a cut is between.
   */
  dial(from: string, host: string, port: number, signal: AbortSignal): Promise<Duplex>;
  /** Whether packets get from one to the other, both ways. */
  reaches(from: string, to: string): boolean;
  /** Drops all packets between the two sets, established connections included, without telling either side. */
  cut(some: readonly string[], others: readonly string[] | 'all'): () => void;
  /** Ends every connection of an address with a reset, as when its machine is gone and another answers. */
  reset(address: string): void;
  /** Names of pods behind headless Services: as the cluster's DNS answers. */
  resolve: (host: string) => string | undefined;
}
