/** One task from its beginning to its end: what comes of it, and that its result fits where it has to. */

import { describe, expect, it } from 'vitest';
import type { AgentIO } from '../../src/agent/agent-io.ts';
import { container } from '../../src/agent/container.ts';
import { exitCodeOf, runTask, serializeResult } from '../../src/agent/run.ts';
import type { Target } from '../../src/agent/target/target.ts';
import { type AgentResult, type FailureReason, maxResultBytes } from '../../src/backup/agent-result.ts';
import { parseAgentResult } from '../../src/backup/heard-result.ts';
import { summaryOf } from '../../src/backup/manifest.ts';
import { Failure } from '../../src/engine/driver/failure.ts';
import { drivers } from '../../src/engines/drivers.ts';
import { agentContext } from '../support/agent-context.ts';
import { goodManifest } from '../support/manifests.ts';

const longName = 'n'.repeat(253);
const cluster = { namespace: longName, kind: 'RedisCluster', name: longName, uid: 'u'.repeat(64) } as const;
const longest = summaryOf(
  {
    ...goodManifest,
    cluster,
    purpose: { type: 'schedule', name: longName, uid: 'u'.repeat(64) },
    engineVersion: 'v'.repeat(253),
  },
  'p'.repeat(512),
  { contents: Object.fromEntries(Array.from({ length: 64 }, (_, i) => [`keys.${i}`, String(10 ** 12)])) },
);
const { id, folder, plainBytes, completedAt } = longest;

describe('a result', () => {
  it.each<[string, AgentResult]>([
    [
      'of the longest backup',
      {
        result: 'taken',
        backup: longest,
        isRepeated: false,
        pruned: 3,
        retentionFailure: 'x'.repeat(300),
        suddenLoss: 'x'.repeat(300),
        misleadingIds: 'x'.repeat(120),
        milliseconds: 9,
      },
    ],
    [
      'of many backups',
      {
        result: 'listed',
        total: 99,
        unusable: 0,
        backups: Array.from({ length: 8 }, () => ({ id, folder, cluster, plainBytes, completedAt })),
      },
    ],
    [
      'with the longest words',
      { result: 'failed', reason: 'Unexpected', message: '\u0001'.repeat(1000), isTransient: true },
    ],
  ])('%s fits into a termination message', (_, result) => {
    const text = serializeResult(result);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(maxResultBytes);
    expect(parseAgentResult(`some line\n${text}\n`)).toMatchObject({ result: result.result });
  });

  it('is whole where it just fits, by its bytes and not by its letters', () => {
    const failed = (message: string) =>
      ({ result: 'failed', reason: 'Unexpected', message, isTransient: true }) as const;
    const room = maxResultBytes - Buffer.byteLength(JSON.stringify(failed('')));
    const fitting = failed('x'.repeat(room));
    expect(serializeResult(fitting)).toBe(JSON.stringify(fitting));
    expect(JSON.parse(serializeResult(failed('x'.repeat(room + 1))))).toEqual(failed('x'.repeat(room / 2)));
    expect(Buffer.byteLength(serializeResult(failed('ü'.repeat(room - 10))))).toBeLessThanOrEqual(maxResultBytes);
  });

  it('of many backups has the newest ones, as many as there is room for', () => {
    const backups = Array.from({ length: 8 }, (_, i) => ({ id: `${i}`, folder, cluster, plainBytes, completedAt }));
    const listed = { result: 'listed', total: 99, unusable: 0, backups } as const;
    const { backups: kept } = JSON.parse(serializeResult(listed)) as typeof listed;
    expect(kept).toEqual(backups.slice(0, kept.length));
    const oneMore = JSON.stringify({ ...listed, backups: backups.slice(0, kept.length + 1) });
    expect(Buffer.byteLength(oneMore)).toBeGreaterThan(maxResultBytes);
  });

  it.each<[string, AgentResult]>([
    ['taken', { result: 'taken', backup: longest, isRepeated: false, pruned: 3, milliseconds: 9 }],
    ['fetched', { result: 'fetched', backup: longest, isRepeated: false, milliseconds: 9 }],
    ['verified', { result: 'verified', backup: longest, milliseconds: 9 }],
  ])('of a backup that was %s lacks nothing but what it holds: no contents are not empty ones', (_, result) => {
    const { contents: __, ...backup } = longest;
    expect(JSON.parse(serializeResult(result))).toEqual({ ...result, backup });
  });

  it('is never cut in another way: that would be a defect', () => {
    const backup = { ...longest, engineVersion: 'v'.repeat(5000) };
    expect(() => serializeResult({ result: 'verified', backup, milliseconds: 9 })).toThrow(
      /^a result has \d+ characters, and every part of it is bounded$/,
    );
  });

  it.each(['', 'Killed', '{"result":"nonsense"}', 'null', '{'])('is not %j', (text) => {
    expect(parseAgentResult(text)).toBeUndefined();
  });
});

const failedBy = (reason: FailureReason, isTransient: boolean) =>
  ({ result: 'failed', reason, message: 'x', isTransient }) as const;

it.each<[string, AgentResult, number]>([
  ['done', { result: 'listed', total: 0, unusable: 0, backups: [] }, 0],
  ['stopped', failedBy('Stopped', true), 143],
  ['to be repeated', failedBy('TargetUnreachable', true), 1],
  ['hopeless', failedBy('Tampered', false), 2],
])('a Job learns by the exit code that the task is %s', (_, result, code) => {
  expect(exitCodeOf(result)).toBe(code);
});

describe('a task', () => {
  const task = { task: 'list', target: { type: 'claim', directory: '/nowhere' }, which: {}, idleTimeoutSeconds: 7 };

  /** Runs it on a target whose list is `list`; says what the target was told. */
  async function runOn(list: Target['list'], given: object = task) {
    const told: { idleMs?: number; closed: number } = { closed: 0 };
    const context = agentContext();
    const close = (): void => {
      told.closed += 1;
    };
    const target: Partial<Target> = { list, close };
    const openTarget: AgentIO['openTarget'] = async (_, { idleMs }) => {
      told.idleMs = idleMs;
      return target as Target;
    };
    const result = await runTask(JSON.stringify(given), context, { ...container, openTarget }, drivers);
    return { result, told, surroundings: context };
  }
  async function* empty(): AsyncGenerator<never> {
    yield* [];
  }

  it('is as patient as it says, and lets the target go', async () => {
    const { result, told } = await runOn(empty);
    expect(result).toEqual({ result: 'listed', total: 0, unusable: 0, backups: [] });
    expect(told).toEqual({ idleMs: 7000, closed: 1 });
  });

  it.each<[string, object, object]>([
    ['verify', { engine: 'redis' }, { message: 'there is no backup of a RedisCluster' }],
    [
      'fetch',
      { destination: { engine: 'etcd', file: '/nowhere/snapshot' } },
      { message: 'there is no backup of an EtcdCluster' },
    ],
  ])('to %s does that', async (name, more, expected) => {
    const { idleTimeoutSeconds: _, ...rest } = task;
    const { result, told } = await runOn(empty, { ...rest, ...more, task: name });
    expect(result).toMatchObject({ reason: 'NotFound', isTransient: false, ...expected });
    // The default is one minute.
    expect(told).toEqual({ idleMs: 60_000, closed: 1 });
  });

  it.each<[string, Error, FailureReason, boolean]>([
    ['what it met', new Failure('TargetRefused', 'no'), 'TargetRefused', false],
    ['a defect', new TypeError('no'), 'Unexpected', true],
  ])('that fails says %s, lets the target go, and logs it', async (_, error, reason, isTransient) => {
    const {
      result,
      told,
      surroundings: context,
    } = await runOn(() => {
      throw error;
    });
    expect(result).toEqual({ result: 'failed', reason, message: 'no', isTransient });
    expect(told.closed).toBe(1);
    expect(context.lines.join('')).toMatch(new RegExp(`"reason":"${reason}".*the task failed`));
  });

  it('that nobody understands is refused before anything is opened', async () => {
    const { result, told } = await runOn(empty, { ...task, unheardOf: 1 });
    expect(result).toMatchObject({
      reason: 'BadTask',
      isTransient: false,
      message: expect.stringMatching(/unheardOf/),
    });
    expect(told).toEqual({ closed: 0 });
  });

  it('that is stopped says so, whatever broke off for it', async () => {
    const context = agentContext();
    const openTarget: AgentIO['openTarget'] = async () => {
      context.stop();
      throw new Error('read ECONNRESET');
    };
    expect(await runTask(JSON.stringify(task), context, { ...container, openTarget }, drivers)).toEqual({
      result: 'failed',
      reason: 'Stopped',
      message: 'the test stops it',
      isTransient: true,
    });
    expect(context.lines.join('')).toContain('read ECONNRESET');
  });
});

it('what fails is told without the secrets that were read, and without those that a target has quoted', async () => {
  const context = agentContext();
  const secret = 'a-secret-of-the-bucket';
  const task = { task: 'list', target: { type: 'claim', directory: '/nowhere' }, which: {} };
  const result = await runTask(
    JSON.stringify(task),
    context,
    {
      ...container,
      openTarget: async () => {
        context.protect(secret);
        // Cut in the middle of a secret, half of it would stay.
        const words = `${'x'.repeat(990 - secret.length / 2)}${secret} http://me:mine@host`;
        throw new Failure('TargetRefused', words, { cause: new Error(`it said ${secret}`) });
      },
    },
    drivers,
  );
  expect(result).toMatchObject({ result: 'failed', reason: 'TargetRefused' });
  expect(JSON.stringify(result)).not.toMatch(/a-secr|mine@/);
});
