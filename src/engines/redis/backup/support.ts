/** Where the agent finds a Redis cluster, and what the first volume of a new one is filled with. */
import type { Cluster } from '../../../api/cluster.ts';
import { unitsOf } from '../../../api/quantity.ts';
import { type Endpoint, mostMembers } from '../../../backup/members.ts';
import { type BackupSupport, restoredVolume, roomFor } from '../../../engine/backup-support.ts';
import { identityKey, identityUser } from '../client/identity.ts';
import { passwordSecret } from '../client/password.ts';
import { credentialsOf, withSession } from '../client/session.ts';
import type { RedisSpec } from '../kind/schema.ts';
import { parseServer, serverText } from '../kind/server.ts';
import { dataPort, paths, redisNames, sentinelPort, termAnnotation } from '../names.ts';
import { sizeToldBy } from '../observe/situation.ts';
import { isDataPod } from '../resources/members.ts';

const authDirectory = '/etc/clusterwright/auth';
const identityDirectory = '/etc/clusterwright/internal';

/** Share of the keys by which a count may be off. */
const countedRoughly = 0.05;

/** Each node of a set, also one that is to go, by host name. */
function endpointsOf(
  { metadata, status }: Cluster<RedisSpec>,
  set: string,
  port: number,
  wanted: number,
): readonly Endpoint[] {
  const names = (status?.members ?? []).map(({ name }) => name);
  const size = sizeToldBy(set, names, wanted, mostMembers);
  return Array.from({ length: size }, (_, i) => ({ host: `${set}-${i}.${set}.${metadata.namespace}.svc`, port }));
}

export const redisBackup: BackupSupport<RedisSpec> = {
  whyNone: ({ metadata, spec }) =>
    spec.mode === 'Cluster'
      ? `RedisCluster ${metadata.name} has mode Cluster, of which there are no backups yet`
      : undefined,

  /** The primary is among the nodes, and tells what it has acknowledged; the sentinels tell whether it still is. */
  source(cluster) {
    const { metadata, spec } = cluster;
    const { name, key } = passwordSecret(cluster);
    const { data, sentinel, internal } = redisNames(metadata.name);
    const sentinels = (): readonly Endpoint[] => endpointsOf(cluster, sentinel, sentinelPort, spec.sentinel.replicas);
    return {
      source: {
        engine: 'redis',
        members: endpointsOf(cluster, data, dataPort, spec.replicas),
        ...(spec.mode === 'Sentinel' ? { sentinels: { name: metadata.name, members: sentinels() } } : {}),
        passwordFile: `${authDirectory}/password`,
        identity: { user: identityUser(cluster), passwordFile: `${identityDirectory}/${identityKey}` },
      },
      secrets: [
        { name, volume: 'auth', directory: authDirectory, files: { [key]: 'password' } },
        // A cluster that is older than its identity has none yet.
        {
          name: internal,
          volume: 'internal',
          directory: identityDirectory,
          files: { [identityKey]: identityKey },
          optional: true,
        },
      ],
      // The copy that a server makes of itself for a dump is there until that is read, and grows with each write.
      scratch: roomFor(Math.max(unitsOf(spec.storage.size), unitsOf(spec.resources.limits.memory))),
      topology: spec.mode === 'Standalone' ? 'a node that stands alone' : `${spec.replicas} data nodes under Sentinel`,
    };
  },

  /** Its claim says that it was primary last, so the sentinels' first election is decided as after an outage of all. */
  restoreTemplate({ metadata, spec }) {
    return {
      set: redisNames(metadata.name).data,
      destination: { engine: 'redis', directory: paths.data, version: serverText(spec) },
      fetchMounts: [{ name: restoredVolume, mountPath: paths.data }],
      volumes: [],
      containers: [],
      annotations: { [termAnnotation]: '1' },
    };
  },

  drill({ spec }) {
    const { 'min-replicas-to-write': _, ...config } = spec.config;
    const { engine, version, image, modules, storage, resources, scheduling } = spec;
    const { ephemeral: _e, ...volume } = storage;
    return {
      ...(engine === 'Redis' ? {} : { engine }),
      ...{ version, mode: 'Standalone', replicas: 1, storage: volume, resources, scheduling, config },
      ...(image === undefined ? {} : { image }),
      ...(modules === 'None' ? {} : { modules }),
    };
  },

  specVersion: (engineVersion) => parseServer(engineVersion).version.split('.').slice(0, 2).join('.'),
  specFields: (engineVersion) => ({ engine: parseServer(engineVersion).engine }),

  async contents(cluster, children, io) {
    const [pod] = children.pods.filter(isDataPod);
    const address = pod?.status?.podIP;
    if (address === undefined) throw new Error('no data node has an address');
    const target = { address, port: dataPort, credentials: await credentialsOf(cluster, io) };
    const text = String(await withSession(io, target, (connection) => connection.command('INFO', 'keyspace')));
    return Object.fromEntries(
      [...text.matchAll(/^db(\d+):keys=(\d+)/gm)].map(([, database, keys]) => [`keys.${database}`, keys ?? '']),
    );
  },

  isSame(_, wanted, found = '0') {
    // Counted just before the backup, while others may have written, and keys go when their time is over.
    return Math.abs(Number(wanted) - Number(found)) <= Number(wanted) * countedRoughly;
  },
};
