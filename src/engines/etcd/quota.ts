/**
 * How large a database may grow. Its log lies on the same volume: five segments of 64 MiB that are kept, the one that is
 * written to, and one that is made in advance. Where the two do not fit, members run out of disk and end, all of them at
 * about the same time, before the quota has stopped the writes (safety rule E11).
 */
import type { EtcdSpec } from '../../api/etcd.ts';
import { unitsOf } from '../../api/quantity.ts';

const mebibyte = 1024 ** 2;
/** etcd itself advises against more. */
const largestDefault = 8192 * mebibyte;
const share = 0.6;
const logBytes = 512 * mebibyte;
/** What a file system keeps of a volume for itself. */
const fileSystemShare = 0.05;
/** On a volume that has no room for the log either. */
const leastShare = 0.2;

/** Bytes of a database that fit on the volume beside the log. */
export function roomFor({ storage }: Pick<EtcdSpec, 'storage'>): number {
  const size = unitsOf(storage.size);
  return Math.floor(Math.max(size * leastShare, size * (1 - fileSystemShare) - logBytes));
}

/** Bytes. */
export function quotaOf({ config, storage }: EtcdSpec): number {
  if (config.quotaBackend !== undefined) return unitsOf(config.quotaBackend);
  return Math.min(largestDefault, Math.floor(unitsOf(storage.size) * share), roomFor({ storage }));
}
