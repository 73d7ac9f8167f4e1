/**
 * `metadata`: what a kind may restrict of it (the name, from which every child's name is derived), and the API server's
 * own checks on the rest, as far as a user writes it.
 */
import type { StructuralSchema } from './schema.ts';
import { typeMessage } from './type-message.ts';
import { displayPath, type Violation } from './violation.ts';

/** Longest name of a custom resource: with what the names of its children add, each stays a DNS label of 63. */
export const maxNameLength = 40;

/** Of names that become parts of DNS names. */
export const namePattern = '^[a-z]([-a-z0-9]*[a-z0-9])?$';

/** Of most objects in Kubernetes: Secrets, PVCs, StorageClasses. */
export const objectNamePattern = '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$';

/** The node itself takes no description: the API server has its own. */
export const metadataSchema = {
  type: 'object',
  properties: {
    name: {
      type: 'string',
      description: 'Name of the cluster: lower-case letters, digits and dashes, starting with a letter.',
      pattern: namePattern,
      maxLength: maxNameLength,
    },
  },
} as const satisfies StructuralSchema;

/** The fields of metav1.ObjectMeta. */
const fields: ReadonlySet<string> = new Set([
  'annotations',
  'creationTimestamp',
  'deletionGracePeriodSeconds',
  'deletionTimestamp',
  'finalizers',
  'generateName',
  'generation',
  'labels',
  'managedFields',
  'name',
  'namespace',
  'ownerReferences',
  'resourceVersion',
  'selfLink',
  'uid',
]);

const labelName = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const dnsSubdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const dnsLabel = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const labelValue = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;

function isQualifiedName(key: string): boolean {
  const [first = '', second, ...rest] = key.split('/');
  if (second === undefined) return labelName.test(first);
  return rest.length === 0 && first.length <= 253 && dnsSubdomain.test(first) && labelName.test(second);
}

/** All annotations of one object together, in bytes: a limit of the API server. */
const annotationBytes = 256 * 1024;

export function metadataViolations(metadata: unknown, strict: boolean): Violation[] {
  if (!isRecord(metadata)) return [{ path: 'metadata', rule: 'required', message: 'is required' }];
  const violations: Violation[] = [];
  const add = (path: readonly string[], rule: string, message: string): void => {
    violations.push({ path: displayPath(['metadata', ...path]), rule, message });
  };
  if (metadata.name === undefined || metadata.name === null || metadata.name === '') {
    add(['name'], 'required', 'is required');
  }
  const namespace = metadata.namespace ?? undefined;
  if (namespace !== undefined && !(typeof namespace === 'string' && dnsLabel.test(namespace))) {
    add(['namespace'], 'DNS label', 'must be the name of a namespace');
  }
  if (strict) {
    for (const key of Object.keys(metadata)) if (!fields.has(key)) add([key], 'known field', 'unknown field');
  }
  for (const [key, value] of textEntries(metadata.labels, 'labels', add)) {
    if (!isQualifiedName(key)) add(['labels', key], 'label name', 'is no label name');
    if (!labelValue.test(value)) add(['labels', key], 'label value', 'must be a label value of at most 63 characters');
  }
  let bytes = 0;
  for (const [key, value] of textEntries(metadata.annotations, 'annotations', add)) {
    if (!isQualifiedName(key.toLowerCase())) add(['annotations', key], 'annotation name', 'is no annotation name');
    bytes += Buffer.byteLength(key) + Buffer.byteLength(value);
  }
  if (bytes > annotationBytes) add(['annotations'], `maxBytes ${annotationBytes}`, 'are too long');
  return violations;
}

/** `metadata` as the API server keeps it: known fields only, no nulls, a namespace. */
export function tidyMetadata(metadata: unknown, namespace: string): Readonly<Record<string, unknown>> {
  if (!isRecord(metadata)) return {};
  const known = Object.entries(metadata).filter(([key, value]) => fields.has(key) && value !== null);
  return { namespace, ...Object.fromEntries(known) };
}

function textEntries(
  map: unknown,
  field: string,
  add: (path: readonly string[], rule: string, message: string) => void,
): [string, string][] {
  if (map === undefined || map === null) return [];
  if (!isRecord(map)) {
    add([field], 'type object', typeMessage('object', map));
    return [];
  }
  return Object.entries(map).flatMap(([key, value]): [string, string][] => {
    if (typeof value === 'string') return [[key, value]];
    add([field, key], 'type string', typeMessage('string', value));
    return [];
  });
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
