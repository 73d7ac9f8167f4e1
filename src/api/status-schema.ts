/** The schema of the status that every kind shares; `status.ts` is its type. */
import type { StructuralSchema } from './schema.ts';
import type { Phase } from './status.ts';

export const text = (description: string, maxLength: number) => ({ type: 'string', description, maxLength }) as const;
const count = (description: string) => ({ type: 'integer', description, minimum: 0, maximum: 1000 }) as const;
const generation = { type: 'integer', format: 'int64', minimum: 0 } as const;

export const conditions = {
  type: 'array',
  description: 'The state in the form that kubectl wait, Argo CD and Flux read.',
  maxItems: 16,
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['type'],
  items: {
    type: 'object',
    description: 'One condition.',
    required: ['type', 'status', 'reason', 'message', 'lastTransitionTime'],
    properties: {
      type: {
        ...text('What the condition is about.', 316),
        pattern: '^[A-Za-z0-9]([-A-Za-z0-9_./]*[A-Za-z0-9])?$',
      },
      status: { type: 'string', description: 'Whether it holds.', enum: ['True', 'False', 'Unknown'] },
      reason: {
        ...text('Why, in one word for machines.', 1024),
        minLength: 1,
        pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$',
      },
      message: text('Why, in words.', 32_768),
      observedGeneration: { ...generation, description: 'Generation of the spec that this was said about.' },
      lastTransitionTime: { type: 'string', format: 'date-time', description: 'When status last changed.' },
    },
  },
} as const satisfies StructuralSchema;

const members = {
  type: 'array',
  description: 'The processes of the cluster.',
  maxItems: 64,
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['name'],
  items: {
    type: 'object',
    description: 'One process.',
    required: ['name', 'role', 'ready'],
    properties: {
      name: text('Its pod.', 253),
      role: text('What it is right now, for example primary.', 63),
      ready: { type: 'boolean', description: 'Whether it serves.' },
      version: text('Version it runs.', 64),
      node: text('Node it runs on.', 253),
      address: text('Address that other members know it by.', 253),
      id: text('Number that the database itself knows it by, where it has one.', 63),
      dataSize: text('Size of its database, where the engine has one file of it.', 20),
    },
  },
} as const satisfies StructuralSchema;

const connection = {
  type: 'object',
  description: 'How clients reach the cluster.',
  properties: {
    services: {
      type: 'array',
      description: 'Services, by the role of the members behind them.',
      maxItems: 16,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['role'],
      items: {
        type: 'object',
        description: 'One service.',
        required: ['role', 'host', 'port'],
        properties: {
          role: text('Role of the members behind it.', 63),
          host: text('Its DNS name.', 253),
          port: { type: 'integer', description: 'Its port.', minimum: 1, maximum: 65_535 },
        },
      },
    },
    secretName: text('Secret with the password.', 253),
    certificateSecretName: text('Secret with ca.crt, tls.crt and tls.key for clients.', 253),
  },
} as const satisfies StructuralSchema;

const storage = {
  type: 'object',
  description: 'The volumes, as Kubernetes reports them.',
  properties: {
    capacity: text('Capacity of the smallest volume.', 20),
    minimumSize: text('What the volumes were given of what was asked for. storage.size cannot be less.', 20),
  },
} as const satisfies StructuralSchema;

export const plan = {
  type: 'object',
  description: 'What the controller does next.',
  properties: {
    next: text('The next step.', 32_768),
    waitingFor: text('What it waits for.', 32_768),
    blockedBy: text('What keeps it from going on until somebody acts.', 32_768),
  },
} as const satisfies StructuralSchema;

export const phaseSchema = <const Phases extends readonly Phase[]>(phases: Phases) =>
  ({ type: 'string', description: 'The state in one word, for people.', enum: phases }) as const;

export const statusSchema = {
  type: 'object',
  description: 'What was last seen. Written by the controller only.',
  properties: {
    observedGeneration: { ...generation, description: 'Generation of the spec that this status is about.' },
    phase: phaseSchema(['Creating', 'Ready', 'Updating', 'Degraded', 'Blocked', 'Paused', 'Deleting', 'Invalid']),
    conditions,
    replicas: count('Data nodes that exist.'),
    readyReplicas: count('Data nodes that are ready.'),
    selector: text('Label selector of the data nodes, for the scale subresource.', 1024),
    primary: text('Pod that takes writes.', 253),
    version: text('Version that all members run.', 64),
    members,
    connection,
    plan,
    storage,
    initialized: {
      type: 'boolean',
      description: 'The database has been formed once. From then on a blank member means loss, not a start.',
    },
  },
} as const satisfies StructuralSchema;
