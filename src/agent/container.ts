/** The agent's own container as its machine: mounted files, and the network. */
import { dumpEtcd } from './etcd.ts';
import { writeSnapshot } from './etcd-file.ts';
import type { Machine } from './machine.ts';
import { dumpRedis } from './redis.ts';
import { begunFrom, fillRedisVolume } from './redis-volume.ts';
import { keysIn, openTarget } from './secrets.ts';
import { spoolTo } from './spool.ts';

export const container: Machine = {
  keys: keysIn,
  openTarget,
  spool: (directory, content, { signal }) => spoolTo(directory, content, signal),
  dump: (source, surroundings) =>
    source.engine === 'redis' ? dumpRedis(source, surroundings) : dumpEtcd(source, surroundings),
  // An etcd is filled by other containers of the pod, from a directory that no other pod has seen.
  begun: async (destination) => (destination.engine === 'redis' ? await begunFrom(destination.directory) : undefined),
  fill: (destination, origin, content, { signal }) =>
    destination.engine === 'redis'
      ? fillRedisVolume(destination.directory, origin, content, signal)
      : writeSnapshot(destination.file, origin.plainSha256, content, signal),
};
