/** The port of an importing member: pods of others reach it as well, and the kubelet asks there whether the member lives. */
import { existsSync, readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { freePort } from '../../support/free-port.ts';
import { type Import, startImport } from '../../support/postgres-import.ts';
import { openHome, type PostgresHome } from '../../support/postgres-process.ts';
import { postgresPrograms } from '../../support/postgres-program.ts';

// The images with Patroni have Python.
const [first] = [...postgresPrograms].filter(([, { root }]) => existsSync(join(root, 'usr/bin/python3')));

describe.skipIf(first === undefined)('the port of an importing member', () => {
  let home: PostgresHome;
  let one: Import;
  const sockets: Socket[] = [];

  beforeEach(() => {
    if (first !== undefined) home = openHome(first[1]);
  });
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    one.kill('SIGTERM');
    await one.ended;
    home.remove();
  });

  /** Nobody is asked before the operator has sent a password. */
  const begin = async (callSeconds: number): Promise<void> => {
    one = await startImport(home, { port: await freePort() }, { version: first?.[0] ?? '', callSeconds });
    await one.until(({ phase }) => phase === 'waiting');
  };
  const opened = (): Promise<Socket> =>
    new Promise((resolve, reject) => {
      const socket = connect(one.port, '127.0.0.1', () => resolve(socket));
      socket.on('error', reject);
      sockets.push(socket);
    });
  const threads = (): number => Number(/^Threads:\s+(\d+)/m.exec(readFileSync(`/proc/${one.pid}/status`, 'utf8'))?.[1]);

  it('keeps few connections that say nothing, and answers beside them', async () => {
    await begin(30);
    for (let i = 0; i < 200; i++) await opened();
    expect(await one.seen()).toMatchObject({ phase: 'waiting' });
    await expect.poll(threads).toBeLessThan(80);
  });

  it('ends a connection whose peer sends a little again and again', async () => {
    await begin(2);
    const socket = await opened();
    const ended = new Promise<string>((resolve) => socket.once('close', () => resolve('ended')));
    // The head of a TLS record, and its content byte by byte.
    socket.write(Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00]));
    const drip = setInterval(() => socket.write(Buffer.from([1])), 500);
    const late = new Promise<string>((resolve) => setTimeout(() => resolve('open'), 30_000));
    expect(await Promise.race([ended, late])).toBe('ended');
    clearInterval(drip);
  });

  it('takes no body of an impossible size', async () => {
    await begin(2);
    expect(await one.tell('/cut-over', {}, true, { 'Content-Length': '-1' })).toBe(403);
    expect(await one.tell('/cut-over', {}, true, { 'Content-Length': 'many' })).toBe(403);
    expect(await one.seen()).toMatchObject({ phase: 'waiting' });
  });
});
