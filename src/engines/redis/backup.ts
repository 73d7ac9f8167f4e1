/** Where the agent finds a Redis cluster, and what the first volume of a new one is filled with. */
import type { RedisSpec } from '../../api/redis.ts';
import { type BackupPart, filledVolume } from '../backup-part.ts';
import { dataPort, paths, redisNames, termAnnotation } from './names.ts';
import { passwordSecret } from './password.ts';
import { dataPodNames } from './situation.ts';

const authDirectory = '/etc/clusterwright/auth';

export const redisBackup: BackupPart<RedisSpec> = {
  source(cluster) {
    const { metadata, spec } = cluster;
    const { name, key } = passwordSecret(cluster);
    const service = `${redisNames(metadata.name).data}.${metadata.namespace}.svc`;
    return {
      source: {
        engine: 'redis',
        members: dataPodNames(cluster, spec.replicas).map((pod) => ({ host: `${pod}.${service}`, port: dataPort })),
        passwordFile: `${authDirectory}/password`,
      },
      secrets: [{ name, volume: 'auth', directory: authDirectory, files: { [key]: 'password' } }],
      topology: spec.mode === 'Standalone' ? 'a node that stands alone' : `${spec.replicas} data nodes under Sentinel`,
    };
  },

  /** Its claim says that it was primary last, so the sentinels' first election is decided as after an outage of all. */
  filling({ metadata, spec }) {
    return {
      set: redisNames(metadata.name).data,
      destination: { engine: 'redis', directory: paths.data, version: spec.version },
      fetchMounts: [{ name: filledVolume, mountPath: paths.data }],
      volumes: [],
      fillers: [],
      annotations: { [termAnnotation]: '1' },
    };
  },
};
