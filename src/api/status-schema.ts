/** The schema of the status that every kind shares; `status.ts` is its type. */
import { observedGenerationSchema, unobservedStatus } from './observed-generation.ts';
import type { StructuralSchema } from './schema.ts';
import { mostHeldTemplates, type Phase } from './status.ts';

export const text = (description: string, maxLength: number) => ({ type: 'string', description, maxLength }) as const;
const count = (description: string) => ({ type: 'integer', description, minimum: 0, maximum: 1000 }) as const;
const generation = { type: 'integer', format: 'int64', minimum: 0 } as const;

export const conditions = {
  type: 'array',
  description: 'Conditions, for kubectl wait, Argo CD and Flux.',
  maxItems: 16,
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['type'],
  items: {
    type: 'object',
    description: 'One condition.',
    required: ['type', 'status', 'reason', 'message', 'lastTransitionTime'],
    properties: {
      type: {
        ...text('Type of the condition.', 316),
        pattern: '^[A-Za-z0-9]([-A-Za-z0-9_./]*[A-Za-z0-9])?$',
      },
      status: { type: 'string', description: 'Status of the condition.', enum: ['True', 'False', 'Unknown'] },
      reason: {
        ...text('Reason for the status, for programs.', 1024),
        minLength: 1,
        pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$',
      },
      message: text('Explanation of the status, for people.', 32_768),
      observedGeneration: { ...generation, description: 'Generation of the spec that the condition describes.' },
      lastTransitionTime: {
        type: 'string',
        format: 'date-time',
        description: 'Time of the last change of the status.',
      },
    },
  },
} as const satisfies StructuralSchema;

const members = {
  type: 'array',
  description: 'Processes of the cluster.',
  maxItems: 64,
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['name'],
  items: {
    type: 'object',
    description: 'One process.',
    required: ['name', 'role', 'ready'],
    properties: {
      name: text('Name of the pod.', 253),
      role: text('Current role, for example primary.', 63),
      ready: { type: 'boolean', description: 'Whether the pod is ready.' },
      version: text('Version that the process runs.', 64),
      node: text('Kubernetes node of the pod.', 253),
      address: text('Address under which other members know the process.', 253),
      id: text('ID of the member in the database, if the database has one.', 63),
      dataSize: text('Size of the database file, if the engine has one.', 20),
    },
  },
} as const satisfies StructuralSchema;

const connection = {
  type: 'object',
  description: 'How clients reach the cluster.',
  properties: {
    services: {
      type: 'array',
      description: 'Services of the cluster, by role.',
      maxItems: 16,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['role'],
      items: {
        type: 'object',
        description: 'One Service.',
        required: ['role', 'host', 'port'],
        properties: {
          role: text('Role of the members that the Service leads to.', 63),
          host: text('DNS name of the Service.', 253),
          port: { type: 'integer', description: 'Port of the Service.', minimum: 1, maximum: 65_535 },
        },
      },
    },
    secretName: text('Secret with the password.', 253),
    certificateSecretName: text('Secret with ca.crt, tls.crt and tls.key for clients.', 253),
    caConfigMapName: text('ConfigMap with ca.crt, with which clients check servers.', 253),
  },
} as const satisfies StructuralSchema;

export const bindingSchema = {
  type: 'object',
  description: 'For implementations of the Service Binding specification (servicebinding.io).',
  required: ['name'],
  properties: { name: text('Secret with what a workload needs to connect.', 253) },
} as const satisfies StructuralSchema;

const volumesSchema = (description: string, field: string) =>
  ({
    type: 'object',
    description,
    properties: {
      capacity: text('Capacity of the smallest volume.', 20),
      minimumSize: text(`Smallest value that ${field} can be lowered to.`, 20),
    },
  }) as const satisfies StructuralSchema;

const storage = volumesSchema('The volumes, as Kubernetes reports them.', 'storage.size');

/** Of kinds whose log can have a volume of its own. */
export const walStorageStatusSchema = volumesSchema(
  'The volumes of the log, as Kubernetes reports them. Absent when the log has none.',
  'walStorage.size',
);

/** Of kinds whose log can be archived. */
export const archiveStatusSchema = {
  type: 'object',
  description: 'The archive of the log. Absent when the log is not archived.',
  required: ['state', 'since'],
  properties: {
    state: {
      type: 'string',
      description: 'Gap: part of the log is missing, and the next base backup is not complete.',
      enum: ['Starting', 'Following', 'Late', 'Gap'],
    },
    since: { type: 'string', format: 'date-time', description: 'Time of the last change of the state.' },
    end: text('End of the stored log, in the words of the database. Up to five minutes old.', 500),
    storedAt: { type: 'string', format: 'date-time', description: 'Time at which that end was stored.' },
    message: text('Why the state is not Following.', 8192),
  },
} as const satisfies StructuralSchema;

export const plan = {
  type: 'object',
  description: 'What the controller does next.',
  properties: {
    next: text('The next step.', 8192),
    waitingFor: text('What the controller waits for.', 8192),
    blockedBy: text('Problem that the controller cannot solve without a person.', 8192),
  },
} as const satisfies StructuralSchema;

/** Of one StatefulSet there may be two: that of the plan, and that of the plan for the time of waiting. */
const heldTemplates = {
  type: 'array',
  description:
    'Pod templates that are not written yet, since they wait for a maintenance window or for other clusters.',
  maxItems: mostHeldTemplates,
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['name', 'template'],
  items: {
    type: 'object',
    description: 'One template.',
    required: ['name', 'template'],
    properties: {
      name: text('Name of the StatefulSet.', 63),
      template: text('Fingerprint of the template.', 32),
      edited: { type: 'boolean', description: 'Whether it follows from an edit of the spec that repairs a pod.' },
    },
  },
} as const satisfies StructuralSchema;

export const phaseSchema = <const Phases extends readonly Phase[]>(phases: Phases) =>
  ({ type: 'string', description: 'Phase, for people. Programs read the conditions.', enum: phases }) as const;

export const statusSchema = {
  type: 'object',
  description: 'Last observed state. Only the controller writes it.',
  default: unobservedStatus,
  properties: {
    observedGeneration: observedGenerationSchema,
    phase: phaseSchema(['Creating', 'Ready', 'Updating', 'Degraded', 'Blocked', 'Paused', 'Deleting', 'Invalid']),
    conditions,
    replicas: count('Number of pods that hold data.'),
    readyReplicas: count('Number of ready pods that hold data.'),
    selector: text('Label selector of the pods that hold data, for the scale subresource.', 1024),
    primary: text('Pod of the primary or the leader.', 253),
    version: text('Version that the primary or the leader runs.', 64),
    members,
    connection,
    binding: bindingSchema,
    plan,
    heldTemplates,
    storage,
    initialized: {
      type: 'boolean',
      description: 'Whether the database has been formed. From then on, an empty volume means data loss.',
    },
  },
} as const satisfies StructuralSchema;
