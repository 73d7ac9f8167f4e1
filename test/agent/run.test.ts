/** Results fit where they have to. */
import { describe, expect, it } from 'vitest';
import { container } from '../../src/agent/container.ts';
import { Failure } from '../../src/agent/failure.ts';
import { runTask, serializeResult } from '../../src/agent/run.ts';
import { type AgentResult, maxResultBytes } from '../../src/backup/agent-result.ts';
import { parseAgentResult } from '../../src/backup/heard-result.ts';
import { summaryOf } from '../../src/backup/manifest.ts';
import { agentSurroundings } from '../support/agent-surroundings.ts';
import { goodManifest } from '../support/manifests.ts';

const longName = 'n'.repeat(253);
const cluster = { namespace: longName, kind: 'RedisCluster', name: longName, uid: 'u'.repeat(64) } as const;
const approximateKeys = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [i, 10 ** 12]));
const longest = summaryOf(
  {
    ...goodManifest,
    cluster,
    purpose: { type: 'schedule', name: longName, uid: 'u'.repeat(64) },
    engineVersion: 'v'.repeat(253),
    state: { engine: 'redis', replicationId: 'c'.repeat(40), offset: 2 ** 50, approximateKeys },
  },
  'p'.repeat(512),
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

  it.each(['', 'Killed', '{"result":"nonsense"}', 'null', '{'])('is not %j', (text) => {
    expect(parseAgentResult(text)).toBeUndefined();
  });
});

it('what fails is told without the secrets that were read, and without those that a target has quoted', async () => {
  const surroundings = agentSurroundings();
  const secret = 'a-secret-of-the-bucket';
  const task = { task: 'list', target: { type: 'claim', directory: '/nowhere' }, which: {} };
  const result = await runTask(JSON.stringify(task), surroundings, {
    ...container,
    openTarget: async () => {
      surroundings.protect(secret);
      // Cut in the middle of a secret, half of it would stay.
      const words = `${'x'.repeat(990 - secret.length / 2)}${secret} http://me:mine@host`;
      throw new Failure('TargetRefused', words, { cause: new Error(`it said ${secret}`) });
    },
  });
  expect(result).toMatchObject({ result: 'failed', reason: 'TargetRefused' });
  expect(JSON.stringify(result)).not.toMatch(/a-secr|mine@/);
});
