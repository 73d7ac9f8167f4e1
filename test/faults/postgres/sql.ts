/**
 * PostgreSQL's protocol on a stream, as far as the operator speaks it: its own role is let in by certificate, which nobody shows here,
 * and everybody else by SCRAM-SHA-256. It answers the statements of the operator, and no others.
 */
import { createHash, createHmac } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { configSetting, roles } from '../../../src/engines/postgres/names.ts';
import { atStart, inForce, pendingIn } from './parameters.ts';
import type { Server } from './server.ts';
import { beginOf, type Data, lsnText } from './wal.ts';

type Row = Readonly<Record<string, string | null>>;
type Answer =
  /** `names`: of columns, where there may be no row. */
  | { readonly rows: readonly Row[]; readonly names?: readonly string[] }
  | { readonly tag: string }
  | { readonly refused: readonly [string, string] };

const int16 = (value: number): Buffer => {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value);
  return bytes;
};
const int32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
};
const text = (value: string): Buffer => Buffer.from(`${value}\0`);
const framed = (type: string, ...parts: readonly Buffer[]): Buffer => {
  const body = Buffer.concat(parts);
  return Buffer.concat([Buffer.from(type), int32(body.length + 4), body]);
};
const ready = framed('Z', Buffer.from('I'));
const authentication = (code: number, rest = Buffer.alloc(0)): Buffer => framed('R', int32(code), rest);
const failure = (severity: string, code: string, message: string): Buffer =>
  framed('E', text(`S${severity}`), text(`V${severity}`), text(`C${code}`), text(`M${message}`), Buffer.alloc(1));

/** `server`: of the moment; undefined where none runs. `serving` resolves when the process takes up what it is asked. */
export function serveSql(stream: Duplex, server: () => Server | undefined, serving: () => Promise<void>): void {
  let received = Buffer.alloc(0);
  let step: 'open' | 'asked' | 'challenged' | 'in' = 'open';
  let login: Scram | undefined;
  let database = '';
  stream.on('error', () => stream.destroy());

  const refuse = (code: string, message: string): void => void stream.end(failure('FATAL', code, message));
  /** Which databases there are is told to those alone who have shown who they are. */
  const letIn = (running: Server): void => {
    if (database !== 'postgres' && !running.data.contents.databases.has(database)) {
      refuse('3D000', `database "${database}" does not exist`);
      return;
    }
    step = 'in';
    stream.write(
      Buffer.concat([authentication(0), framed('S', text('server_version'), text(`${running.data.major}.2`)), ready]),
    );
  };

  async function take(): Promise<void> {
    await serving();
    for (;;) {
      const typed = step !== 'open';
      const at = typed ? 1 : 0;
      if (received.length < at + 4) return;
      const length = at + received.readInt32BE(at);
      if (received.length < length) return;
      const [type, body] = [typed ? String.fromCharCode(received[0] ?? 0) : '', received.subarray(at + 4, length)];
      received = Buffer.from(received.subarray(length));
      await handle(type, body);
    }
  }

  async function handle(type: string, body: Buffer): Promise<unknown> {
    const running = server();
    if (running === undefined) return refuse('57P03', 'the database system is starting up');
    if (step === 'open') return open(running, body);
    if (step === 'asked') {
      const [, rest = ''] = /^SCRAM-SHA-256\0[\s\S]{4}([\s\S]*)$/.exec(body.toString('latin1')) ?? [];
      step = 'challenged';
      stream.write(authentication(11, Buffer.from(login?.challenge(rest) ?? '')));
    } else if (step === 'challenged') {
      const proof = login?.proofOf(body.toString('latin1'));
      if (proof === undefined) return refuse('28P01', 'password authentication failed for user');
      stream.write(authentication(12, Buffer.from(proof)));
      letIn(running);
    } else if (type === 'Q') {
      stream.write(written(await answerTo(running, body.subarray(0, -1).toString())));
    } else stream.end();
  }

  function open(running: Server, body: Buffer): unknown {
    if (body.length === 4) return stream.write('S');
    const words = body.subarray(4).toString().split('\0');
    const [user = '', wanted = ''] = ['user', 'database'].map((name) => words[words.indexOf(name) + 1]);
    const { contents } = running.data;
    database = wanted;
    if (user === roles.operator && contents.roles.has(user)) return letIn(running);
    const verifier = contents.roles.get(user);
    if (verifier === undefined) return refuse('28P01', `password authentication failed for user "${user}"`);
    login = new Scram(verifier);
    step = 'asked';
    stream.write(authentication(10, Buffer.concat([text('SCRAM-SHA-256'), Buffer.alloc(1)])));
  }

  let queue = Promise.resolve();
  stream.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    queue = queue.then(take);
  });
}

function written(answer: Answer): Buffer {
  if ('refused' in answer) return Buffer.concat([failure('ERROR', ...answer.refused), ready]);
  if ('tag' in answer) return Buffer.concat([framed('C', text(answer.tag)), ready]);
  const names = answer.names ?? Object.keys(answer.rows[0] ?? {});
  const columns = names.map((name) => Buffer.concat([text(name), Buffer.alloc(18)]));
  const rows = answer.rows.map((row) => {
    const values = names.map((name) => {
      const value = row[name];
      if (value === null || value === undefined) return int32(-1);
      return Buffer.concat([int32(Buffer.byteLength(value)), Buffer.from(value)]);
    });
    return framed('D', int16(names.length), ...values);
  });
  const tag = framed('C', text(`SELECT ${rows.length}`));
  return Buffer.concat([framed('T', int16(names.length), ...columns), ...rows, tag, ready]);
}

/** Of names without quotes in them. */
const statements = {
  server: /^SELECT pg_is_in_recovery\(\) AS "inRecovery", left\(current_setting/,
  settings: /^SELECT lower\(name\) AS name, left\(setting[\s\S]* WHERE lower\(name\) IN \(([^)]*)\)/,
  collations: /AS reordered FROM pg_database/,
  marked: /^SELECT d\.datname AS name, count\(\*\) OVER \(\) AS "all" FROM pg_db_role_setting/,
  log: /pg_ls_waldir\(\)/,
  slot: /LEFT JOIN pg_replication_slots ON slot_name = '([^']*)'/,
  application: /pg_roles WHERE rolname = '([^']*)'[\s\S]*datname = '([^']*)'/,
  alterRole: /^ALTER ROLE "([^"]+)" PASSWORD '([^']+)'/,
  createRole: /^CREATE ROLE "([^"]+)" LOGIN PASSWORD '([^']+)'/,
  grant: /^GRANT /,
  createDatabase: /^CREATE DATABASE "([^"]+)" OWNER "([^"]+)"/,
} as const;

async function answerTo(server: Server, sql: string): Promise<Answer> {
  const { contents } = server.data;
  if (statements.server.test(sql)) return { rows: [factsOf(server)] };
  const [, names] = statements.settings.exec(sql) ?? [];
  if (names !== undefined) return { rows: names.split(', ').flatMap((name) => settingOf(server, name.slice(1, -1))) };
  if (statements.collations.test(sql)) return { rows: [{ reordered: null }] };
  if (statements.marked.test(sql)) return { rows: [], names: ['name', 'all'] };
  if (statements.log.test(sql)) return { rows: [{ oldest: String(beginOf(server.data)) }] };
  const [, slot] = statements.slot.exec(sql) ?? [];
  if (slot !== undefined) return { rows: [slotOf(server.data, slot)] };
  const [, role, database] = statements.application.exec(sql) ?? [];
  if (role !== undefined && database !== undefined) {
    const owner = contents.databases.get(database) ?? null;
    return { rows: [{ hasOwner: contents.roles.has(role) ? 't' : 'f', owner }] };
  }
  if (server.role === 'replica') return { refused: ['25006', 'cannot execute this in a read-only transaction'] };
  if (statements.grant.test(sql)) return { tag: 'GRANT ROLE' };
  const made = statements.createRole.exec(sql);
  const [, name, verifier] = made ?? statements.alterRole.exec(sql) ?? [];
  if (name !== undefined && verifier !== undefined) {
    if (contents.roles.has(name) === (made !== null))
      return { refused: made === null ? ['42704', 'role does not exist'] : ['42710', 'role already exists'] };
    return await done(server.commit({ what: 'role', name, verifier }), made === null ? 'ALTER ROLE' : 'CREATE ROLE');
  }
  const [, created, owner] = statements.createDatabase.exec(sql) ?? [];
  if (created === undefined || owner === undefined) return { refused: ['42601', `syntax error at or near "${sql}"`] };
  if (contents.databases.has(created)) return { refused: ['42P04', 'database already exists'] };
  return await done(server.commit({ what: 'database', name: created, owner }), 'CREATE DATABASE');
}

function slotOf({ wal, removed, slots }: Data, name: string): Row {
  const held = slots.get(name);
  const status = held === undefined ? null : held < removed ? 'lost' : 'reserved';
  return { end: lsnText(wal.length), status, restart: held === undefined || held < removed ? null : lsnText(held) };
}

function factsOf(server: Server): Row {
  const { files, parameters, synchronous, now, readAt, startedAt } = server;
  const names = [...synchronous.names].join(',');
  return {
    inRecovery: server.role === 'replica' ? 't' : 'f',
    config: files[configSetting] ?? null,
    pending: String(Object.keys(pendingIn(parameters, files)).length),
    configAgeMs: String(Math.round(now - readAt)),
    upMs: String(Math.round(now - startedAt)),
    waitsFor: names === '' ? '' : `ANY ${synchronous.count} (${names})`,
    prepared: '0',
  };
}

/** Of what is in no file nothing is known here but that it has the server's own value. */
function settingOf(server: Server, name: string): Row[] {
  const value = inForce(server, name);
  const isPending = name in pendingIn(server.parameters, server.files);
  return [
    {
      name,
      value: value ?? atStart[name] ?? '0',
      isDefault: value === undefined ? 't' : 'f',
      isText: 'f',
      isPending: isPending ? 't' : 'f',
    },
  ];
}

async function done(commit: Promise<boolean>, tag: string): Promise<Answer> {
  return (await commit) ? { tag } : { refused: ['57P01', 'terminating connection due to administrator command'] };
}

const hmac = (key: Buffer, message: string): Buffer => createHmac('sha256', key).update(message).digest();

/** The server's side of a login. */
class Scram {
  readonly #salt: string;
  readonly #iterations: string;
  readonly #storedKey: Buffer;
  readonly #serverKey: Buffer;
  #transcript = '';
  #nonce = '';

  constructor(verifier: string) {
    const [, iterations = '', salt = '', stored = '', server = ''] =
      /^SCRAM-SHA-256\$(\d+):([^$]+)\$([^:]+):(.+)$/.exec(verifier) ?? [];
    this.#salt = salt;
    this.#iterations = iterations;
    this.#storedKey = Buffer.from(stored, 'base64');
    this.#serverKey = Buffer.from(server, 'base64');
  }

  challenge(first: string): string {
    const bare = first.replace(/^n,,/, '');
    this.#nonce = `${/r=([^,]+)/.exec(bare)?.[1] ?? ''}simulated`;
    const challenge = `r=${this.#nonce},s=${this.#salt},i=${this.#iterations}`;
    this.#transcript = `${bare},${challenge}`;
    return challenge;
  }

  /** What proves that the server knows the password, too; undefined where the client does not. */
  proofOf(final: string): string | undefined {
    const [unproved = '', proof = ''] = final.split(',p=');
    const transcript = `${this.#transcript},${unproved}`;
    const signature = hmac(this.#storedKey, transcript);
    const clientKey = Buffer.from(proof, 'base64').map((byte, at) => byte ^ (signature[at] ?? 0));
    const isIt = createHash('sha256').update(clientKey).digest().equals(this.#storedKey);
    if (!isIt || !unproved.includes(`r=${this.#nonce}`)) return undefined;
    return `v=${hmac(this.#serverKey, transcript).toString('base64')}`;
  }
}
