/** MemcachedCluster: its schema and defaults. Keys are spread over the pods by the client; nothing is kept on disk. */
import {
  computeRules,
  computeSchema,
  type Defaulted,
  imageSchema,
  type KindDefinition,
  lifeColumns,
  metadataSchema,
  pausedSchema,
  type StructuralSchema,
  schedulingSchema,
  stateColumns,
  statusSchema,
  type Written,
} from 'clusterwright/engine';

const memory = '64Mi';

const specSchema = {
  type: 'object',
  description: 'What the cache is to be.',
  properties: {
    version: {
      type: 'string',
      description: 'MAJOR.MINOR of memcached.',
      pattern: '^1\\.[0-9]{1,2}$',
      default: '1.6',
    },
    image: imageSchema('docker.io/library/memcached:VERSION'),
    replicas: { type: 'integer', description: 'Number of pods.', minimum: 1, maximum: 20, default: 3 },
    resources: computeSchema('a pod', { cpu: '50m', memory: '128Mi' }, memory),
    scheduling: schedulingSchema,
    config: {
      type: 'object',
      description: 'Settings of each process.',
      default: {},
      properties: {
        maxConnections: {
          type: 'integer',
          description: 'Clients that may be connected to a pod at once.',
          minimum: 10,
          maximum: 100_000,
          default: 1024,
        },
      },
    },
    paused: pausedSchema('The pods keep running.'),
  },
  'x-kubernetes-validations': [...computeRules('resources', memory)],
} as const satisfies StructuralSchema;

export type MemcachedSpec = Defaulted<typeof specSchema>;
export type MemcachedSpecInput = Written<typeof specSchema>;

export const memcachedKind: KindDefinition = {
  resource: {
    group: 'caches.example.com',
    version: 'v1',
    kind: 'MemcachedCluster',
    plural: 'memcachedclusters',
    namespaced: true,
  },
  singular: 'memcachedcluster',
  shortNames: ['mcc'],
  description: 'A cache: memcached pods over which clients spread their keys.',
  schema: {
    type: 'object',
    description: 'A cache: memcached pods over which clients spread their keys.',
    required: ['spec'],
    properties: { metadata: metadataSchema, spec: specSchema, status: statusSchema },
  },
  printerColumns: [...stateColumns, ...lifeColumns],
  scale: {
    specReplicasPath: '.spec.replicas',
    statusReplicasPath: '.status.replicas',
    labelSelectorPath: '.status.selector',
  },
};
