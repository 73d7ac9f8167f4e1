/** Where the agent finds a PostgreSQL cluster, and how the volume of the first member of a new one is made of a base backup. */
import type { Cluster } from '../../../api/cluster.ts';
import { type Endpoint, mostMembers } from '../../../backup/members.ts';
import { type BackupSupport, restoredVolume } from '../../../engine/backup-support.ts';
import { operatorSession } from '../client/credentials.ts';
import { askOne } from '../client/question.ts';
import { recoveryQuestion } from '../client/questions/recovery.ts';
import { hasSource, serverCaSecret } from '../client/server-ca.ts';
import { withSession } from '../client/session.ts';
import type { PostgresSpec } from '../kind/schema.ts';
import { memberName, paths, podName, postgresNames, retiredAnnotation, roles, sqlPort } from '../names.ts';
import { isStrict } from '../resources/patroni-config.ts';
import { postgresImage } from '../resources/pods.ts';
import { postgresArchiveSupport } from './archive.ts';
import { recoverCommand, temporaryDirectory } from './recovery.ts';

const tlsDirectory = '/etc/clusterwright/tls';
const caDirectory = '/etc/clusterwright/server-ca';

/** After a start, a large database answers late. */
const contentsTimeoutMs = 10_000;

/** The members that are known, and those that a new cluster has. The Service of the primary would be one of them a second time. */
function endpointsOf({ metadata, spec, status }: Cluster<PostgresSpec>): readonly Endpoint[] {
  const { members } = postgresNames(metadata.name);
  const first = Array.from({ length: Math.max(1, spec.instances) }, (_, index) => podName(metadata.name, index));
  const known = (status?.members ?? []).map(({ name }) => name);
  const names = [...new Set([...known, ...first])].slice(0, mostMembers);
  return names.map((name) => ({ host: `${name}.${members}.${metadata.namespace}.svc`, port: sqlPort }));
}

function pointOf({ bootstrap }: PostgresSpec) {
  const [point] = Object.entries(bootstrap?.restore?.until ?? {});
  return point === undefined ? {} : { point: point.join(' ') };
}

/** A spec that names a backup and no point wants that backup. */
function logOf({ bootstrap }: PostgresSpec) {
  const { id, until } = bootstrap?.restore ?? {};
  if (id !== undefined && until === undefined) return {};
  return { log: { directory: paths.restoredLog, ...(until === undefined ? {} : { until }) } };
}

export const postgresBackup: BackupSupport<PostgresSpec> = {
  /** As a standby asks: with the certificate of that role, which is also all that the authority of the cluster is told. */
  source(cluster) {
    const { metadata, spec } = cluster;
    const { certificates, primary } = postgresNames(metadata.name);
    const isCopied = hasSource(cluster);
    return {
      source: {
        engine: 'postgres',
        user: roles.replication,
        members: endpointsOf(cluster),
        tls: {
          caFile: `${isCopied ? caDirectory : tlsDirectory}/ca.crt`,
          certFile: `${tlsDirectory}/tls.crt`,
          keyFile: `${tlsDirectory}/tls.key`,
          // In the certificate of every member.
          servername: `${primary}.${metadata.namespace}.svc`,
          ...(isCopied ? { anyName: true } : {}),
        },
        ...(isStrict(spec) ? { withStandby: true } : {}),
      },
      secrets: [
        {
          name: certificates.replication,
          volume: 'tls',
          directory: tlsDirectory,
          files: { ...(isCopied ? {} : { 'ca.crt': 'ca.crt' }), 'tls.crt': 'tls.crt', 'tls.key': 'tls.key' },
        },
        ...(isCopied
          ? [
              {
                name: serverCaSecret(cluster),
                volume: 'server-ca',
                directory: caDirectory,
                files: { 'ca.crt': 'ca.crt' },
              },
            ]
          : []),
      ],
      topology: spec.instances === 1 ? '1 instance' : `${spec.instances} instances`,
    };
  },

  restoreTemplate(cluster) {
    const { metadata, spec } = cluster;
    const mount = { name: restoredVolume, mountPath: paths.volume };
    const temporary = { name: 'tmp', mountPath: temporaryDirectory };
    return {
      set: memberName(metadata.name, 0),
      destination: {
        engine: 'postgres',
        directory: paths.restored,
        dataDirectory: paths.data,
        version: spec.version,
        ...logOf(spec),
      },
      fetchMounts: [mount],
      volumes: [{ name: temporary.name, emptyDir: { medium: 'Memory', sizeLimit: '16Mi' } }],
      containers: [
        {
          name: 'recover',
          image: postgresImage(cluster),
          command: recoverCommand(cluster),
          mounts: [mount, temporary],
        },
      ],
      annotations: {},
      retired: retiredAnnotation,
      ...pointOf(spec),
    };
  },

  drill({ spec }) {
    const { version, image, storage, resources, scheduling, initial } = spec;
    // It has the subscriptions of the cluster, and would take changes from the publisher that the cluster then never gets. It also has the
    // jobs of pg_cron, which may write to other systems. Without that extension the setting means nothing.
    const alone = { max_logical_replication_workers: '0', 'cron.launch_active_jobs': 'off' };
    const parameters = { ...spec.parameters, ...alone };
    return {
      ...{ version, instances: 1, storage, resources, scheduling, parameters, initial },
      ...(image === undefined ? {} : { image }),
    };
  },

  // Unless `synchronous.strict` is set, and that may be changed.
  writesAlone: true,

  specVersion: (engineVersion) => engineVersion.split('.')[0] ?? engineVersion,

  async contents(cluster, children, io) {
    const address = children.pods[0]?.status?.podIP;
    if (address === undefined) throw new Error('no instance has an address');
    const target = { ...(await operatorSession(cluster, address, io)), timeoutMs: contentsTimeoutMs };
    const { systemId } = await withSession(io, target, (connection) => askOne(connection, recoveryQuestion));
    return { systemId };
  },

  isSame: (_, wanted, found) => found === wanted,

  archive: postgresArchiveSupport,
};
