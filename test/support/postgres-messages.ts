/** What a PostgreSQL server sends, made by hand. */

export function backend(type: string, body: Uint8Array | string = ''): Buffer {
  const bytes = Buffer.from(body);
  const head = Buffer.alloc(5);
  head.write(type, 'latin1');
  head.writeInt32BE(bytes.length + 4, 1);
  return Buffer.concat([head, bytes]);
}

export function int32(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  values.forEach((value, i) => {
    bytes.writeInt32BE(value, 4 * i);
  });
  return bytes;
}

export function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value);
  return bytes;
}

export function int64(...values: readonly bigint[]): Buffer {
  const bytes = Buffer.alloc(8 * values.length);
  values.forEach((value, i) => {
    bytes.writeBigInt64BE(value, 8 * i);
  });
  return bytes;
}

export const authentication = (kind: number, rest = ''): Buffer =>
  backend('R', Buffer.concat([int32(kind), Buffer.from(rest, 'latin1')]));
export const parameter = (name: string, value: string): Buffer => backend('S', `${name}\0${value}\0`);
export const ready: Buffer = backend('Z', 'I');
export const notice: Buffer = backend('N', 'SNOTICE\0VNOTICE\0C00000\0Mby the way\0\0');
export const complete = (tag: string): Buffer => backend('C', `${tag}\0`);

export function refusal(code: string, message: string, severity = 'ERROR'): Buffer {
  return backend('E', `S${severity}\0V${severity}\0C${code}\0M${message}\0\0`);
}

export function describedColumns(names: readonly string[]): Buffer {
  const fields = names.map((name) => Buffer.concat([Buffer.from(`${name}\0`), Buffer.alloc(18)]));
  return backend('T', Buffer.concat([int16(names.length), ...fields]));
}

export function row(values: readonly (string | null)[]): Buffer {
  const fields = values.map((value) =>
    value === null ? int32(-1) : Buffer.concat([int32(Buffer.byteLength(value)), Buffer.from(value)]),
  );
  return backend('D', Buffer.concat([int16(values.length), ...fields]));
}

/** A result with its columns. */
export function table(
  rows: readonly Readonly<Record<string, string | null>>[],
  names = Object.keys(rows[0] ?? {}),
): Buffer {
  const values = rows.map((each) => row(names.map((name) => each[name] ?? null)));
  return Buffer.concat([describedColumns(names), ...values, complete(`SELECT ${rows.length}`)]);
}
