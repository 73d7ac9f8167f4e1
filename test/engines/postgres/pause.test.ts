import { createServer, type Server, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import type { EngineContext } from '../../../src/engine/engine-context.ts';
import { actPostgres } from '../../../src/engines/postgres/act/act.ts';
import type { PostgresAction } from '../../../src/engines/postgres/action.ts';
import { observePoolers } from '../../../src/engines/postgres/observe/poolers.ts';
import { sleep, systemClock } from '../../../src/system/clock.ts';
import { dialTcp } from '../../../src/system/dial.ts';
import { authentication, complete, ready, refusal, table } from '../../support/postgres-messages.ts';
import { postgresWorld } from '../../support/postgres-situation.ts';
import { postgresSecrets, scriptedPatroni } from '../../support/scripted-patroni.ts';

const world = postgresWorld({ spec: { pooler: {} } });
const secrets = postgresSecrets(world.cluster, Date.now());

let server: Server | undefined;
afterEach(() => new Promise((resolve) => (server === undefined ? resolve(undefined) : server.close(resolve))));

interface Scripted {
  /** `undefined`: nobody listens. */
  readonly console?: (command: string) => Buffer | undefined;
  /** What the switchover is answered with. */
  readonly switchover?: number;
}

/** A console of PgBouncer with the pooler's certificate, and a Patroni in each member: what both are told, in order. */
async function poolers({ console, switchover = 200 }: Scripted) {
  const said: string[] = [];
  const { 'tls.crt': cert = '', 'tls.key': key = '', 'ca.crt': ca = '' } = secrets['db-pooler-tls'] ?? {};
  const talk = (stream: TLSSocket): void => {
    let isIn = false;
    stream.on('error', () => undefined);
    stream.on('data', (bytes: Buffer) => {
      if (!isIn) {
        isIn = true;
        const fields = bytes.subarray(8).toString().split('\0').filter(Boolean);
        const names = fields.filter((_, i) => i % 2 === 0).join(' ');
        said.push(`login ${stream.getPeerCertificate().subject?.CN ?? 'nobody'}: ${names}`);
        stream.write(Buffer.concat([authentication(0), ready]));
      } else if (bytes[0] !== 0x58) {
        const command = bytes.subarray(5, -1).toString();
        said.push(command);
        stream.write(Buffer.concat([console?.(command) ?? complete(command), ready]));
      }
    });
  };
  const listening = createServer((socket: Socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => {
      socket.write('S');
      talk(new TLSSocket(socket, { isServer: true, cert, key, ca, requestCert: true, rejectUnauthorized: false }));
    });
  });
  server = listening;
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
  const { port } = listening.address() as { port: number };
  const { io } = scriptedPatroni(
    world.observed,
    secrets,
    ({ method, path, host }) => {
      said.push(`${method} ${path}`);
      if (method === 'POST') return { status: switchover, body: switchover === 200 ? 'done' : 'no good candidate' };
      return {
        status: 200,
        body: JSON.stringify({ role: host === '10.0.0.1' ? 'primary' : 'replica', state: 'running' }),
      };
    },
    (host, of, signal) =>
      console === undefined
        ? Promise.reject(new Error(`connect ECONNREFUSED ${host}:${of}`))
        : dialTcp('127.0.0.1', port, signal),
  );
  const real: EngineContext = { ...io, sleep: (ms, signal) => sleep(systemClock, ms, signal) };
  return { said, io: real };
}

const handover: PostgresAction = {
  type: 'postgres.switchover',
  via: { pod: 'db-0-0', address: '10.0.0.0' },
  from: 'db-0-0',
  to: 'db-1-0',
  pause: { poolers: [{ pod: 'db-pooler-0', address: '10.0.1.0' }], primary: '10.0.0.1' },
};
const commands = (said: readonly string[]) => said.filter((line) => !line.startsWith('login'));
const state = (paused: string) =>
  table([
    { key: 'active', value: 'yes' },
    { key: 'paused', value: paused },
  ]);

describe('a switchover while clients wait', () => {
  it('is asked for after the pause, and the pause ends when the successor takes writes', async () => {
    const { said, io } = await poolers({ console: () => undefined });
    await actPostgres(handover, world.cluster, io);
    expect(commands(said)).toEqual(['PAUSE', 'POST /switchover', 'GET /patroni', 'RESUME']);
  });

  it('reaches the console by certificate, and without settings that a console does not know', async () => {
    const { said, io } = await poolers({ console: () => undefined });
    await actPostgres(handover, world.cluster, io);
    expect(said[0]).toBe('login clusterwright: user database client_encoding application_name');
  });

  it('that Patroni refuses leaves nobody paused', async () => {
    const { said, io } = await poolers({ console: () => undefined, switchover: 412 });
    await expect(actPostgres(handover, world.cluster, io)).rejects.toThrow('no good candidate');
    expect(commands(said)).toEqual(['PAUSE', 'POST /switchover', 'RESUME']);
  });

  it('is done where a pooler cannot be reached, which is told afterwards', async () => {
    const { said, io } = await poolers({});
    await expect(actPostgres(handover, world.cluster, io)).rejects.toThrow('db-pooler-0: connect ECONNREFUSED');
    expect(said).toContain('POST /switchover');
  });

  it('is done where a pooler refuses to pause', async () => {
    const { said, io } = await poolers({
      console: (command) => (command === 'PAUSE' ? refusal('08P01', 'already suspended/paused') : undefined),
    });
    await expect(actPostgres(handover, world.cluster, io)).rejects.toThrow('not paused: db-pooler-0: already');
    expect(commands(said)).toEqual(['PAUSE', 'POST /switchover', 'GET /patroni', 'RESUME']);
  });

  it.each([
    ['no', 'fulfilled'],
    ['yes', 'rejected'],
  ])('ends where the console refuses to resume, and says paused: %s', async (paused, outcome) => {
    const { io } = await poolers({
      console: (command) =>
        command === 'RESUME' ? refusal('08P01', 'refused') : command === 'SHOW STATE' ? state(paused) : undefined,
    });
    const [result] = await Promise.allSettled([actPostgres(handover, world.cluster, io)]);
    expect(result?.status).toBe(outcome);
  });
});

describe('what is seen of poolers', () => {
  it.each([
    ['yes', true],
    ['no', false],
  ])('paused: %s', async (paused, isPaused) => {
    const { io } = await poolers({ console: () => state(paused) });
    const seen = await observePoolers(world.cluster, world.children, io);
    expect(seen.map((pooler) => pooler.isPaused)).toEqual([isPaused, isPaused]);
  });

  it('is nothing where nobody answers', async () => {
    const { io } = await poolers({});
    const seen = await observePoolers(world.cluster, world.children, io);
    expect(seen.map(({ pod, isPaused }) => [pod, isPaused])).toEqual([
      ['db-pooler-0', undefined],
      ['db-pooler-1', undefined],
    ]);
  });
});
