/** Results of queries: columns by name, and rows of texts. */
import { fieldReader } from './fields.ts';
import { ProtocolError } from './message-decoder.ts';

/** A value in the text form of its type; null is SQL's. */
export type Value = string | null;

export interface Result {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Value[])[];
  /** `SELECT 1`; empty where a command says nothing. */
  readonly tag: string;
}

/** No question of ours has as many. */
const mostColumns = 64;

/** The names of the columns in a RowDescription. The caller knows their types. */
export function columnsIn(body: Buffer): readonly string[] {
  const read = fieldReader(body);
  const count = countOf(read.int16());
  return Array.from({ length: count }, () => {
    const name = read.text();
    // Table, number, type, length, modifier, format.
    read.bytes(18);
    return name;
  });
}

/** The values of a DataRow. */
export function valuesIn(body: Buffer, columns: number): readonly Value[] {
  const read = fieldReader(body);
  const count = countOf(read.int16());
  if (count !== columns) throw new ProtocolError(`a row has ${count} values, and ${columns} columns were described`);
  return Array.from({ length: count }, () => {
    const length = read.int32();
    return length === -1 ? null : read.bytes(length).toString('utf8');
  });
}

function countOf(count: number): number {
  if (count < 0 || count > mostColumns) throw new ProtocolError(`a row has ${count} columns`);
  return count;
}
