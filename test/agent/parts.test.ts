/** Backups in several parts: one object each, and none of them in the place of another. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { container } from '../../src/agent/container.ts';
import { runTask } from '../../src/agent/run.ts';
import type { AgentResult } from '../../src/backup/agent-result.ts';
import type { EngineState } from '../../src/backup/engine-data.ts';
import type { Dump } from '../../src/engine/driver/dump.ts';
import { Failure } from '../../src/engine/driver/failure.ts';
import { systemClock } from '../../src/system/clock.ts';
import { agentContext, expectResult } from '../support/agent-context.ts';
import { smallDump } from '../support/dumps.ts';
import { giving } from '../support/given-dump.ts';

const halves = ['0-8191', '8192-16383'];
const state: EngineState = {
  engine: 'redis',
  shards: halves.map((slots, i) => ({
    ...{ slots, epoch: i + 1, source: `db-s${i}-1:6379`, role: 'replica' },
    ...{ replicationId: 'c'.repeat(40), offset: 14, approximateKeys: { 0: 3 } },
  })),
};

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'parts-'));
  writeFileSync(join(home, 'key'), `${Buffer.alloc(32, 1).toString('base64')}\n`);
});
afterEach(() => rmSync(home, { recursive: true }));

const store = () => ({
  target: { type: 'claim', directory: home, prefix: 'backups' },
  encryptionKeyFile: join(home, 'key'),
});

/** `last`: what comes after the last part. */
function run(
  task: object,
  { at = systemClock.now(), last = (): Promise<unknown> => Promise.resolve() } = {},
): Promise<AgentResult> {
  async function* part(text: string): AsyncGenerator<Uint8Array> {
    yield smallDump(Buffer.from(text));
  }
  async function* others(): AsyncGenerator<AsyncIterable<Uint8Array>> {
    yield part('second');
    await last();
  }
  const dump = async (): Promise<Dump> => ({
    engineVersion: '8.0.5',
    topology: { members: 4, source: 'db-s0-1:6379', role: 'replica' },
    content: part('first'),
    others: others(),
    state: () => state,
    close: () => undefined,
  });
  const clock = { ...systemClock, now: () => at };
  return runTask(JSON.stringify({ ...store(), ...task }), agentContext({ clock }), container, giving(dump));
}

const take = (more: object = {}, options: Parameters<typeof run>[1] = {}) =>
  run(
    {
      task: 'take',
      cluster: { namespace: 'apps', kind: 'RedisCluster', name: 'db', uid: 'uid' },
      purpose: { type: 'backup', name: 'now' },
      source: { engine: 'redis', members: [{ host: 'nobody', port: 1 }] },
      ...more,
    },
    options,
  );
const verify = () => run({ task: 'verify', which: {}, engine: 'redis' });
const fetch = (name: string, shard?: object) => {
  mkdirSync(join(home, name), { recursive: true });
  const destination = { engine: 'redis', directory: join(home, name), ...(shard === undefined ? {} : { shard }) };
  return run({ task: 'fetch', which: {}, destination });
};
const tampered = (message: RegExp) => ({
  result: 'failed',
  reason: 'Tampered',
  message: expect.stringMatching(message),
});

describe('a backup in two parts', () => {
  it('is two objects and a manifest, which tells of both and of all together', async () => {
    const { backup } = expectResult(await take(), 'taken');
    const folder = join(home, backup.folder);
    expect(readdirSync(folder).sort()).toEqual(['data-0', 'data-1', 'manifest.json']);
    const { manifest } = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as {
      manifest: { formatVersion: number; data: { plainBytes: number }; parts: { plainBytes: number }[] };
    };
    expect(manifest.formatVersion).toBe(3);
    expect(manifest.data.plainBytes).toBe(manifest.parts.reduce((sum, part) => sum + part.plainBytes, 0));
    expect(backup.plainBytes).toBe(manifest.data.plainBytes);
    expect(backup.contents).toEqual({ shards: '2', 'keys.0': '6' });
    expectResult(await verify(), 'verified');
  });

  it('puts each part where it belongs, and nothing where there is no place for it', async () => {
    expectResult(await take(), 'taken');
    for (const index of [0, 1]) {
      expectResult(await fetch(`v${index}`, { index, count: 2 }), 'fetched');
      const base = readFileSync(join(home, `v${index}`, 'appendonlydir/appendonly.aof.1.base.rdb'));
      expect(base).toEqual(smallDump(Buffer.from(index === 0 ? 'first' : 'second')));
      expect(readFileSync(join(home, `v${index}`, 'restored-shard'), 'utf8')).toBe(`${halves[index]}\n`);
    }
    for (const shard of [undefined, { index: 0, count: 3 }]) {
      expect(await fetch('other', shard)).toMatchObject({ reason: 'Unfit', isTransient: false });
    }
    expect(readdirSync(join(home, 'other'))).toEqual([]);
  });

  it('is refused where a part is in the place of another one, is missing, or was changed', async () => {
    const { backup } = expectResult(await take(), 'taken');
    const at = (name: string): string => join(home, backup.folder, name);
    const swap = (): void => {
      renameSync(at('data-0'), at('x'));
      renameSync(at('data-1'), at('data-0'));
      renameSync(at('x'), at('data-1'));
    };
    swap();
    for (const result of [await verify(), await fetch('v', { index: 1, count: 2 })]) {
      expect(result).toMatchObject(tampered(/part \d of the data .* is not what was written/));
    }
    swap();
    renameSync(at('data-1'), at('y'));
    expect(await verify()).toMatchObject(tampered(/part 1 of the data .*: it is not there/));
    expect(readdirSync(join(home, 'v'))).toEqual([]);
  });

  it('leaves nothing behind where the last part is not the end', async () => {
    const last = (): Promise<unknown> => Promise.reject(new Failure('SourceBroken', 'the slots have moved'));
    expect(await take({}, { last })).toMatchObject({ reason: 'SourceBroken', isTransient: true });
    expect(readdirSync(home)).toEqual(['key']);
  });

  it('goes with all its parts when retention lets it go', async () => {
    const more = { purpose: { type: 'schedule', name: 'nightly' }, retention: { count: 1 } };
    const first = expectResult(await take(more), 'taken');
    const second = expectResult(await take(more, { at: systemClock.now() + 5000 }), 'taken');
    expect([first.pruned, second.pruned]).toEqual([0, 1]);
    const folders = readdirSync(join(home, 'backups/apps/RedisCluster/uid'));
    expect(folders).toEqual([second.backup.id]);
  });

  it('of one part does not fit a Redis Cluster', async () => {
    const single = { engine: 'redis', replicationId: 'c'.repeat(40), offset: 1, approximateKeys: {} };
    const dump = async (): Promise<Dump> => ({
      engineVersion: '8.0.5',
      topology: { members: 1, source: 'db-0:6379', role: 'primary' },
      content: (async function* () {
        yield smallDump();
      })(),
      state: () => single,
      close: () => undefined,
    });
    const task = {
      ...{ task: 'take', cluster: { namespace: 'apps', kind: 'RedisCluster', name: 'db', uid: 'uid' } },
      ...{ purpose: { type: 'backup', name: 'now' }, source: { engine: 'redis', members: [{ host: 'a', port: 1 }] } },
    };
    const taken = await runTask(JSON.stringify({ ...store(), ...task }), agentContext(), container, giving(dump));
    expectResult(taken, 'taken');
    expect(await fetch('v', { index: 0, count: 3 })).toMatchObject({
      reason: 'Unfit',
      message: expect.stringMatching(/of a Redis without shards/),
    });
  });
});
