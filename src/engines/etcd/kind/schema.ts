/**
 * EtcdCluster: its schema, defaults and rules. Where a rule stands, and why, is as in `redis.ts`.
 *
 * Every member has a volume: etcd counts on each of them to remember what it has acknowledged, so there is no way to
 * ask for one without.
 */
import { backupPolicyRules, backupPolicySchema, bootstrapRules, bootstrapSchema } from '../../../api/bootstrap.ts';
import { lifeColumns, stateColumns, wideColumns } from '../../../api/columns.ts';
import { computeRules, computeSchema } from '../../../api/compute.ts';
import { durationSchema } from '../../../api/duration.ts';
import { externalNamesSchema, externalServiceSchema } from '../../../api/external-service.ts';
import { group, version } from '../../../api/group.ts';
import { imageSchema } from '../../../api/image.ts';
import type { KindDefinition } from '../../../api/kind.ts';
import { deletionPolicySchema, pausedSchema } from '../../../api/lifecycle.ts';
import { maintenanceSchema } from '../../../api/maintenance.ts';
import { metadataSchema } from '../../../api/metadata.ts';
import { networkPolicySchema } from '../../../api/network-policy.ts';
import { podsWithAccountSchema } from '../../../api/pods.ts';
import { quantityPattern } from '../../../api/quantity.ts';
import { schedulingSchema } from '../../../api/scheduling.ts';
import type { Defaulted, StructuralSchema, Written } from '../../../api/schema.ts';
import { secretRefSchema } from '../../../api/secret-ref.ts';
import { databaseFields } from '../../../api/selectable-fields.ts';
import { statusSchema } from '../../../api/status-schema.ts';
import { storageRules, volumeSchema } from '../../../api/storage.ts';
import { releasedImage } from './released-image.ts';
import { etcdTlsSchema } from './tls.ts';

/** A rule and no pattern, since a rule has words. Other rules on the version have nothing to add where it is broken. */
const isVersion = (self: string): string => `${self}.matches('^3[.][56][.](0|[1-9][0-9]?)$')`;
const minor = (self: string): string => `int(${self}.split('.')[1])`;
const patch = (self: string): string => `int(${self}.split('.')[2])`;
const release = (self: string): string => `(${minor(self)} * 1000 + ${patch(self)})`;

/** The first release whose metrics port answers `/livez` and `/readyz`, which the kubelet asks. */
export const firstPatchOf35 = 11;
/**
 * etcd's own advice: earlier ones may bring members back to life in 3.6 that were removed long ago. What writes the
 * membership down in that way is no place to go back to, either.
 */
export const lastPatchBefore36 = 32;

/** A name that only has a meaning inside of the Kubernetes cluster, or on one node. */
const insideName = '(^|[.])localhost$|[.]svc([.]|$)|(^|[.])cluster[.]local$';

/** Least memory limit that a member starts with. */
const memberMemory = '64Mi';

const configSchema = {
  type: 'object',
  description: 'Settings of the members. After a change, the members restart one at a time.',
  default: {},
  properties: {
    quotaBackend: {
      type: 'string',
      description:
        'Size at which etcd accepts no more writes, from 16Mi to 32Gi, and below storage.size. When absent, 60 % of the smallest volume of a member, less for volumes under 1.5Gi, and at most 8Gi.',
      pattern: quantityPattern,
      maxLength: 20,
      'x-kubernetes-validations': [
        {
          rule: "quantity(self).compareTo(quantity('16Mi')) >= 0 && quantity(self).compareTo(quantity('32Gi')) <= 0",
          message: 'must be from 16Mi to 32Gi',
        },
      ],
    },
    autoCompaction: {
      type: 'object',
      description: 'Automatic compaction of the history of keys.',
      default: {},
      properties: {
        mode: {
          type: 'string',
          description:
            'Periodic keeps the history of a time, Revision keeps a number of revisions, Off keeps the whole history.',
          enum: ['Periodic', 'Revision', 'Off'],
          default: 'Periodic',
        },
        retention: {
          type: 'string',
          description: 'With Periodic, a time such as 30m or 1h. With Revision, a number. Ignored with Off.',
          default: '1h',
          pattern: '^[1-9][0-9]{0,8}(m|h)?$',
          maxLength: 10,
        },
      },
    },
    snapshotCount: {
      type: 'integer',
      description: 'Number of changes after which a member writes a snapshot and can truncate its log.',
      minimum: 100,
      maximum: 1_000_000,
      default: 10_000,
    },
    heartbeatInterval: durationSchema('Interval between heartbeats of the leader.', '100ms', '10ms', '5s'),
    electionTimeout: durationSchema(
      'Time without a heartbeat after which members elect another leader: at least five times heartbeatInterval.',
      '1s',
      '100ms',
      '50s',
    ),
  },
} as const satisfies StructuralSchema;

const accessSchema = {
  type: 'object',
  description: 'Access from outside of the Kubernetes cluster. The Services inside stay as they are.',
  properties: {
    clients: externalServiceSchema('the members that are ready'),
    names: {
      ...externalNamesSchema,
      description:
        'DNS names by which clients outside connect. They are added to the certificates of members, except to those of tls.client.secretRef. With tls.client.certManager, names inside of the Kubernetes cluster are refused.',
    },
  },
} as const satisfies StructuralSchema;

const authSchema = {
  type: 'object',
  description: 'Authentication of clients. The operator logs in as the user root.',
  default: {},
  properties: {
    enabled: {
      type: 'boolean',
      description: 'Require a user name and a password. The operator creates only the user root.',
      default: false,
    },
    secretRef: {
      ...secretRefSchema,
      description:
        'Secret with the password of root, in the namespace of the cluster. When absent, the operator generates a password.',
    },
  },
} as const satisfies StructuralSchema;

const etcdMaintenanceSchema = {
  type: 'object',
  description:
    'Automatic maintenance of the databases, one member at a time, and when members may restart for changes that can wait.',
  default: {},
  properties: {
    ...maintenanceSchema.properties,
    defrag: {
      type: 'object',
      description: 'Defragmentation. A member answers no request while it is defragmented.',
      default: {},
      properties: {
        mode: {
          type: 'string',
          description: 'Automatic: when unusedPercent is reached, the leader last. Off: only to end an alarm NOSPACE.',
          enum: ['Automatic', 'Off'],
          default: 'Automatic',
        },
        unusedPercent: {
          type: 'integer',
          description:
            'Unused share of a database in percent from which it is defragmented. Databases up to a quarter of the quota are not defragmented.',
          minimum: 10,
          maximum: 90,
          default: 50,
        },
      },
    },
  },
} as const satisfies StructuralSchema;

const restoreOptions = {
  bumpRevision: {
    type: 'boolean',
    description:
      'Increase the revision by 1,000,000,000 in the restored data and mark earlier revisions as compacted, so that clients of the old cluster never see a revision twice.',
    default: true,
  },
} as const satisfies Readonly<Record<string, StructuralSchema>>;

export const defaultVersion = '3.6.16';

export const etcdSpecSchema = {
  type: 'object',
  description: 'Desired state of the cluster.',
  properties: {
    version: {
      type: 'string',
      description: `Version of etcd, major.minor.patch, 3.5.${firstPatchOf35} or later. An upgrade from 3.5 to 3.6 needs 3.5.${lastPatchBefore36} or later. A downgrade from 3.6 is possible to 3.5.${lastPatchBefore36} or later.`,
      default: defaultVersion,
      maxLength: 32,
      'x-kubernetes-validations': [
        {
          rule: isVersion('self'),
          message: `version must be major.minor.patch, such as 3.6.16, without a v; supported are 3.5, from 3.5.${firstPatchOf35} on, and 3.6`,
        },
        {
          rule: `!${isVersion('self')} || ${release('self')} >= ${5000 + firstPatchOf35}`,
          message: `version must be 3.5.${firstPatchOf35} or later`,
        },
        {
          rule: `!${isVersion('self')} || ${minor('self')} == ${minor('oldSelf')} || ${release('oldSelf')} >= ${5000 + lastPatchBefore36}`,
          message: `version must be 3.5.${lastPatchBefore36} or later before it becomes 3.6`,
        },
        {
          rule: `!${isVersion('self')} || ${minor('self')} == ${minor('oldSelf')} || ${release('self')} >= ${5000 + lastPatchBefore36}`,
          message: `version can only go back from 3.6 to 3.5.${lastPatchBefore36} or later`,
        },
      ],
    },
    image: imageSchema(releasedImage('VERSION')),
    replicas: {
      type: 'integer',
      description: 'Number of members. 0 parks the cluster: all members stop, and all data is kept.',
      enum: [0, 1, 3, 5, 7],
      default: 3,
    },
    storage: volumeSchema,
    resources: computeSchema('a member', { cpu: '100m', memory: '512Mi' }, memberMemory),
    scheduling: schedulingSchema,
    pods: podsWithAccountSchema,
    access: accessSchema,
    networkPolicy: networkPolicySchema,
    config: configSchema,
    auth: authSchema,
    tls: etcdTlsSchema,
    maintenance: etcdMaintenanceSchema,
    backup: backupPolicySchema(', and one before a change of the minor version'),
    bootstrap: bootstrapSchema(restoreOptions),
    deletionPolicy: deletionPolicySchema,
    paused: pausedSchema('The database runs, and still elects its leader. The operator renews no certificates.'),
  },
  'x-kubernetes-validations': [
    {
      rule: '!has(self.config.quotaBackend) || quantity(self.config.quotaBackend).compareTo(quantity(self.storage.size)) < 0',
      message: 'config.quotaBackend must be less than storage.size',
    },
    {
      rule: "self.config.autoCompaction.mode == 'Off' || (self.config.autoCompaction.mode == 'Revision') == self.config.autoCompaction.retention.matches('^[0-9]+$')",
      message: 'config.autoCompaction.retention must be a time with Periodic and a number with Revision',
      fieldPath: '.config.autoCompaction.retention',
    },
    {
      rule: 'duration(self.config.electionTimeout) >= duration(self.config.heartbeatInterval) + duration(self.config.heartbeatInterval) + duration(self.config.heartbeatInterval) + duration(self.config.heartbeatInterval) + duration(self.config.heartbeatInterval)',
      message: 'config.electionTimeout must be at least five times config.heartbeatInterval',
      fieldPath: '.config.electionTimeout',
    },
    {
      rule: '!has(self.access) || size(self.access.names) == 0 || has(self.tls.client)',
      message: 'access.names needs tls.client: without it there are no certificates for clients',
      fieldPath: '.access',
    },
    {
      // The issuer may be one that other clusters trust: such a name would make this one pass for a member of another.
      rule: `!has(self.access) || !has(self.tls.client) || !has(self.tls.client.certManager) || self.access.names.all(n, !n.matches('${insideName}'))`,
      message:
        'access.names must not be localhost, end in .svc or .cluster.local, or contain .svc. with tls.client.certManager: these names belong to Services inside of the Kubernetes cluster',
      fieldPath: '.access',
    },
    ...bootstrapRules,
    ...backupPolicyRules,
    ...computeRules('resources', memberMemory),
  ],
} as const satisfies StructuralSchema;

/** After defaulting. */
export type EtcdSpec = Defaulted<typeof etcdSpecSchema>;
/** As people write it. */
export type EtcdSpecInput = Written<typeof etcdSpecSchema>;

const description = 'An etcd cluster.';

export const etcdKind: KindDefinition = {
  resource: { group, version, kind: 'EtcdCluster', plural: 'etcdclusters', namespaced: true },
  singular: 'etcdcluster',
  shortNames: ['etc'],
  description,
  schema: {
    type: 'object',
    description,
    required: ['spec'],
    properties: { metadata: metadataSchema, spec: etcdSpecSchema, status: statusSchema },
    'x-kubernetes-validations': storageRules,
  },
  printerColumns: [
    ...stateColumns,
    { name: 'Desired', type: 'integer', jsonPath: '.spec.replicas', description: 'Number of members in the spec.' },
    {
      name: 'Up',
      type: 'integer',
      jsonPath: '.status.readyReplicas',
      description: 'Number of members that are ready.',
    },
    { name: 'Version', type: 'string', jsonPath: '.status.version', description: 'Running version.' },
    { name: 'Leader', type: 'string', jsonPath: '.status.primary', description: 'Pod of the leader.' },
    ...lifeColumns,
    ...wideColumns,
  ],
  selectableFields: databaseFields,
  scale: {
    specReplicasPath: '.spec.replicas',
    statusReplicasPath: '.status.replicas',
    labelSelectorPath: '.status.selector',
  },
};
