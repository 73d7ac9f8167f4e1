/**
 * What it takes to serve one of our kinds: everything the CRD, the typed spec, the validators, the reference docs and
 * the controller's watch need comes from one such value.
 */
import type { Resource } from './object.ts';
import type { StructuralSchema } from './schema.ts';

export interface PrinterColumn {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'boolean' | 'date';
  readonly jsonPath: string;
  readonly description: string;
  /** 0 is always shown; 1 only with `-o wide`. Default 0. */
  readonly priority?: 0 | 1;
}

export interface KindDefinition {
  readonly resource: Resource;
  readonly singular: string;
  readonly shortNames: readonly string[];
  /** One sentence for `kubectl explain`. */
  readonly description: string;
  /** The whole object: `metadata` rules, `spec` and `status`. What is written here is what the API server gets. */
  readonly schema: StructuralSchema;
  readonly printerColumns: readonly PrinterColumn[];
  /** Paths of strings, booleans and integers for field selectors, at most eight: `.spec.version`. Default none. */
  readonly selectableFields?: readonly string[];
  /** Absent for a kind that has no size. */
  readonly scale?: {
    readonly specReplicasPath: string;
    readonly statusReplicasPath: string;
    readonly labelSelectorPath: string;
  };
}
