/**
 * A structural OpenAPI v3 schema as the API server takes it (apiextensions.k8s.io/v1), and the TypeScript types read off
 * one.
 *
 * A schema is written once, as a literal `as const`. `Defaulted` is what the controller sees after the API server has
 * filled in defaults; `Written` is what a user may leave out. Both refuse properties that the schema does not name, which
 * OpenAPI itself cannot say: a CRD must not contain `additionalProperties: false`.
 */
import type { FromSchema, JSONSchema } from 'json-schema-to-ts';

/** A rule in CEL. One that mentions `oldSelf` is checked on updates only, and only where an old value exists. */
export interface CelRule {
  readonly rule: string;
  readonly message: string;
  /** CEL for a message that names what is wrong in this object; `message` describes the rule for all. */
  readonly messageExpression?: string;
  /** Where the fault is reported, relative to the node that holds the rule: `.quorum`. */
  readonly fieldPath?: string;
}

/** A property name as CEL spells it: `appendfsync` as it is, `min-replicas` as `min__dash__replicas`. */
export function celName(property: string): string {
  return property.replaceAll('__', '__underscores__').replaceAll('-', '__dash__');
}

export interface StructuralSchema {
  /** Absent only on int-or-string and preserve-unknown nodes. */
  readonly type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';
  readonly description?: string;
  readonly default?: unknown;
  readonly properties?: { readonly [name: string]: StructuralSchema };
  readonly additionalProperties?: StructuralSchema;
  /**
   * A null is not dropped as if it were absent: a rule of the node above refuses it. Where an entry that is lost would widen what the others
   * say.
   */
  readonly nullable?: true;
  readonly required?: readonly string[];
  readonly items?: StructuralSchema;
  readonly enum?: readonly (string | number)[];
  readonly pattern?: string;
  readonly format?: 'date-time' | 'int64';
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  /** Only the int-or-string pair. */
  readonly anyOf?: readonly [{ readonly type: 'integer' }, { readonly type: 'string' }];
  readonly 'x-kubernetes-int-or-string'?: true;
  readonly 'x-kubernetes-preserve-unknown-fields'?: true;
  readonly 'x-kubernetes-list-type'?: 'atomic' | 'map' | 'set';
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-validations'?: readonly CelRule[];
}

/** The same schema with every object closed that lists its properties, for the type checker only. */
type Closed<S> = S extends { readonly properties: infer P }
  ? Omit<S, 'properties'> & {
      readonly properties: { readonly [K in keyof P]: Closed<P[K]> };
      readonly additionalProperties: false;
    }
  : S extends { readonly items: infer I }
    ? Omit<S, 'items'> & { readonly items: Closed<I> }
    : S extends { readonly additionalProperties: infer A }
      ? Omit<S, 'additionalProperties'> & { readonly additionalProperties: Omit<A, 'nullable'> }
      : S;

type DeepReadonly<T> = T extends readonly (infer I)[]
  ? readonly DeepReadonly<I>[]
  : T extends object
    ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
    : T;

/** The value after defaulting: a property with a default is always there. */
export type Defaulted<S extends StructuralSchema> =
  Closed<S> extends infer C extends JSONSchema ? DeepReadonly<FromSchema<C>> : never;

/** The value as people write it: a property with a default may be left out. */
export type Written<S extends StructuralSchema> =
  Closed<S> extends infer C extends JSONSchema
    ? DeepReadonly<FromSchema<C, { keepDefaultedPropertiesOptional: true }>>
    : never;
