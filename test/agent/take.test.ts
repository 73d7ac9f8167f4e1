/** A backup is taken: in which order, once, and with nothing left of an attempt that fails. */

import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { AgentIO } from '../../src/agent/agent-io.ts';
import { take } from '../../src/agent/take.ts';
import type { Target } from '../../src/agent/target/target.ts';
import type { TakeTask } from '../../src/backup/agent-task.ts';
import { type KeyRing, parseKeys } from '../../src/backup/key.ts';
import { type Manifest, parseManifest } from '../../src/backup/manifest.ts';
import type { Dump } from '../../src/engine/driver/dump.ts';
import { Failure } from '../../src/engine/driver/failure.ts';
import { drivers } from '../../src/engines/drivers.ts';
import { simulatedTarget } from '../faults/backup/target.ts';
import type { KeptObject } from '../faults/backup/vault.ts';
import { agentContext, type TestContext } from '../support/agent-context.ts';
import { smallDump } from '../support/dumps.ts';
import { giving, redisHolding } from '../support/given-dump.ts';
import { turn, VirtualClock } from '../support/virtual-clock.ts';

const cluster = { namespace: 'apps', kind: 'RedisCluster', name: 'cache', uid: 'uid-1' } as const;
const folder = 'apps/RedisCluster/uid-1';
const keys = parseKeys(Buffer.alloc(32, 1).toString('base64'));
const otherKeys = parseKeys(Buffer.alloc(32, 2).toString('base64'));
const task: TakeTask = {
  task: 'take',
  target: { type: 'claim', directory: '/target', prefix: 'team' },
  idleTimeoutSeconds: 60,
  jitterSeconds: 0,
  cluster,
  purpose: { type: 'backup', name: 'now', uid: 'uid-7' },
  source: { engine: 'redis', members: [{ host: 'nobody', port: 1 }] },
};
const sha256 = (content: Uint8Array): string => createHash('sha256').update(content).digest('hex');

type Change = Partial<Pick<TakeTask, 'purpose' | 'jitterSeconds' | 'scratchDirectory' | 'retention'>>;

/** A database whose dump takes eight seconds, and a target that is a map; `calls` is what was done, in order. */
function rig() {
  const clock = new VirtualClock();
  clock.jump(1000);
  const place = new Map<string, unknown>();
  const calls: string[] = [];
  const removed: string[] = [];
  const plain = smallDump(Buffer.from('some keys'));
  const options = { place, prefix: '', reach: async () => undefined, now: () => clock.now() };
  const inner = simulatedTarget({ ...options, removing: (path) => void removed.push(path) });
  const nameOf = (key: string): string => key.replace(/^.*\//, '');
  const target: Target = {
    ...inner,
    async put(key, content) {
      calls.push(`put ${nameOf(key)}`);
      await inner.put(key, content);
    },
    get(key) {
      calls.push(`get ${nameOf(key)}`);
      return inner.get(key);
    },
    list(below) {
      calls.push(`list ${below}`);
      return inner.list(below);
    },
  };
  async function* content(): AsyncGenerator<Uint8Array> {
    yield plain.subarray(0, 5);
    clock.jump(8000);
    yield plain.subarray(5);
    calls.push('read to its end');
  }
  const dump = async (): Promise<Dump> => {
    calls.push('dump');
    return {
      engineVersion: '8.0.5',
      topology: { members: 3, source: 'cache-1:6379', role: 'replica' },
      content: content(),
      state: () => redisHolding(5),
      close: () => void calls.push('close'),
    };
  };
  const io: Pick<AgentIO, 'spool'> = {
    async spool(directory, data) {
      const pieces: Uint8Array[] = [];
      for await (const piece of data) pieces.push(piece);
      calls.push(`spooled in ${directory}`);
      async function* given(): AsyncGenerator<Uint8Array> {
        yield* pieces;
      }
      return { content: given, remove: async () => void calls.push('spool removed') };
    },
  };
  let chance = 0;
  /** The first byte is what is asked of a jitter; ids stay apart. */
  const random = (bytes: number): Buffer => {
    chance += 1;
    return Buffer.alloc(bytes, 0x40).fill(chance, bytes - 1);
  };
  const context: TestContext = { ...agentContext({ clock }), random };
  const taking = (change: Change = {}, on: Target = target, ring: KeyRing | 'none' = keys, given = dump) => {
    const repository = { target: on, keys: ring === 'none' ? undefined : ring, drivers: giving(given) };
    return take({ ...task, ...change }, repository, context, io);
  };
  const stored = (path: string): Buffer => (place.get(path) as KeptObject).content;
  return { clock, place, calls, removed, plain, target, dump, surroundings: context, taking, stored };
}

const readManifest = ({ stored }: ReturnType<typeof rig>, id: string, ring: KeyRing | undefined): Manifest =>
  parseManifest(stored(`${folder}/${id}/manifest.json`).toString(), `${folder}/${id}`, ring, drivers).manifest;

describe('a backup', () => {
  it('is data, then all of it read back, and only then a manifest', async () => {
    const all = rig();
    await all.taking();
    expect(all.calls).toEqual([
      // A target that is not there costs the database no dump.
      `list ${folder}`,
      'dump',
      'put data',
      'read to its end',
      'get data',
      'put manifest.json',
      'get manifest.json',
      'close',
      `list ${folder}`,
      'get manifest.json',
    ]);
    expect(all.removed).toEqual([]);
  });

  it.each([
    ['encrypted with the first key', [...keys, ...otherKeys] as KeyRing],
    ['plain where there is no key', undefined],
  ])('is %s, and its manifest says what it is', async (_, ring) => {
    const all = rig();
    const isPlain = ring === undefined;
    const taken = await all.taking({}, all.target, ring ?? 'none');
    const { id } = taken.backup;
    expect(id).toBe('20300101T000001Z-40404001');
    expect(taken).toMatchObject({
      result: 'taken',
      isRepeated: false,
      pruned: 0,
      milliseconds: 8000,
      backup: { folder: `team/${folder}/${id}`, completedAt: '2030-01-01T00:00:09.000Z' },
    });
    expect(taken).not.toHaveProperty('retentionFailure');
    const data = all.stored(`${folder}/${id}/data`);
    expect(data.equals(all.plain)).toBe(isPlain);
    expect(data.includes('some keys')).toBe(isPlain);
    expect(readManifest(all, id, isPlain ? undefined : keys)).toMatchObject({
      formatVersion: 2,
      sequence: 1,
      engine: 'redis',
      engineVersion: '8.0.5',
      cluster,
      purpose: task.purpose,
      topology: { members: 3, role: 'replica' },
      startedAt: '2030-01-01T00:00:01.000Z',
      completedAt: '2030-01-01T00:00:09.000Z',
      data: {
        plainBytes: all.plain.length,
        plainSha256: sha256(all.plain),
        storedBytes: data.length,
        storedSha256: sha256(data),
      },
      encryption: isPlain ? { scheme: 'none' } : { keyId: keys[0].id },
      state: redisHolding(5),
      writtenBy: expect.stringMatching(/^clusterwright \d/),
    });
    expect(all.surroundings.lines.join('')).toMatch(/everything is stored.*the backup is made and verified/s);
  });

  it('has a higher number than all before it, those included that another key opens', async () => {
    const all = rig();
    await all.taking();
    const purpose = (uid: string) => ({ purpose: { ...task.purpose, uid } });
    await all.taking(purpose('uid-8'), all.target, otherKeys);
    const third = await all.taking(purpose('uid-9'));
    expect(readManifest(all, third.backup.id, keys).sequence).toBe(3);
  });
});

describe('a second attempt', () => {
  it.each(['backup', 'version'] as const)(
    'for one %s finds what the first one stored, and takes none',
    async (type) => {
      const all = rig();
      const change = { purpose: { ...task.purpose, type }, jitterSeconds: 0 };
      const { backup } = await all.taking(change);
      all.calls.length = 0;
      // It does not wait either.
      const again = await all.taking({ ...change, jitterSeconds: 60 });
      expect(again).toMatchObject({ isRepeated: true, backup: { id: backup.id }, milliseconds: 0 });
      expect(all.calls).not.toContain('dump');
      expect(all.place.size).toBe(2);
      expect(all.surroundings.lines.join('')).toContain('an earlier attempt has made this backup');
    },
  );

  it.each([
    ['of a schedule, which asks for one each time', { type: 'schedule', name: 'now', uid: 'uid-7' }],
    ['of a deletion, which wants the last data', { type: 'deletion', name: 'now', uid: 'uid-7' }],
    ['for a Backup without a UID', { type: 'backup', name: 'now' }],
  ] as const)('%s takes another one', async (_, purpose) => {
    const all = rig();
    const { backup } = await all.taking({ purpose });
    const again = await all.taking({ purpose });
    expect(again).toMatchObject({ isRepeated: false });
    expect(again.backup.id).not.toBe(backup.id);
  });

  it('is none where another Backup of the same name asks', async () => {
    const all = rig();
    await all.taking();
    expect(await all.taking({ purpose: { ...task.purpose, uid: 'uid-8' } })).toMatchObject({ isRepeated: false });
  });
});

describe('a jitter', () => {
  it('holds the backup up by its share of the time, and what others have stored meanwhile is counted', async () => {
    const all = rig();
    const purpose = { type: 'schedule', name: 'nightly' } as const;
    const waiting = all.taking({ purpose, jitterSeconds: 100 });
    while (all.clock.pending.length === 0) await turn();
    // 0x40 of 0x100, and a little.
    expect(all.clock.pending.map(Math.round)).toEqual([25_098]);
    const other = await all.taking({ purpose });
    expect(readManifest(all, other.backup.id, keys).sequence).toBe(1);
    await all.clock.advance(25_098 - 8000 - 10);
    expect(all.calls.filter((call) => call === 'dump')).toHaveLength(1);
    await all.clock.advance(20);
    const { backup } = await waiting;
    expect(readManifest(all, backup.id, keys).sequence).toBe(2);
  });

  it('ends with the pod, and no database is asked', async () => {
    const all = rig();
    const waiting = expect(all.taking({ jitterSeconds: 100 })).rejects.toMatchObject({ reason: 'Stopped' });
    while (all.clock.pending.length === 0) await turn();
    all.surroundings.stop();
    await waiting;
    expect(all.calls).toEqual([`list ${folder}`]);
  });
});

describe('an attempt that fails', () => {
  const unreachable = new Failure('TargetUnreachable', 'it is gone');
  /** What the target gives back is not what it was given: of the object of this name. */
  const forging = ({ target }: ReturnType<typeof rig>, name: string): Target => ({
    ...target,
    async *get(key) {
      for await (const piece of target.get(key)) {
        const changed = Buffer.from(piece);
        changed[changed.length - 12] = (changed[changed.length - 12] ?? 0) ^ 1;
        yield key.endsWith(name) ? changed : piece;
      }
    },
  });

  it.each([
    ['data', unreachable],
    ['manifest.json', new Failure('TargetRefused', 'it takes no more')],
  ])('leaves nothing where the %s is not stored', async (name, error) => {
    const all = rig();
    const full: Target = {
      ...all.target,
      async put(key, content) {
        await all.target.put(key, content);
        if (key.endsWith(name)) throw error;
      },
    };
    await expect(all.taking({}, full)).rejects.toBe(error);
    expect(all.place.size).toBe(0);
    expect(all.calls.at(-1)).toBe('close');
    // Without its data, a manifest would be a backup that is none.
    const order = all.removed.map((path) => path.replace(/^.*\//, ''));
    expect(order).toEqual(name === 'data' ? ['data'] : ['manifest.json', 'data']);
  });

  it.each(['data', 'manifest.json'])('blames the target that gives back another %s', async (name) => {
    const all = rig();
    await expect(all.taking({}, forging(all, name))).rejects.toMatchObject({
      reason: 'TargetBroken',
      message: expect.stringMatching(/^what was read back is not what was written: ./),
      cause: { reason: 'Tampered' },
    });
    if (name === 'data') expect(all.calls).not.toContain('put manifest.json');
    expect(all.place.size).toBe(0);
  });

  it.each([unreachable, new Error('a defect')])('says what it met while it read back: %s', async (error) => {
    const all = rig();
    const silent: Target = {
      ...all.target,
      // biome-ignore lint/correctness/useYield: it fails before there is anything.
      async *get() {
        throw error;
      },
    };
    await expect(all.taking({}, silent)).rejects.toBe(error);
    expect(all.place.size).toBe(0);
  });

  it('says why it failed, although its traces cannot be taken away, and logs that they stay', async () => {
    const all = rig();
    const broken: Target = { ...all.target, put: async () => Promise.reject(unreachable), remove: async () => fail() };
    const fail = (): never => {
      throw new Error('no removal');
    };
    await expect(all.taking({}, broken)).rejects.toBe(unreachable);
    expect(all.surroundings.lines.join('')).toMatch(/no removal.*a folder without a backup stays/);
  });
});

describe('a dump that is kept in the pod first', () => {
  const scratchDirectory = '/scratch';

  it('lets the database go before the target is given a byte', async () => {
    const all = rig();
    const { backup } = await all.taking({ scratchDirectory });
    expect(all.calls.slice(1, 7)).toEqual([
      'dump',
      'read to its end',
      'spooled in /scratch',
      'close',
      'put data',
      'spool removed',
    ]);
    // What lies in the pod is what will be stored: encrypted.
    expect(all.stored(`${folder}/${backup.id}/data`).includes('some keys')).toBe(false);
  });

  it('is taken away from the pod although the target takes nothing', async () => {
    const all = rig();
    const full: Target = { ...all.target, put: () => Promise.reject(new Failure('TargetUnreachable', 'full')) };
    await expect(all.taking({ scratchDirectory }, full)).rejects.toThrow('full');
    expect(all.calls).toContain('spool removed');
    expect(all.place.size).toBe(0);
  });
});

describe('retention that fails', () => {
  it('harms no backup, and is told without secrets, in 300 characters at most', async () => {
    const all = rig();
    all.surroundings.protect('secret-of-the-bucket');
    let lists = 0;
    const forgetful: Target = {
      ...all.target,
      list(below) {
        lists += 1;
        if (lists > 1) throw new Failure('TargetUnreachable', `secret-of-the-bucket ${'x'.repeat(400)}`);
        return all.target.list(below);
      },
    };
    const taken = await all.taking({}, forgetful);
    expect(taken).toMatchObject({ isRepeated: false, pruned: 0, milliseconds: 8000 });
    expect(taken).not.toHaveProperty('suddenLoss');
    expect(taken.retentionFailure).toMatch(/^\[redacted\] x+$/);
    expect(taken.retentionFailure).toHaveLength(300);
    expect(all.place.size).toBe(2);
    expect(all.surroundings.lines.join('')).toContain('retention could not do its work');
  });

  it('says why it let nothing go, and warns of a backup that holds suddenly little', async () => {
    const all = rig();
    const purpose = { type: 'schedule', name: 'nightly' } as const;
    const { backup } = await all.taking({ purpose });
    const empty: typeof all.dump = async () => ({ ...(await all.dump()), state: () => redisHolding(0) });
    const taken = await all.taking({ purpose, retention: { count: 1 } }, all.target, keys, empty);
    expect(taken).toMatchObject({ pruned: 0, suddenLoss: `it holds no keys, and ${backup.id} held 5 keys` });
    expect(taken).not.toHaveProperty('retentionFailure');
    expect(all.surroundings.lines.join('')).toContain('the backup holds suddenly little');
  });

  it('says that a list that lacks the newest backup lets nothing go', async () => {
    const all = rig();
    const purpose = { type: 'schedule', name: 'nightly' } as const;
    const first = await all.taking({ purpose, retention: { count: 1 } });
    expect(first).not.toHaveProperty('retentionFailure');
    expect(all.surroundings.lines.join('')).not.toContain('suddenly little');
    const stale: Target = {
      ...all.target,
      async *list(below) {
        for await (const object of all.target.list(below)) if (object.key.includes(first.backup.id)) yield object;
      },
    };
    const second = await all.taking({ purpose, retention: { count: 1 } }, stale);
    expect(second).toMatchObject({ pruned: 0, retentionFailure: expect.stringMatching(/nothing was let go/) });
    // A list that is whole lets two go.
    expect(await all.taking({ purpose, retention: { count: 1 } })).toMatchObject({ pruned: 2 });
  });
});
