/** One row of a table of custom resources that are accepted or refused. */
import type { Resource } from '../../src/api/object.ts';

export type Json = Readonly<Record<string, unknown>>;

export interface Case {
  readonly story: string;
  readonly metadata?: Json;
  readonly spec: unknown;
  /** The spec as it stands, where the case is an update. */
  readonly old?: Json;
  /** The status as it stands, where the case is an update. */
  readonly status?: Json;
  /** Unknown fields are dropped instead of refused. */
  readonly prunes?: true;
  /** Where the fault is; absent when the object is accepted. */
  readonly refused?: string;
}

/** The object of an update as it stands. */
export function formerOf(row: Case, resource: Resource): Json {
  return { ...objectOf(row, row.old, resource), ...(row.status === undefined ? {} : { status: row.status }) };
}

/** The whole object of a case, as somebody would write it. */
export function objectOf(row: Case, spec: unknown, { kind, group, version }: Resource): Json {
  return {
    apiVersion: `${group}/${version}`,
    kind,
    metadata: { name: 'sample', namespace: 'databases', ...row.metadata },
    ...(spec === undefined ? {} : { spec }),
  };
}
