/** Peers that say nothing: the agent goes on for as long as it was told to wait, and no longer. */
import { getEventListeners } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Failure } from '../../src/engine/driver/failure.ts';
import { inTime, piecesInTime } from '../../src/engine/driver/wait.ts';
import { runAgent } from '../support/agent-context.ts';
import { silentRedis } from '../support/silent-redis.ts';
import { turn, VirtualClock } from '../support/virtual-clock.ts';

const cluster = { namespace: 'apps', name: 'x', uid: 'uid-1' };
const late = (): Failure => new Failure('SourceUnreachable', 'late');
const never = new Promise<never>(() => undefined);

/** What came, or the words of what came instead. */
const endOf = (promise: Promise<unknown>): Promise<unknown> => promise.catch(({ message }: Error) => message);

describe('a wait', () => {
  it('ends when its time is up, when it is stopped, and when there is an answer', async () => {
    const clock = new VirtualClock();
    const stopping = new AbortController();
    const patience = { clock, signal: stopping.signal, idleMs: 1000 };
    const waiting = endOf(inTime(never, patience, late));
    await clock.advance(1000);
    expect(await waiting).toBe('late');
    expect(await endOf(inTime(Promise.resolve('answer'), patience, late))).toBe('answer');
    const stopped = endOf(inTime(never, patience, late));
    stopping.abort(new Error('stop'));
    expect(await stopped).toBe('stop');
    expect(await endOf(inTime(never, patience, late))).toBe('stop');
    expect(clock.pending).toEqual([]);
  });

  it('leaves nothing behind, however it ends: no timer, and nobody who listens for the end of the pod', async () => {
    const clock = new VirtualClock();
    const { signal } = new AbortController();
    const patience = { clock, signal, idleMs: 1000 };
    expect(await endOf(inTime(Promise.reject(new Error('cut off')), patience, late))).toBe('cut off');
    expect(await endOf(inTime(Promise.resolve('answer'), patience, late))).toBe('answer');
    expect(clock.pending).toEqual([]);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('for what nobody waits for any more is no crash of the process', async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown): void => void unhandled.push(reason);
    process.on('unhandledRejection', note);
    const clock = new VirtualClock();
    const patience = { clock, signal: AbortSignal.abort(new Error('stop')), idleMs: 1000 };
    const end = await endOf(inTime(Promise.reject(new Error('cut off')), patience, late));
    await turn();
    process.off('unhandledRejection', note);
    expect(end).toBe('stop');
    expect(unhandled).toEqual([]);
    expect(clock.pending).toEqual([]);
  });

  it('ends what the pieces come from once there is enough of them, and once there are no more', async () => {
    async function* pieces(): AsyncGenerator<Uint8Array> {
      yield Buffer.of(1);
      yield Buffer.of(2);
    }
    const patience = { clock: new VirtualClock(), signal: new AbortController().signal, idleMs: 1000 };
    for (const wanted of [1, 2, 3]) {
      let stopped = 0;
      const seen: number[] = [];
      const stop = (): void => {
        stopped += 1;
      };
      for await (const [first = -1] of piecesInTime(pieces(), patience, late, stop)) {
        seen.push(first);
        if (seen.length === wanted) break;
      }
      expect([seen, stopped]).toEqual([[1, 2].slice(0, wanted), 1]);
    }
  });

  it('begins anew with each piece, and ends what the pieces come from', async () => {
    const clock = new VirtualClock();
    let isStopped = false;
    async function* pieces(): AsyncGenerator<Uint8Array> {
      for (let i = 0; i < 3; i++) {
        await new Promise<void>((resolve) => clock.after(900, resolve));
        yield Buffer.of(i);
      }
      await never;
    }
    const patience = { clock, signal: new AbortController().signal, idleMs: 1000 };
    const seen: number[] = [];
    const reading = async (): Promise<void> => {
      const stop = (): void => {
        isStopped = true;
      };
      for await (const [first = -1] of piecesInTime(pieces(), patience, late, stop)) seen.push(first);
    };
    const read = endOf(reading());
    await clock.advance(2700);
    expect([seen, isStopped]).toEqual([[0, 1, 2], false]);
    await clock.advance(1000);
    expect(await read).toBe('late');
    expect(isStopped).toBe(true);
  });
});

describe('a peer that says nothing more', () => {
  const take = (home: string, kind: string, engine: string, port: number): object => ({
    task: 'take',
    target: { type: 'claim', directory: home, prefix: 'backups' },
    cluster: { ...cluster, kind },
    purpose: { type: 'backup', name: 'now' },
    source: { engine, members: [{ host: '127.0.0.1', port }] },
    idleTimeoutSeconds: 3,
  });

  it('in the middle of a dump ends the backup, and leaves nothing', async () => {
    const home = mkdtempSync(join(tmpdir(), 'agent-silence-'));
    const server = await silentRedis();
    expect(await runAgent(take(home, 'RedisCluster', 'redis', server.port))).toMatchObject({
      reason: 'SourceUnreachable',
      message: expect.stringMatching(/sent nothing for 3000 ms/),
      isTransient: true,
    });
    expect(existsSync(join(home, 'backups'))).toBe(false);
    await server.stop();
    rmSync(home, { recursive: true });
  });

  it.each([
    ['RedisCluster', 'redis'],
    ['EtcdCluster', 'etcd'],
  ])('from the beginning is no member of a %s', async (kind, engine) => {
    const home = mkdtempSync(join(tmpdir(), 'agent-silence-'));
    const server = createServer(() => undefined);
    const port = await new Promise<number>((resolve) =>
      server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port)),
    );
    expect(await runAgent(take(home, kind, engine, port))).toMatchObject({ reason: 'SourceUnreachable' });
    server.close();
    rmSync(home, { recursive: true });
  });
});
