/**
 * What kinds for the content of a cluster have in common: a database, a user, a topic. Such a resource names its cluster, which is in
 * its own namespace, and what the content is called there.
 */

import type { KindDefinition, PrinterColumn } from './kind.ts';
import { maxNameLength, metadataSchema, namePattern } from './metadata.ts';
import type { Resource } from './object.ts';
import { observedGenerationSchema, unobservedStatus } from './observed-generation.ts';
import type { StructuralSchema } from './schema.ts';
import { aboutDatabaseFields } from './selectable-fields.ts';
import { bindingSchema, conditions, phaseSchema, plan } from './status-schema.ts';

/** Of a kind for content, what everybody may read. */
export interface ContentSpec {
  readonly cluster: { readonly kind: string; readonly name: string };
  readonly name: string;
  readonly adopt: boolean;
  readonly deletionPolicy: 'Retain' | 'Delete';
}

export const clusterSchema = <const Kind extends string>(kind: Kind) =>
  ({
    type: 'object',
    description: 'The cluster, in the same namespace. Immutable.',
    required: ['name'],
    properties: {
      kind: { type: 'string', description: 'Kind of the cluster.', enum: [kind], default: kind },
      name: { type: 'string', description: 'Name of the cluster.', pattern: namePattern, maxLength: maxNameLength },
    },
    'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'cluster is immutable' }],
  }) as const satisfies StructuralSchema;

/** `what`: `the database`. */
export const adoptSchema = (what: string) =>
  ({
    type: 'boolean',
    description: `Manage ${what} though it existed before and was not created for this resource. The operator never drops what it adopted.`,
    default: false,
  }) as const;

export const contentDeletionPolicySchema = (description: string) =>
  ({ type: 'string', description, enum: ['Retain', 'Delete'], default: 'Retain' }) as const;

export const adoptRule = {
  rule: "!(self.adopt && self.deletionPolicy == 'Delete')",
  message: 'deletionPolicy must be Retain where adopt is true: the operator drops only what it created',
  fieldPath: '.deletionPolicy',
} as const;

const contentStatusSchema = {
  type: 'object',
  description: 'State of the resource. Only the controller writes it.',
  default: unobservedStatus,
  properties: {
    observedGeneration: observedGenerationSchema,
    phase: phaseSchema(['Creating', 'Ready', 'Updating', 'Degraded', 'Blocked', 'Deleting', 'Invalid']),
    conditions,
    plan,
    secretName: { type: 'string', description: 'Secret with the connection details, if there is one.', maxLength: 253 },
    binding: bindingSchema,
  },
} as const satisfies StructuralSchema;

const contentColumns = (named: string): readonly PrinterColumn[] => [
  {
    name: 'Ready',
    type: 'string',
    jsonPath: '.status.conditions[?(@.type=="Ready")].status',
    description: 'Status of the condition Ready.',
  },
  {
    name: 'Reason',
    type: 'string',
    jsonPath: '.status.conditions[?(@.type=="Ready")].reason',
    description: 'Reason of the condition Ready.',
  },
  { name: 'Cluster', type: 'string', jsonPath: '.spec.cluster.name', description: 'Name of the cluster.' },
  { name: named, type: 'string', jsonPath: '.spec.name', description: 'Name in the cluster.' },
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp', description: 'Time since creation.' },
  {
    name: 'Message',
    type: 'string',
    jsonPath: '.status.conditions[?(@.type=="Ready")].message',
    description: 'Message of the condition Ready.',
    priority: 1,
  },
];

/** `named`: what the content is, as a column says it: `Database`. */
export function contentKind(
  resource: Resource,
  named: string,
  { shortName, description, spec }: { shortName: string; description: string; spec: StructuralSchema },
): KindDefinition {
  return {
    resource,
    singular: resource.kind.toLowerCase(),
    shortNames: [shortName],
    description,
    schema: {
      type: 'object',
      description,
      required: ['spec'],
      properties: { metadata: metadataSchema, spec, status: contentStatusSchema },
    },
    printerColumns: contentColumns(named),
    selectableFields: aboutDatabaseFields,
  };
}
