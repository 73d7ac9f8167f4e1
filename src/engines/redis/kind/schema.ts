/**
 * RedisCluster: its schema, defaults and rules.
 *
 * The schema is what the API server gets, to the letter. A rule about one field stands on that field; one about the
 * presence of a field stands on its parent, because a transition rule on an optional field is skipped when the field
 * comes or goes; one about several fields stands on `spec`, because the API server checks the rules of a node against
 * the node's own default, `{}`, before the defaults inside it are filled in.
 */
import { backupPolicyRules, backupPolicySchema, bootstrapRules } from '../../../api/bootstrap.ts';
import { lifeColumns, stateColumns, wideColumns } from '../../../api/columns.ts';
import { computeRules, computeSchema } from '../../../api/compute.ts';
import { durationSchema } from '../../../api/duration.ts';
import { exporterRules } from '../../../api/exporter.ts';
import { externalServiceSchema } from '../../../api/external-service.ts';
import { group, version } from '../../../api/group.ts';
import { imageSchema } from '../../../api/image.ts';
import type { KindDefinition } from '../../../api/kind.ts';
import { deletionPolicySchema, pausedSchema } from '../../../api/lifecycle.ts';
import { maintenanceSchema } from '../../../api/maintenance.ts';
import { metadataSchema } from '../../../api/metadata.ts';
import { networkPolicySchema } from '../../../api/network-policy.ts';
import { podsWithAccountSchema } from '../../../api/pods.ts';
import { schedulingSchema } from '../../../api/scheduling.ts';
import type { Defaulted, StructuralSchema, Written } from '../../../api/schema.ts';
import { secretRefSchema } from '../../../api/secret-ref.ts';
import { databaseFields } from '../../../api/selectable-fields.ts';
import { statusSchema } from '../../../api/status-schema.ts';
import { storageRules, storageSchema } from '../../../api/storage.ts';
import { directiveProperties } from './directives.ts';
import { redisBootstrapRules, redisBootstrapSchema } from './import-from.ts';
import { moduleRules, modulesSchema } from './modules.ts';
import { monitoringSchema } from './monitoring.ts';
import { proxyRules, proxySchema } from './proxy.ts';
import { releasedImage } from './released-image.ts';
import { serverEngines } from './server.ts';
import {
  membersStatusSchema,
  placementStatusSchema,
  replicasPerShardSchema,
  shardRules,
  shardsSchema,
} from './shards.ts';
import { usersSchema } from './users.ts';
import { directiveRules, engineRules, runningRules, versionRules } from './version-rules.ts';

/** Least memory limits that the processes start and fork with. */
const sentinelMemory = '32Mi';
const dataMemory = '64Mi';

/** After which time out of reach a primary takes no writes. */
export const defaultFenceAfter = '10s';

const fenceSchema = {
  type: 'object',
  description:
    'When a primary that is cut off refuses writes (NOREPLICAS), since they would be lost once another is elected. Its pod decides, without the operator. A cluster of one Redis node needs no fence.',
  default: {},
  properties: {
    mode: {
      type: 'string',
      description:
        'Isolated: when it reaches neither a majority of the sentinels nor a replica. Strict: when it does not reach a majority of the sentinels. Off: never.',
      enum: ['Isolated', 'Strict', 'Off'],
      default: 'Isolated',
    },
    after: durationSchema('Time out of reach after which writes are refused.', defaultFenceAfter, '3s', '60s'),
  },
} as const satisfies StructuralSchema;

const sentinelSchema = {
  type: 'object',
  description:
    'The sentinels, which monitor the Redis nodes and elect the primary. Ignored in modes Standalone and Cluster.',
  default: {},
  properties: {
    replicas: {
      type: 'integer',
      description: 'Number of sentinels. It can change by at most two at a time.',
      enum: [3, 5, 7],
      default: 3,
      'x-kubernetes-validations': [
        {
          rule: 'self - oldSelf <= 2 && oldSelf - self <= 2',
          message: 'sentinel.replicas can change by at most two at a time',
        },
      ],
    },
    quorum: {
      type: 'integer',
      description: 'Number of sentinels that must agree that the primary is down: more than half of all sentinels.',
      minimum: 2,
      maximum: 7,
      default: 2,
    },
    downAfter: durationSchema(
      'Time without an answer after which a sentinel considers a node down.',
      '3s',
      '1s',
      '60s',
    ),
    failoverTimeout: durationSchema(
      'Time after which a failover that is not complete is tried again; longer than downAfter.',
      '15s',
      '3s',
      '10m',
    ),
    fence: fenceSchema,
    resources: computeSchema('a sentinel', { cpu: '20m', memory: '64Mi' }, sentinelMemory),
  },
} as const satisfies StructuralSchema;

const configSchema = {
  type: 'object',
  description: 'Directives of redis.conf. The operator sets all other directives.',
  default: {},
  properties: directiveProperties,
  'x-kubernetes-validations': [
    {
      rule: '(has(self.databases) ? self.databases : 16) >= (has(oldSelf.databases) ? oldSelf.databases : 16)',
      message: 'config.databases can only grow',
    },
  ],
} as const satisfies StructuralSchema;

const accessSchema = {
  type: 'object',
  description:
    'Access from outside of the Kubernetes cluster. The Services inside stay as they are. Connections are not encrypted.',
  properties: {
    primary: externalServiceSchema('the primary'),
    replicas: externalServiceSchema('the replicas'),
  },
} as const satisfies StructuralSchema;

/** Of a cluster whose spec has no `auth`. */
export const defaultOverlap = '60m';

const authSchema = {
  type: 'object',
  description: 'Passwords of clients.',
  properties: {
    secretRef: {
      ...secretRefSchema,
      description: 'Secret with the password. When absent, the operator generates a password.',
    },
    overlap: durationSchema(
      'Time for which servers still accept a password that the Secret no longer names, once all of them accept those that it names.',
      defaultOverlap,
      '2m',
      '10080m',
    ),
  },
} as const satisfies StructuralSchema;

export const defaultVersion = '8.0';

export const redisSpecSchema = {
  type: 'object',
  description: 'Desired state of the cluster.',
  properties: {
    engine: {
      type: 'string',
      description:
        'Server of the cluster. It can change from Redis to Valkey while version is 7.2 or earlier, and not back.',
      enum: serverEngines,
      default: 'Redis',
    },
    version: {
      type: 'string',
      description:
        'Version of the server, major.minor: 7.0 or later of Redis, 7.2 or later of Valkey. It can only increase, by at most one major version at a time.',
      default: defaultVersion,
      maxLength: 32,
      'x-kubernetes-validations': versionRules,
    },
    image: imageSchema(`${releasedImage('VERSION')} or ${releasedImage('VERSION', 'Valkey')}`),
    mode: {
      type: 'string',
      description:
        'Standalone: one Redis node without failover. Sentinel: a primary with replicas. Cluster: hash slots over several shards, each a primary with replicas. It can change from Standalone to Sentinel, and in no other way.',
      enum: ['Standalone', 'Sentinel', 'Cluster'],
      default: 'Sentinel',
      'x-kubernetes-validations': [
        {
          rule: "self == oldSelf || (oldSelf == 'Standalone' && self == 'Sentinel')",
          message: 'mode can change from Standalone to Sentinel, and in no other way',
        },
      ],
    },
    replicas: {
      type: 'integer',
      description: 'Number of Redis nodes, including the primary. Leave it out in mode Cluster.',
      minimum: 1,
      maximum: 9,
      default: 3,
    },
    shards: shardsSchema,
    replicasPerShard: replicasPerShardSchema,
    sentinel: sentinelSchema,
    storage: storageSchema,
    resources: computeSchema('a Redis node', { cpu: '100m', memory: '512Mi' }, dataMemory),
    scheduling: schedulingSchema,
    pods: podsWithAccountSchema,
    access: accessSchema,
    proxy: proxySchema,
    networkPolicy: networkPolicySchema,
    config: configSchema,
    modules: modulesSchema,
    auth: authSchema,
    users: usersSchema,
    monitoring: monitoringSchema,
    backup: backupPolicySchema(),
    bootstrap: redisBootstrapSchema,
    deletionPolicy: deletionPolicySchema,
    maintenance: maintenanceSchema,
    paused: pausedSchema('The database runs, and Sentinel still performs failovers.'),
  },
  'x-kubernetes-validations': [
    {
      rule: "self.mode != 'Standalone' || self.replicas == 1",
      message: 'mode Standalone takes replicas: 1',
      fieldPath: '.replicas',
    },
    {
      rule: "self.mode == 'Cluster' || !has(self.config.min__dash__replicas__dash__to__dash__write) || self.config.min__dash__replicas__dash__to__dash__write < self.replicas",
      message: 'config.min-replicas-to-write must be less than replicas',
    },
    {
      rule: "!has(self.config.maxmemory) || quantity(self.config.maxmemory.replace('kb', 'Ki').replace('mb', 'Mi').replace('gb', 'Gi')).compareTo(quantity(string(self.resources.limits.memory))) < 0",
      message: 'config.maxmemory must be less than resources.limits.memory',
    },
    {
      rule: 'self.sentinel.quorum <= self.sentinel.replicas && self.sentinel.quorum * 2 > self.sentinel.replicas',
      message: 'sentinel.quorum must be more than half of sentinel.replicas, and no more than all of them',
      fieldPath: '.sentinel.quorum',
    },
    {
      rule: 'duration(self.sentinel.failoverTimeout) > duration(self.sentinel.downAfter)',
      message: 'sentinel.failoverTimeout must be longer than sentinel.downAfter',
      fieldPath: '.sentinel.failoverTimeout',
    },
    {
      rule: '!has(self.bootstrap) || !self.storage.ephemeral',
      message: 'bootstrap needs volumes, which storage.ephemeral has not',
      fieldPath: '.bootstrap',
    },
    {
      rule: "!has(self.access) || !has(self.access.replicas) || self.mode == 'Sentinel'",
      message: 'access.replicas needs mode Sentinel: a single node has no replicas',
      fieldPath: '.access',
    },
    ...redisBootstrapRules,
    ...shardRules,
    ...bootstrapRules,
    ...backupPolicyRules,
    ...computeRules('resources', dataMemory),
    ...computeRules('sentinel.resources', sentinelMemory),
    ...exporterRules,
    ...proxyRules,
    ...engineRules,
    ...moduleRules,
    ...directiveRules,
  ],
} as const satisfies StructuralSchema;

const redisStatusSchema = {
  ...statusSchema,
  properties: { ...statusSchema.properties, members: membersStatusSchema, placement: placementStatusSchema },
} as const satisfies StructuralSchema;

/** After defaulting. */
export type RedisSpec = Defaulted<typeof redisSpecSchema>;
/** As people write it. */
export type RedisSpecInput = Written<typeof redisSpecSchema>;

export const redisKind: KindDefinition = {
  resource: { group, version, kind: 'RedisCluster', plural: 'redisclusters', namespaced: true },
  singular: 'rediscluster',
  shortNames: ['rdc'],
  description: 'A Redis database: a primary with replicas and Sentinel, a single node, or a Redis Cluster.',
  schema: {
    type: 'object',
    description: 'A Redis database: a primary with replicas and Sentinel, a single node, or a Redis Cluster.',
    required: ['spec'],
    properties: { metadata: metadataSchema, spec: redisSpecSchema, status: redisStatusSchema },
    'x-kubernetes-validations': [...storageRules, ...runningRules],
  },
  printerColumns: [
    ...stateColumns,
    {
      name: 'Desired',
      type: 'integer',
      jsonPath: '.spec.replicas',
      description: 'Number of Redis nodes in the spec. In mode Cluster, see Shards.',
    },
    {
      name: 'Up',
      type: 'integer',
      jsonPath: '.status.readyReplicas',
      description: 'Number of Redis nodes that are ready.',
    },
    { name: 'Version', type: 'string', jsonPath: '.status.version', description: 'Running version.' },
    { name: 'Primary', type: 'string', jsonPath: '.status.primary', description: 'Pod of the primary.' },
    ...lifeColumns,
    { name: 'Engine', type: 'string', jsonPath: '.spec.engine', description: 'Redis or Valkey.', priority: 1 },
    {
      name: 'Mode',
      type: 'string',
      jsonPath: '.spec.mode',
      description: 'Standalone, Sentinel or Cluster.',
      priority: 1,
    },
    {
      name: 'Shards',
      type: 'integer',
      jsonPath: '.spec.shards',
      description: 'Number of shards, in mode Cluster.',
      priority: 1,
    },
    {
      name: 'Placement',
      type: 'string',
      jsonPath: '.status.placement',
      description: 'How the primaries are spread, in mode Cluster.',
      priority: 1,
    },
    ...wideColumns,
  ],
  selectableFields: databaseFields,
  scale: {
    specReplicasPath: '.spec.replicas',
    statusReplicasPath: '.status.replicas',
    labelSelectorPath: '.status.selector',
  },
};
