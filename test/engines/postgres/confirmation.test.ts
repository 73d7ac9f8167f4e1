/** Which part of the archived log is confirmed to a primary whose commits wait for any standby. */
import { afterEach, describe, expect, it } from 'vitest';
import { confirmation } from '../../../src/engines/postgres/agent/confirmation.ts';
import { standbyHas } from '../../../src/engines/postgres/agent/survey.ts';
import { postgresBackup } from '../../../src/engines/postgres/backup/support.ts';
import type { PostgresSpecInput } from '../../../src/engines/postgres/kind/schema.ts';
import { agentContext } from '../../support/agent-context.ts';
import { authentication, parameter, ready, table } from '../../support/postgres-messages.ts';
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
  const systemId = '7000000000000000001';
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
