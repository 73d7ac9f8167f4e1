/**
 * How large a database may grow. Its log lies on the same volume: five segments of 64 MiB that are kept, the one that is
 * written to, and one that is made in advance. Where the two do not fit, members run out of disk and end, all of them at
 * about the same time, before the quota has stopped the writes (safety rule E11). What counts is what the volumes have: one
 * grows minutes after it was asked to, or never, where its StorageClass cannot.
 */

import { unitsOf } from '../../../api/quantity.ts';
import type { EtcdSpec } from './schema.ts';

const mebibyte = 1024 ** 2;
/** etcd itself advises against more. */
const largestDefault = 8192 * mebibyte;
const share = 0.6;
const logBytes = 512 * mebibyte;
/** Of that: the seven segments of the log do not take it. */
export const spareBytes = 64 * mebibyte;
/** What a file system keeps of a volume for itself. */
const fileSystemShare = 0.05;
/** Of the quota: from here on a database is as good as full. */
export const nearlyFull = 0.9;
export const quotaVariable = 'ETCD_QUOTA_BACKEND_BYTES';
/** On a volume that has no room for the log either. */
const leastShare = 0.2;

/** Bytes of a database that fit on a volume of so many bytes beside the log. */
export function roomFor(size: number): number {
  return Math.floor(Math.max(size * leastShare, size * (1 - fileSystemShare) - logBytes));
}

/** Bytes. `size`: of the smallest volume that a member has, in bytes. Where there is none yet it will be that of the spec. */
export function quotaOf({ config, storage }: EtcdSpec, size = unitsOf(storage.size)): number {
  if (config.quotaBackend !== undefined) return unitsOf(config.quotaBackend);
  return Math.min(largestDefault, Math.floor(size * share), roomFor(size));
}
