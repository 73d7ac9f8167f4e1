/**
 * The Job of a logical import: it dumps a database of the source to a volume of its own, and restores it into the database that it was made
 * for. It has the passwords of the source and of the owner, and nothing that the operator may. One pod: another attempt is another Job, with
 * another database.
 */
import type { Cluster } from '../../../api/cluster.ts';
import type { KubeObject } from '../../../api/object.ts';
import { canonicalQuantity } from '../../../api/quantity.ts';
import { leafKeys } from '../../../certificates/facts.ts';
import { computeResources } from '../../../resources/compute.ts';
import { configMap } from '../../../resources/configmap.ts';
import { job } from '../../../resources/job.ts';
import { agentComponent, ownedMetadata } from '../../../resources/metadata.ts';
import { podBase } from '../../../resources/pod-base.ts';
import { containerSecurityContext } from '../../../resources/podsecurity.ts';
import { schedulingFields } from '../../../resources/scheduling.ts';
import { hasSource, serverCaSecret, sslMode } from '../client/server-ca.ts';
import type { PostgresSpec } from '../kind/schema.ts';
import { dumpedSource } from '../kind/source.ts';
import {
  copiedMark,
  copyAnnotation,
  dumpJobName,
  paths,
  postgresNames,
  programs,
  sqlPort,
  stagingName,
} from '../names.ts';
import { type Mounted, postgresImage, scratch, users } from './pods.ts';
import { texts } from './shell/texts.ts';

export const dumpContainer = 'import';

const script = 'copy_database.py';
const at = {
  script: '/etc/import',
  source: '/etc/source',
  sourceCa: '/etc/source-ca',
  owner: '/etc/owner',
  authority: '/etc/authority',
} as const;
/** Of every pod of a Job, since Kubernetes 1.27. */
const jobUidLabel = 'batch.kubernetes.io/controller-uid';
/** Exit code of the script: it would fail again. */
const refusedCode = 3;
const deadlineSeconds = 7 * 24 * 60 * 60;

/** None where the spec names no database of a source. */
export function dumpJob(cluster: Cluster<PostgresSpec>): readonly KubeObject[] {
  const { metadata, spec } = cluster;
  if (dumpedSource(spec) === undefined) return [];
  const name = dumpJobName(metadata.name);
  const owned = ownedMetadata(cluster, name, { engine: 'postgres', component: agentComponent, version: spec.version });
  const mounted = [users(metadata.name), ...scratch(), ...volumesOf(cluster)];
  const { topologySpreadConstraints: _, ...placed } = schedulingFields(spec.scheduling, {});
  return [
    configMap(owned, { [script]: texts[script] }),
    job({
      metadata: { ...owned, annotations: { [copyAnnotation]: spec.version } },
      retries: 0,
      deadlineSeconds,
      permanentCodes: [refusedCode],
      pods: spec.pods,
      podSpec: {
        ...podBase(spec.pods),
        ...placed,
        containers: [
          {
            name: dumpContainer,
            image: postgresImage(cluster),
            imagePullPolicy: 'IfNotPresent',
            command: ['python3', '-IS', `${at.script}/${script}`],
            env: environment(cluster),
            resources: computeResources(spec.resources),
            securityContext: containerSecurityContext,
            terminationMessagePolicy: 'FallbackToLogsOnError',
            volumeMounts: mounted.flatMap(({ mounts }) => mounts),
          },
        ],
        volumes: mounted.map(({ volume }) => volume),
      },
    }),
  ];
}

interface Variable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: { readonly fieldRef: { readonly fieldPath: string } };
}

/**
 * Variables of libpq for each side: no name has to be quoted in them. Kubernetes makes one `$` of two, and fills in `$(NAME)`. The database
 * is named after the Job, so that no two Jobs have the same.
 */
function environment(cluster: Cluster<PostgresSpec>): readonly Variable[] {
  const { metadata, spec } = cluster;
  const { host = '', port = sqlPort, user = '', tls, logical } = dumpedSource(spec) ?? {};
  const plain = {
    PROGRAMS: programs(spec.version),
    MAJOR: spec.version,
    DIRECTORY: `${paths.volume}/import`,
    MARK: copiedMark,
    TAKES_CHANGES: String(logical?.acceptMissingChanges === true),
    SOURCE_PGHOST: host,
    SOURCE_PGPORT: String(port),
    SOURCE_PGUSER: user,
    SOURCE_PGDATABASE: logical?.database ?? '',
    SOURCE_PGSSLMODE: tls?.mode ?? 'verify-full',
    ...(tls?.ca === undefined ? {} : { SOURCE_PGSSLROOTCERT: `${at.sourceCa}/ca.crt` }),
    SOURCE_PASSWORD_FILE: `${at.source}/password`,
    TARGET_PGHOST: `${postgresNames(metadata.name).primary}.${metadata.namespace}.svc`,
    TARGET_PGPORT: String(sqlPort),
    TARGET_PGUSER: spec.initial.owner,
    TARGET_PGSSLMODE: sslMode(cluster),
    // Proves that who has been logged in to is who has shown the certificate.
    ...(hasSource(cluster) ? { TARGET_PGCHANNELBINDING: 'require' } : {}),
    TARGET_PGSSLROOTCERT: `${at.authority}/ca.crt`,
    TARGET_PASSWORD_FILE: `${at.owner}/password`,
  };
  return [
    { name: 'JOB_UID', valueFrom: { fieldRef: { fieldPath: `metadata.labels['${jobUidLabel}']` } } },
    { name: 'TARGET_PGDATABASE', value: stagingName('$(JOB_UID)') },
    ...Object.entries(plain).map(([name, value]) => ({ name, value: value.replaceAll('$', '$$$$') })),
  ];
}

function volumesOf(cluster: Cluster<PostgresSpec>): Mounted[] {
  const { metadata, spec } = cluster;
  const { app } = postgresNames(metadata.name);
  const source = dumpedSource(spec);
  const fromSecret = (name: string, secretName: string, key: string, path: string, mountPath: string): Mounted => ({
    volume: { name, secret: { secretName, defaultMode: 0o440, items: [{ key, path }] } },
    mounts: [{ name, mountPath, readOnly: true }],
  });
  const { size, storageClassName } = spec.storage;
  const claim = {
    accessModes: ['ReadWriteOnce'],
    resources: { requests: { storage: canonicalQuantity(size) } },
    ...(storageClassName === undefined ? {} : { storageClassName }),
  };
  return [
    {
      volume: {
        name: 'script',
        configMap: { name: dumpJobName(metadata.name), items: [{ key: script, path: script }] },
      },
      mounts: [{ name: 'script', mountPath: at.script, readOnly: true }],
    },
    {
      volume: { name: 'dump', ephemeral: { volumeClaimTemplate: { spec: claim as never } } },
      mounts: [{ name: 'dump', mountPath: paths.volume }],
    },
    ...(source === undefined
      ? []
      : [fromSecret('source', source.password.name, source.password.key, 'password', at.source)]),
    ...(source?.tls.ca === undefined
      ? []
      : [fromSecret('source-ca', source.tls.ca.name, source.tls.ca.key, 'ca.crt', at.sourceCa)]),
    fromSecret('owner', app, 'password', 'password', at.owner),
    fromSecret('authority', serverCaSecret(cluster), leafKeys.trusted, 'ca.crt', at.authority),
  ];
}
