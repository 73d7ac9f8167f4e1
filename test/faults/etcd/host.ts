/** What a member is given of its machine and its fellows. */
import type { Random } from '../../../src/system/clock.ts';
import type { Network } from '../world/network.ts';
import type { VirtualTime } from '../world/time.ts';
import type { Volume } from '../world/workload.ts';
import type { Member } from './member.ts';
import type { Processes } from './processes.ts';

export interface Host {
  readonly ip: string;
  readonly version: string;
  readonly env: Readonly<Record<string, string>>;
  readonly network: Network;
  readonly time: VirtualTime;
  readonly random: Random;
  readonly processes: Processes;
  /** Where the data directory is. */
  volume(): Volume | undefined;
  /** The process that serves peers at a URL, where packets get there and back. */
  reachable(url: string): Member | undefined;
  exit(code: number, lastWords?: string): void;
}

const hostIn = (url: string): string => /^https?:\/\/([^:/]+)/.exec(url)?.[1] ?? '';

/** Names are looked up anew each time, as a process does that connects. */
export function addressIn(network: Network, url: string): string | undefined {
  const host = hostIn(url);
  return /^[\d.]+$/.test(host) ? host : network.resolve(host);
}
