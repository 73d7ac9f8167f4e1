/** Which part of the archived log is confirmed to a primary whose commits wait for any standby. */
import { afterEach, describe, expect, it } from 'vitest';
import { confirmation } from '../../../src/engines/postgres/agent/confirmation.ts';
import { openSession } from '../../../src/engines/postgres/agent/session.ts';
import { standbyHas } from '../../../src/engines/postgres/agent/survey.ts';
import { streamWal } from '../../../src/engines/postgres/agent/wal-stream.ts';
import { postgresBackup } from '../../../src/engines/postgres/backup/support.ts';
import { statusMessage } from '../../../src/engines/postgres/client/wal-message.ts';
import type { PostgresSpecInput } from '../../../src/engines/postgres/kind/schema.ts';
import { agentContext } from '../../support/agent-context.ts';
import { segmentBytes, systemId, walSegment } from '../../support/postgres-backup.ts';
import { authentication, backend, int64, parameter, ready, table } from '../../support/postgres-messages.ts';
import { postgresCluster } from '../../support/postgres-situation.ts';
import { type ScriptedPostgres, startScriptedPostgres } from '../../support/scripted-postgres.ts';

describe('an archive waits for a standby', () => {
  it.each<[PostgresSpecInput, true | undefined]>([
    [{ instances: 3, synchronous: { strict: true } }, true],
    [{ instances: 3, synchronous: { strict: false } }, undefined],
    // Patroni has its commits wait for nobody.
    [{ instances: 1, synchronous: { strict: true } }, undefined],
  ])('of %j: %s', (spec, expected) => {
    expect(postgresBackup.source(postgresCluster(spec)).source.withStandby).toBe(expected);
  });
});

describe('a standby', () => {
  let server: ScriptedPostgres | undefined;
  afterEach(() => server?.stop());

  it.each<[string, { hot: string; xlogpos: string; timeline?: string; systemid?: string }, boolean]>([
    ['has what it has on its disk', { hot: 'on', xlogpos: '0/300000' }, true],
    ['has not what has yet to come', { hot: 'on', xlogpos: '0/2FFFFF' }, false],
    ['of another timeline has another log', { hot: 'on', xlogpos: '0/400000', timeline: '1' }, false],
    ['of another database cluster has another log', { hot: 'on', xlogpos: '0/400000', systemid: '7' }, false],
    ['is none where it takes writes', { hot: 'off', xlogpos: '0/400000' }, false],
  ])('%s', async (_, { hot, xlogpos, timeline = '2', systemid = systemId }, expected) => {
    server = await startScriptedPostgres(async ({ heard, say }) => {
      await heard();
      say(authentication(0), parameter('server_version', '17.12'), parameter('in_hot_standby', hot), ready);
      await heard();
      say(table([{ systemid, timeline, xlogpos, dbname: null }]), ready);
    });
    const context = agentContext({ idleMs: 2000 });
    const members = [{ host: '127.0.0.1', port: server.port }];
    const access = { user: 'u', password: undefined, tls: undefined, context };
    expect(await standbyHas(members, { systemId, timeline: 2, upTo: 0x300000n }, access)).toBe(expected);
  });
});

describe('what is confirmed', () => {
  it('is what a standby had when it was asked, and nothing once none answers', async () => {
    const answers = [() => Promise.resolve(true), () => Promise.reject(new Error('nobody'))];
    const { ask, reported } = confirmation(() => (answers.shift() as () => Promise<boolean>)());
    const once = (stored: bigint) => new Promise<void>((resolve) => ask(1, stored, resolve));
    // A primary that stops waits for `written` then.
    expect(reported(8n)).toEqual({ flushed: 0n, written: 8n });
    await once(8n);
    expect(reported(9n)).toEqual({ flushed: 8n, written: 8n });
    await once(9n);
    expect(reported(9n)).toEqual({ flushed: 0n, written: 9n });
  });
});

describe('a stored part of the log', () => {
  let server: ScriptedPostgres | undefined;
  afterEach(() => server?.stop());
  const begin = 0x200000n;
  const end = begin + BigInt(segmentBytes);
  const log = Buffer.concat([Buffer.from('w'), int64(begin, 0n, 0n), walSegment(begin)]);

  it.each([
    ['is confirmed where a standby has it as well', true, end],
    // PostgreSQL would count the archive as the standby that commits wait for.
    ['is not confirmed while no standby has it', false, 0n],
  ])('%s', async (_, isThere, confirmed) => {
    const told: Buffer[] = [];
    server = await startScriptedPostgres(async ({ heard, say }) => {
      await heard();
      say(authentication(0), parameter('server_version', '17.12'), ready);
      await heard();
      say(table([{ systemid: systemId, timeline: '1', xlogpos: '0/200100', dbname: null }]), ready);
      await heard();
      say(backend('W', '\0\0\0'), backend('d', log));
      for (;;) told.push(await heard());
    });
    const context = agentContext({ idleMs: 60_000 });
    const access = { user: 'u', password: undefined, tls: undefined, context };
    const session = await openSession({ host: '127.0.0.1', port: server.port }, access);
    const asked: string[] = [];
    const pieces = streamWal(
      session,
      {
        ...{ slot: 's', from: { timeline: 1, position: begin }, systemId, segmentBytes },
        standbyHas: (timeline, upTo) => {
          asked.push(`${timeline} ${upTo.toString(16)}`);
          return Promise.resolve(isThere);
        },
      },
      context,
    );
    await pieces.next();
    // That it asks for another one says that the first one is stored.
    const pending = pieces.next();
    pending.catch(() => undefined);
    await expect.poll(() => asked, { timeout: 5000 }).toContain(`1 ${end.toString(16)}`);
    const wanted = statusMessage(confirmed, 0, false, end).subarray(0, 22);
    await expect.poll(() => told.some((text) => text.includes(wanted)), { timeout: 5000 }).toBe(true);
    const flushed = told.map((text) => text.readBigUInt64BE(14));
    expect(isThere || flushed.every((position) => position === 0n)).toBe(true);
    await server.stop();
    await expect(pending).rejects.toMatchObject({ reason: 'SourceBroken' });
  });
});
