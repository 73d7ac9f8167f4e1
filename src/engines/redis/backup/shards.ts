/** Backups and restores in mode Cluster: a part of the backup for each shard, and a volume for each part. */
import type { Cluster } from '../../../api/cluster.ts';
import type { Contents } from '../../../backup/engine-data.ts';
import {
  type BackupSource,
  type RestoredSet,
  type RestoreTemplate,
  restoredVolume,
} from '../../../engine/backup-support.ts';
import type { EngineContext } from '../../../engine/engine-context.ts';
import type { Children } from '../../../resources/children.ts';
import { infoFields } from '../client/reply-fields.ts';
import { parseRestoredShard } from '../client/restored-shard.ts';
import { credentialsOf, withSession } from '../client/session.ts';
import type { RedisSpec } from '../kind/schema.ts';
import { serverText } from '../kind/server.ts';
import { replicasPerShardOf, shardsOf } from '../kind/shards.ts';
import { slotText } from '../kind/slots.ts';
import { dataPort, paths, redisNames, restoredKeysAnnotation, slotsAnnotation } from '../names.ts';
import { isDataPod } from '../resources/members.ts';
import { shardSetName } from '../resources/shards/names.ts';
import { shardsContent } from './schemas.ts';
import { endpointsOf, identityFor, identitySecret, scratchFor } from './source.ts';

function setsOf({ metadata, spec }: Cluster<RedisSpec>): readonly string[] {
  return Array.from({ length: shardsOf(spec) }, (_, shard) => shardSetName(metadata.name, shard));
}

/** The agent asks the nodes who is primary. Nobody logs in as a client: what decides is said to the cluster itself. */
export function shardsSource(cluster: Cluster<RedisSpec>): BackupSource {
  const { metadata, spec } = cluster;
  const { data } = redisNames(metadata.name);
  const sets = setsOf(cluster);
  const nodes = replicasPerShardOf(spec) + 1;
  return {
    source: {
      engine: 'redis',
      shards: sets.map((set) => ({ members: endpointsOf(cluster, set, dataPort, nodes, data) })),
      identity: identityFor(cluster),
    },
    secrets: [identitySecret(cluster)],
    // Shards are read one after the other.
    scratch: scratchFor(spec),
    topology: `${sets.length} shards of ${nodes} ${nodes === 1 ? 'node' : 'nodes'}`,
  };
}

/** The first node of each shard gets its data, and is its first primary. */
export function shardsRestoreTemplate(cluster: Cluster<RedisSpec>): RestoreTemplate {
  const { spec } = cluster;
  const sets = setsOf(cluster);
  const [first = { set: '', destination: { engine: 'redis' } }, ...others] = sets.map(
    (set, index): RestoredSet => ({
      set,
      destination: {
        engine: 'redis',
        directory: paths.data,
        version: serverText(spec),
        shard: { index, count: sets.length },
      },
    }),
  );
  return {
    ...first,
    others,
    fetchMounts: [{ name: restoredVolume, mountPath: paths.data }],
    volumes: [],
    containers: [],
    annotations: {},
    annotationsOf(told) {
      const shard = parseRestoredShard(told);
      if (shard === undefined) return undefined;
      return { [slotsAnnotation]: slotText(shard.slots), [restoredKeysAnnotation]: String(shard.lastingKeys) };
    },
  };
}

/** As many shards as the backup has, which may be more or fewer than there are by now. */
export function drillShards(spec: RedisSpec, contents: Contents | undefined): object {
  const told = Number(contents?.[shardsContent]);
  const shards = Number.isInteger(told) ? told : shardsOf(spec);
  return { mode: 'Cluster', shards, replicasPerShard: 0 };
}

/** Keys of all primaries together. */
export async function shardsContents(
  cluster: Cluster<RedisSpec>,
  children: Children,
  io: EngineContext,
): Promise<Contents> {
  const credentials = await credentialsOf(cluster, io);
  const counts = await Promise.all(
    children.pods.filter(isDataPod).map(async ({ metadata, status }) => {
      const address = status?.podIP;
      if (address === undefined) throw new Error(`${metadata.name} has no address`);
      return withSession(io, { address, port: dataPort, credentials }, async ({ command }) => {
        const [role, keys] = await Promise.all([command('INFO', 'replication'), command('DBSIZE')]);
        return infoFields(String(role)).role === 'master' ? Number(keys) : undefined;
      });
    }),
  );
  const primaries = counts.filter((keys) => keys !== undefined);
  return {
    [shardsContent]: String(primaries.length),
    'keys.0': String(primaries.reduce((sum, keys) => sum + keys, 0)),
  };
}
