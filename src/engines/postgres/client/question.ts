/** A query together with the types of its columns: what a server answers is a value of that type, or a ProtocolError. */
import { shortened } from '../../../api/bounds.ts';
import type { PostgresConnection } from './connection.ts';
import { type Lsn, parseLsn } from './lsn.ts';
import { ProtocolError } from './message-decoder.ts';
import type { Result, Value } from './rows.ts';

/** Throws ProtocolError for a text that is no value of the type. */
export type Column<T> = (value: Value) => T;

export interface Question<Row> {
  readonly sql: string;
  /** Throws ProtocolError for an answer to another question. */
  rowsIn(result: Result): readonly Row[];
}

type Columns<Row> = { readonly [Name in keyof Row]: Column<Row[Name]> };

/** Columns by their names in the answer. */
export function question<Row>(sql: string, columns: Columns<Row>): Question<Row> {
  const names = Object.keys(columns) as (keyof Row & string)[];
  return {
    sql,
    rowsIn(result) {
      const places = names.map((name) => {
        const at = result.columns.indexOf(name);
        if (at < 0) throw new ProtocolError(`an answer has no column ${name}`);
        return { name, at };
      });
      return result.rows.map((row) => {
        const fields = places.map(({ name, at }) => [name, columns[name](row[at] ?? null)]);
        return Object.fromEntries(fields) as Row;
      });
    },
  };
}

/** All rows. */
export async function ask<Row>(
  connection: PostgresConnection,
  { sql, rowsIn }: Question<Row>,
): Promise<readonly Row[]> {
  const [result, ...more] = await connection.query(sql);
  if (result === undefined || more.length > 0) throw new ProtocolError('a question has one answer');
  return rowsIn(result);
}

/** The only row. */
export async function askOne<Row>(connection: PostgresConnection, about: Question<Row>): Promise<Row> {
  const [row, ...more] = await ask(connection, about);
  if (row === undefined || more.length > 0) throw new ProtocolError('an answer has one row');
  return row;
}

const wrong = (what: string, value: Value): ProtocolError =>
  new ProtocolError(`${JSON.stringify(value === null ? null : shortened(value, 80))} is no ${what}`);

export const text: Column<string> = (value) => {
  if (value === null) throw wrong('text', value);
  return value;
};

export const boolean: Column<boolean> = (value) => {
  if (value !== 't' && value !== 'f') throw wrong('boolean', value);
  return value === 't';
};

/** Up to 2^53. */
export const integer: Column<number> = (value) => {
  const number = value !== null && /^-?\d{1,16}$/.test(value) ? Number(value) : Number.NaN;
  if (!Number.isSafeInteger(number)) throw wrong('integer', value);
  return number;
};

/** Up to 2^64, as text: of a system identifier, nobody takes the sum. */
export const digits: Column<string> = (value) => {
  if (value === null || !/^\d{1,20}$/.test(value)) throw wrong('number', value);
  return value;
};

export const lsn: Column<Lsn> = (value) => {
  const position = value === null ? undefined : parseLsn(value);
  if (position === undefined) throw wrong('position in the log', value);
  return position;
};

/** Null stays undefined. */
export const optional =
  <T>(column: Column<T>): Column<T | undefined> =>
  (value) =>
    value === null ? undefined : column(value);

/** One of a few words. */
export const word =
  <Word extends string>(...words: readonly Word[]): Column<Word> =>
  (value) => {
    const found = words.find((each) => each === value);
    if (found === undefined) throw wrong(`word of ${words.join(', ')}`, value);
    return found;
  };
