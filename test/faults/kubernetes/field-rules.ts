/**
 * How the fields of an object are owned: which lists have items with keys of their own, and which objects and lists
 * are one value. What is not said here is the rule of the API server: fields of objects one by one, lists as a whole.
 */
import type { StructuralSchema } from '../../../src/api/schema.ts';

export interface FieldRule {
  /** One value, however deep. */
  readonly atomic?: boolean;
  /** A list of objects, told apart by these fields. */
  readonly keys?: readonly string[];
  /** Values of a key field that are left out. */
  readonly keyDefaults?: Readonly<Record<string, unknown>>;
  /** A list of values that is a set. */
  readonly set?: boolean;
  /** Of the items of a list. */
  readonly items?: FieldRule;
  readonly fields?: Readonly<Record<string, FieldRule>>;
  /** Of every field that is not named. */
  readonly others?: FieldRule;
}

const atomic: FieldRule = { atomic: true };
const keyed = (keys: readonly string[], items: FieldRule = {}, keyDefaults = {}): FieldRule => ({
  keys,
  items,
  keyDefaults,
});

const metadata: FieldRule = {
  fields: { ownerReferences: keyed(['uid'], atomic), finalizers: { set: true } },
};

const environment: FieldRule = {
  fields: { valueFrom: { others: atomic } },
};

const container: FieldRule = {
  fields: {
    env: keyed(['name'], environment),
    ports: keyed(['containerPort', 'protocol'], {}, { protocol: 'TCP' }),
    volumeMounts: keyed(['mountPath']),
    volumeDevices: keyed(['devicePath']),
  },
};

const podSpec: FieldRule = {
  fields: {
    containers: keyed(['name'], container),
    initContainers: keyed(['name'], container),
    volumes: keyed(['name']),
    imagePullSecrets: keyed(['name'], atomic),
    hostAliases: keyed(['ip']),
    nodeSelector: atomic,
    topologySpreadConstraints: keyed(['topologyKey', 'whenUnsatisfiable'], { fields: { labelSelector: atomic } }),
  },
};

const podTemplate: FieldRule = { fields: { metadata, spec: podSpec } };

const conditions: FieldRule = { fields: { conditions: keyed(['type']) } };

const byKind: Readonly<Record<string, FieldRule>> = {
  StatefulSet: {
    fields: { selector: atomic, template: podTemplate },
  },
  Job: { fields: { selector: atomic, template: podTemplate } },
  CronJob: {
    fields: { jobTemplate: { fields: { metadata, spec: { fields: { selector: atomic, template: podTemplate } } } } },
  },
  Pod: podSpec,
  Service: {
    fields: { selector: atomic, ports: keyed(['port', 'protocol'], {}, { protocol: 'TCP' }) },
  },
  NetworkPolicy: { fields: { podSelector: atomic, policyTypes: atomic, ingress: atomic } },
  PodDisruptionBudget: { fields: { selector: atomic } },
  PersistentVolumeClaim: { fields: { selector: atomic, dataSource: atomic } },
};

const bySchema = new WeakMap<StructuralSchema, FieldRule>();

/** Of an object: by its schema if it is a custom resource. */
export function fieldRuleOf(kind: string, schema?: StructuralSchema): FieldRule {
  if (schema !== undefined) {
    const rule = bySchema.get(schema) ?? { fields: { ...ruleOfSchema(schema).fields, metadata } };
    bySchema.set(schema, rule);
    return rule;
  }
  return {
    fields: {
      metadata,
      spec: byKind[kind] ?? {},
      status: conditions,
      regarding: atomic,
      related: atomic,
    },
  };
}

const entryRule = ([name, schema]: [string, StructuralSchema]): [string, FieldRule] => [name, ruleOfSchema(schema)];

function ruleOfSchema(schema: StructuralSchema): FieldRule {
  const keys = schema['x-kubernetes-list-map-keys'];
  const { items, properties, additionalProperties } = schema;
  if (schema['x-kubernetes-list-type'] === 'set') return { set: true };
  if (keys !== undefined && items !== undefined) return keyed(keys, ruleOfSchema(items));
  return {
    ...(properties === undefined ? {} : { fields: Object.fromEntries(Object.entries(properties).map(entryRule)) }),
    ...(additionalProperties === undefined ? {} : { others: ruleOfSchema(additionalProperties) }),
  };
}

const plain: FieldRule = {};

export function ruleOfField(rule: FieldRule, name: string): FieldRule {
  return rule.fields?.[name] ?? rule.others ?? plain;
}

export const ruleOfItem = (rule: FieldRule): FieldRule => rule.items ?? plain;

/** `k:{"name":"redis"}`, the fields in alphabetical order as in FieldsV1. */
export function keyOfItem(rule: FieldRule, item: unknown): string {
  if (rule.set === true) return `v:${JSON.stringify(item)}`;
  const object = (typeof item === 'object' && item !== null ? item : {}) as Readonly<Record<string, unknown>>;
  const keys = [...(rule.keys ?? [])].sort().map((name) => [name, object[name] ?? rule.keyDefaults?.[name]]);
  return `k:${JSON.stringify(Object.fromEntries(keys))}`;
}

/** Whether the items of a list are owned one by one. */
export const hasItems = (rule: FieldRule): boolean => rule.keys !== undefined || rule.set === true;
