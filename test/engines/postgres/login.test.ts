/** Logins with servers that refuse, lie, or are none. */
import { afterEach, describe, expect, it } from 'vitest';
import type { EngineContext, TlsMaterial } from '../../../src/engine/engine-context.ts';
import { askOne, question, text } from '../../../src/engines/postgres/client/question.ts';
import { type SessionTarget, withSession } from '../../../src/engines/postgres/client/session.ts';
import { sleep, systemClock } from '../../../src/system/clock.ts';
import { dialTcp } from '../../../src/system/dial.ts';
import {
  authentication,
  backend,
  complete,
  describedColumns,
  int32,
  notice,
  parameter,
  ready,
  refusal,
  row,
  table,
} from '../../support/postgres-messages.ts';
import { type Peer, type ScriptedPostgres, startScriptedPostgres } from '../../support/scripted-postgres.ts';
import { caCertificate } from '../../support/tls.ts';

const io: Pick<EngineContext, 'dial' | 'sleep'> = {
  dial: dialTcp,
  sleep: (ms, signal) => sleep(systemClock, ms, signal),
};
const tls: TlsMaterial = { ca: caCertificate };
let server: ScriptedPostgres | undefined;
afterEach(() => server?.stop());

const version = question<{ v: string }>('SELECT v', { v: text });

async function asked(talk: (peer: Peer) => Promise<void>, more: Partial<SessionTarget> = {}) {
  server = await startScriptedPostgres(talk);
  const target: SessionTarget = { address: '127.0.0.1', port: server.port, login: { user: 'operator' }, ...more };
  return await withSession(io, target, (connection) => askOne(connection, version));
}

/** Answers the first message, and then each that comes. */
const saying =
  (...answers: readonly Buffer[]) =>
  async ({ heard, say }: Peer): Promise<void> => {
    for (const answer of answers) {
      await heard();
      say(answer);
    }
  };

const letIn = Buffer.concat([
  authentication(0),
  parameter('server_version', '17.12'),
  backend('K', int32(1, 2)),
  ready,
]);
const withPassword = { login: { user: 'operator', password: 'pencil' } };
const sasl = authentication(10, 'SCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0');

describe('a session', () => {
  it('gets its answer, whatever is said beside it', async () => {
    const answer = Buffer.concat([
      notice,
      describedColumns(['v']),
      notice,
      parameter('in_hot_standby', 'on'),
      row(['17.12']),
      complete('SELECT 1'),
      ready,
    ]);
    expect(await asked(saying(Buffer.concat([notice, letIn]), answer))).toEqual({ v: '17.12' });
  });

  it.each<[string, readonly Buffer[], Partial<SessionTarget>, RegExp]>([
    ['lets in without a question', [letIn], withPassword, /lets in without proving/],
    [
      'lets in within the exchange, without its signature',
      [sasl, Buffer.concat([authentication(0), ready])],
      withPassword,
      /lets in without proving/,
    ],
    ['wants the password itself', [authentication(3)], withPassword, /login of another kind \(3\)/],
    ['wants an MD5 of it', [authentication(5, 'salt')], withPassword, /login of another kind \(5\)/],
    ['offers only another mechanism', [authentication(10, 'PLAIN\0\0')], withPassword, /does not offer SCRAM-SHA-256/],
    ['ends the exchange before it has begun', [authentication(12, 'v=x')], withPassword, /another kind \(12\)/],
    ['asks for a password that there is not', [sasl], {}, /asks for a password, and there is none/],
    ['refuses', [refusal('28000', 'no entry in pg_hba.conf', 'FATAL')], {}, /no entry in pg_hba.conf/],
    ['speaks HTTP', [Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')], {}, /longer than|ended|message/],
    ['sends notices without an end', [Buffer.concat(Array<Buffer>(300).fill(notice))], {}, /a login does not end/],
    ['offers no TLS', [Buffer.from('N')], { tls }, /offers no TLS/],
    ['answers an error where TLS is asked for', [refusal('08P01', 'x', 'FATAL')], { tls }, /more than an answer/],
    ['says more before TLS begins', [Buffer.concat([Buffer.from('S'), letIn])], { tls }, /more than an answer/],
    ['answers with two rows', [letIn, Buffer.concat([table([{ v: '1' }, { v: '2' }]), ready])], {}, /has one row/],
    ['answers another question', [letIn, Buffer.concat([table([{ w: '1' }]), ready])], {}, /has no column v/],
    ['answers with nothing', [letIn, Buffer.concat([table([{ v: null }]), ready])], {}, /null is no text/],
    ['sends a row before its columns', [letIn, row(['1'])], {}, /a row before its columns/],
    [
      'sends more values than columns',
      [letIn, Buffer.concat([describedColumns(['v']), row(['1', '2'])])],
      {},
      /2 values, and 1 columns/,
    ],
    [
      'sends rows without an end',
      [letIn, Buffer.concat([describedColumns(['v']), ...Array<Buffer>(600).fill(row(['1']))])],
      {},
      /more than 512 rows/,
    ],
    [
      'sends long rows without an end',
      [letIn, Buffer.concat([describedColumns(['v']), ...Array<Buffer>(9).fill(row(['x'.repeat(8000)]))])],
      {},
      /longer than 65536 bytes/,
    ],
    ['sends data', [letIn, backend('d', 'data')], {}, /answered with data/],
    ['begins a copy', [letIn, backend('H', '\0\0\0')], {}, /answered with a message H/],
    [
      'ends within a value',
      [letIn, Buffer.concat([describedColumns(['v']), backend('D', '\0\x01\0\0')])],
      {},
      /within a field/,
    ],
    ['says nothing', [], { timeoutMs: 200 }, /did not answer within 200 ms/],
    ['says nothing once it has let in', [letIn], { timeoutMs: 200 }, /did not answer within 200 ms/],
  ])('is refused with one that %s', async (_, answers, more, words) => {
    await expect(asked(saying(...answers), { timeoutMs: 10_000, ...more })).rejects.toThrow(words);
  });

  it('knows the SQLSTATE of a refusal, and asks on', async () => {
    server = await startScriptedPostgres(
      saying(
        letIn,
        Buffer.concat([refusal('42P01', 'no such table'), ready]),
        Buffer.concat([table([{ v: '1' }]), ready]),
      ),
    );
    const target = { address: '127.0.0.1', port: server.port, login: { user: 'operator' } };
    await withSession(io, target, async (connection) => {
      await expect(askOne(connection, version)).rejects.toMatchObject({ code: '42P01', message: 'no such table' });
      expect(await askOne(connection, version)).toEqual({ v: '1' });
    });
  });

  it.each([
    ['within a message', (peer: Peer) => peer.say(Buffer.from([0x44, 0, 0, 0, 99, 0]))],
    ['between messages', (_: Peer) => undefined],
  ])('ends where the connection does, %s', async (_, before) => {
    const talk = async (peer: Peer): Promise<void> => {
      await saying(letIn)(peer);
      await peer.heard();
      before(peer);
      peer.socket.end();
    };
    await expect(asked(talk)).rejects.toThrow(/the connection to PostgreSQL has ended/);
  });

  it('is over when the process stops', async () => {
    const stopping = new AbortController();
    const ending = {
      ...io,
      sleep: (ms: number, signal?: AbortSignal) => sleep(systemClock, ms, signal, stopping.signal),
    };
    server = await startScriptedPostgres(async ({ heard }) => {
      await heard();
      stopping.abort(new Error('the lease is lost'));
    });
    const target = { address: '127.0.0.1', port: server.port, login: { user: 'operator' }, timeoutMs: 60_000 };
    await expect(withSession(ending, target, (it) => askOne(it, version))).rejects.toThrow(/the lease is lost/);
  });

  it('sends nothing that contains a NUL', async () => {
    await expect(asked(saying(letIn), { login: { user: 'a\0database\0b' } })).rejects.toThrow(/contains a NUL/);
  });
});
