/** Where the agent finds a Redis cluster, and what the first volume of a new one is filled with. */
import type { Endpoint } from '../../../backup/members.ts';
import { type BackupSupport, restoredVolume } from '../../../engine/backup-support.ts';
import { passwordSecret } from '../client/password.ts';
import { credentialsOf, withSession } from '../client/session.ts';
import type { RedisSpec } from '../kind/schema.ts';
import { parseServer, serverText } from '../kind/server.ts';
import { dataPort, paths, redisNames, sentinelPort, termAnnotation } from '../names.ts';
import { isDataPod } from '../resources/members.ts';
import { shardsContent } from './schemas.ts';
import { drillShards, shardsContents, shardsRestoreTemplate, shardsSource } from './shards.ts';
import { endpointsOf, identityFor, identitySecret, scratchFor } from './source.ts';

const authDirectory = '/etc/clusterwright/auth';

/** Share of the keys by which a count may be off. */
const countedRoughly = 0.05;

export const redisBackup: BackupSupport<RedisSpec> = {
  /** The primary is among the nodes, and tells what it has acknowledged; the sentinels tell whether it still is. */
  source(cluster) {
    const { metadata, spec } = cluster;
    if (spec.mode === 'Cluster') return shardsSource(cluster);
    const { name, key } = passwordSecret(cluster);
    const { data, sentinel } = redisNames(metadata.name);
    const sentinels = (): readonly Endpoint[] => endpointsOf(cluster, sentinel, sentinelPort, spec.sentinel.replicas);
    return {
      source: {
        engine: 'redis',
        members: endpointsOf(cluster, data, dataPort, spec.replicas),
        ...(spec.mode === 'Sentinel' ? { sentinels: { name: metadata.name, members: sentinels() } } : {}),
        passwordFile: `${authDirectory}/password`,
        identity: identityFor(cluster),
      },
      secrets: [
        { name, volume: 'auth', directory: authDirectory, files: { [key]: 'password' } },
        // A cluster that is older than its identity has none yet.
        { ...identitySecret(cluster), optional: true },
      ],
      scratch: scratchFor(spec),
      topology: spec.mode === 'Standalone' ? 'a node that stands alone' : `${spec.replicas} data nodes under Sentinel`,
    };
  },

  /** Its claim says that it was primary last, so the sentinels' first election is decided as after an outage of all. */
  restoreTemplate(cluster) {
    const { metadata, spec } = cluster;
    if (spec.mode === 'Cluster') return shardsRestoreTemplate(cluster);
    return {
      set: redisNames(metadata.name).data,
      destination: { engine: 'redis', directory: paths.data, version: serverText(spec) },
      fetchMounts: [{ name: restoredVolume, mountPath: paths.data }],
      volumes: [],
      containers: [],
      annotations: { [termAnnotation]: '1' },
    };
  },

  drill({ spec }, contents) {
    const { 'min-replicas-to-write': _, ...config } = spec.config;
    const { engine, version, image, modules, storage, resources, scheduling } = spec;
    const { ephemeral: _e, ...volume } = storage;
    return {
      ...(engine === 'Redis' ? {} : { engine }),
      ...{ version, storage: volume, resources, scheduling, config },
      ...(spec.mode === 'Cluster' ? drillShards(spec, contents) : { mode: 'Standalone', replicas: 1 }),
      ...(image === undefined ? {} : { image }),
      ...(modules === 'None' ? {} : { modules }),
    };
  },

  specVersion: (engineVersion) => parseServer(engineVersion).version.split('.').slice(0, 2).join('.'),
  specFields: (engineVersion, contents) => ({
    engine: parseServer(engineVersion).engine,
    ...(contents?.[shardsContent] === undefined ? {} : { mode: 'Cluster' }),
  }),

  async contents(cluster, children, io) {
    if (cluster.spec.mode === 'Cluster') return shardsContents(cluster, children, io);
    const [pod] = children.pods.filter(isDataPod);
    const address = pod?.status?.podIP;
    if (address === undefined) throw new Error('no data node has an address');
    const target = { address, port: dataPort, credentials: await credentialsOf(cluster, io) };
    const text = String(await withSession(io, target, (connection) => connection.command('INFO', 'keyspace')));
    return Object.fromEntries(
      [...text.matchAll(/^db(\d+):keys=(\d+)/gm)].map(([, database, keys]) => [`keys.${database}`, keys ?? '']),
    );
  },

  isSame(name, wanted, found = '0') {
    if (name === shardsContent) return wanted === found;
    // Counted just before the backup, while others may have written, and keys go when their time is over.
    return Math.abs(Number(wanted) - Number(found)) <= Number(wanted) * countedRoughly;
  },
};
