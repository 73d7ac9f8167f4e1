/** PostgresCluster: its schema, defaults and rules. On which node a rule is written, and why, is as in `redis/kind/schema.ts`. */
import { archiveSchema, backupPolicyRules, backupPolicySchema, bootstrapRules } from '../../../api/bootstrap.ts';
import { lifeColumns, stateColumns, wideColumns } from '../../../api/columns.ts';
import { computeRules, computeSchema } from '../../../api/compute.ts';
import { durationSchema } from '../../../api/duration.ts';
import { exporterRules } from '../../../api/exporter.ts';
import { group, version } from '../../../api/group.ts';
import { imageSchema } from '../../../api/image.ts';
import type { KindDefinition } from '../../../api/kind.ts';
import { deletionPolicySchema, pausedSchema } from '../../../api/lifecycle.ts';
import { maintenanceSchema } from '../../../api/maintenance.ts';
import { metadataSchema } from '../../../api/metadata.ts';
import { networkPolicySchema } from '../../../api/network-policy.ts';
import { podsSchema } from '../../../api/pods.ts';
import { schedulingSchema } from '../../../api/scheduling.ts';
import type { Defaulted, StructuralSchema, Written } from '../../../api/schema.ts';
import { databaseFields } from '../../../api/selectable-fields.ts';
import { archiveStatusSchema, statusSchema, walStorageStatusSchema } from '../../../api/status-schema.ts';
import { storageRules, volumeSchema } from '../../../api/storage.ts';
import { accessRules, accessSchema } from './access.ts';
import { postgresBootstrapRules, postgresBootstrapSchema } from './import-from.ts';
import { monitoringSchema } from './monitoring.ts';
import { parametersSchema } from './parameters.ts';
import { poolerRules, poolerSchema } from './pooler.ts';
import { releasedImage } from './released-image.ts';
import { postgresTlsRules, postgresTlsSchema } from './tls.ts';
import { walSizeRules, walStorageRules, walStorageSchema } from './wal-storage.ts';

/** Least memory limit that PostgreSQL and Patroni start with. */
const memberMemory = '256Mi';

/** Majors that are supported, oldest first. */
export const majors = ['15', '16', '17', '18'] as const;
export type Major = (typeof majors)[number];

export function isMajor(text: string): text is Major {
  return majors.some((major) => major === text);
}

const synchronousSchema = {
  type: 'object',
  description:
    'Synchronous replication: a commit is acknowledged when it is on the disk of the primary and of `count` standbys. Without effect on one instance.',
  default: {},
  properties: {
    count: {
      type: 'integer',
      description:
        'Standbys that must have a commit before it is acknowledged; less than instances. 0 is asynchronous: a failover can lose commits.',
      minimum: 0,
      maximum: 4,
      default: 1,
    },
    strict: {
      type: 'boolean',
      description:
        'Stop writes while no standby can acknowledge. When false, the primary then acknowledges alone. In both cases, while fewer than `count` standbys are there, commits wait for those that there are.',
      default: false,
    },
  },
} as const satisfies StructuralSchema;

const failoverSchema = {
  type: 'object',
  description: 'When another instance is elected primary.',
  default: {},
  properties: {
    ttl: durationSchema(
      'Time without a sign of life after which the primary has lost its lock. Patroni asks every quarter of it.',
      '20s',
      // Patroni takes no less: it would go on with 20 s.
      '20s',
      '10m',
    ),
  },
} as const satisfies StructuralSchema;

/** Of a database, a role or a schema: what needs no quotes in SQL. */
const identifier = '^[a-z_][a-z0-9_]{0,62}$';

const isImmutable = { rule: 'self == oldSelf', message: 'initial is immutable: it describes how a new cluster begins' };

const initialSchema = {
  type: 'object',
  description: 'What a new cluster contains. Immutable.',
  default: {},
  properties: {
    database: {
      type: 'string',
      description: 'Name of the first database.',
      default: 'app',
      pattern: identifier,
      maxLength: 63,
      'x-kubernetes-validations': [isImmutable],
    },
    owner: {
      type: 'string',
      description: 'Role that owns it. Its password is in the Secret NAME-app.',
      default: 'app',
      pattern: identifier,
      maxLength: 63,
      'x-kubernetes-validations': [isImmutable],
    },
  },
} as const satisfies StructuralSchema;

const initSchema = {
  type: 'object',
  description: 'What is done once in a new cluster.',
  required: ['sql'],
  properties: {
    sql: {
      type: 'string',
      description:
        'SQL that a Job runs once in the first database, as its owner and in one transaction, when all instances are ready for the first time. It never runs again, changes have no effect once it has, and it does not run in a cluster with `bootstrap`. It is SQL for the server: commands of psql are not understood. If it fails, Ready is False with the words of PostgreSQL; change it to try again.',
      minLength: 1,
      maxLength: 65_536,
      // A length is in characters. Linux takes 128 KiB as one argument of a program, and with it goes what the operator adds.
      'x-kubernetes-validations': [
        {
          rule: 'size(bytes(self)) <= 122880',
          message: 'sql must not take more than 120 KiB (in UTF-8): it is one argument of psql',
        },
      ],
    },
  },
} as const satisfies StructuralSchema;

const upgradeSchema = {
  type: 'object',
  description: 'How another major version is reached: see `version`.',
  default: {},
  properties: {
    withoutBackup: {
      type: 'boolean',
      description:
        'Upgrade although `backup` names no target, so that no backup is taken before. The rehearsal on a copy takes place all the same. A single instance has no way back then.',
      default: false,
    },
    afterSql: {
      type: 'string',
      description:
        'SQL that the owner of the first database runs in it once the new version takes writes, in one transaction. No commands of psql.',
      minLength: 1,
      maxLength: 8192,
      pattern: '^\\s*[^\\\\\\s][\\s\\S]*$',
    },
  },
} as const satisfies StructuralSchema;

/** Raising it may be taken back while the old version runs. The status tells what runs. */
const versionRules = [
  {
    rule: '!has(oldSelf.status) || !has(oldSelf.status.version) || oldSelf.status.version.startsWith(self.spec.version) || self.spec.version > oldSelf.status.version',
    message: 'version cannot be lowered: PostgreSQL cannot read data of a later major version',
    fieldPath: '.spec.version',
  },
] as const;

const policy = backupPolicySchema(', and the base of an archive');

const backupSchema = {
  ...policy,
  properties: { ...policy.properties, archive: archiveSchema },
} as const satisfies StructuralSchema;

export const postgresSpecSchema = {
  type: 'object',
  description: 'What the cluster shall be.',
  properties: {
    version: {
      type: 'string',
      description:
        'Major version of PostgreSQL. A higher one upgrades the data with pg_upgrade, after a rehearsal on a copy; the image must contain both versions. The image decides the minor version.',
      enum: majors,
      default: '17',
    },
    image: imageSchema(releasedImage('VERSION')),
    instances: {
      type: 'integer',
      description:
        'Number of instances: the primary and its standbys. 0 parks the cluster: nothing runs, and all data is kept.',
      enum: [0, 1, 2, 3, 4, 5],
      default: 3,
    },
    storage: volumeSchema,
    walStorage: walStorageSchema,
    resources: computeSchema('an instance', { cpu: '100m', memory: '512Mi' }, memberMemory),
    scheduling: schedulingSchema,
    pods: podsSchema,
    parameters: parametersSchema,
    synchronous: synchronousSchema,
    failover: failoverSchema,
    initial: initialSchema,
    upgrade: upgradeSchema,
    pooler: poolerSchema,
    monitoring: monitoringSchema,
    access: accessSchema,
    networkPolicy: networkPolicySchema,
    tls: postgresTlsSchema,
    backup: backupSchema,
    bootstrap: postgresBootstrapSchema,
    init: initSchema,
    deletionPolicy: deletionPolicySchema,
    maintenance: maintenanceSchema,
    paused: pausedSchema('The database keeps running, and Patroni keeps failing over.'),
  },
  'x-kubernetes-validations': [
    {
      rule: 'self.instances <= 1 || self.synchronous.count < self.instances',
      message: 'synchronous.count must be less than instances',
      fieldPath: '.synchronous.count',
    },
    {
      rule: "!(self.initial.database in ['postgres', 'template0', 'template1'])",
      message: 'initial.database must not be a database of PostgreSQL itself: postgres, template0, template1',
      fieldPath: '.initial.database',
    },
    {
      rule: "!self.initial.owner.startsWith('pg_') && !(self.initial.owner in ['postgres', 'public', 'replicator', 'rewinder']) && !self.initial.owner.startsWith('clusterwright')",
      message:
        'initial.owner must not be a role of PostgreSQL or of the operator: pg_*, clusterwright*, postgres, public, replicator, rewinder',
      fieldPath: '.initial.owner',
    },
    ...walStorageRules,
    ...computeRules('resources', memberMemory),
    ...poolerRules,
    ...exporterRules,
    ...accessRules,
    ...postgresTlsRules,
    ...bootstrapRules,
    ...postgresBootstrapRules,
    ...backupPolicyRules,
  ],
} as const satisfies StructuralSchema;

/** After defaulting. */
export type PostgresSpec = Defaulted<typeof postgresSpecSchema>;
/** As people write it. */
export type PostgresSpecInput = Written<typeof postgresSpecSchema>;

const postgresStatusSchema = {
  ...statusSchema,
  properties: {
    ...statusSchema.properties,
    archive: archiveStatusSchema,
    walStorage: walStorageStatusSchema,
  },
} as const satisfies StructuralSchema;

const description = 'A PostgreSQL database: a primary and its standbys, with automatic failover.';

export const postgresKind: KindDefinition = {
  resource: { group, version, kind: 'PostgresCluster', plural: 'postgresclusters', namespaced: true },
  singular: 'postgrescluster',
  shortNames: ['pgc'],
  description,
  schema: {
    type: 'object',
    description,
    required: ['spec'],
    properties: { metadata: metadataSchema, spec: postgresSpecSchema, status: postgresStatusSchema },
    'x-kubernetes-validations': [...storageRules, ...walSizeRules, ...versionRules],
  },
  printerColumns: [
    ...stateColumns,
    { name: 'Desired', type: 'integer', jsonPath: '.spec.instances', description: 'Instances wanted.' },
    { name: 'Up', type: 'integer', jsonPath: '.status.readyReplicas', description: 'Instances ready.' },
    { name: 'Version', type: 'string', jsonPath: '.status.version', description: 'Version that runs.' },
    { name: 'Primary', type: 'string', jsonPath: '.status.primary', description: 'Pod that takes writes.' },
    ...lifeColumns,
    ...wideColumns,
  ],
  selectableFields: databaseFields,
  scale: {
    specReplicasPath: '.spec.instances',
    statusReplicasPath: '.status.replicas',
    labelSelectorPath: '.status.selector',
  },
};
