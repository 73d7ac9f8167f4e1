/** A manifest that nobody has answered for: the target may have it, or get it after its attempt has given up. */

import { expect, it } from 'vitest';
import { verifyBackup } from '../../src/agent/inspect.ts';
import { take } from '../../src/agent/take.ts';
import type { Target } from '../../src/agent/target/target.ts';
import type { AgentResult } from '../../src/backup/agent-result.ts';
import type { TakeTask } from '../../src/backup/agent-task.ts';
import { parseKeys } from '../../src/backup/key.ts';
import type { Dump } from '../../src/engine/driver/dump.ts';
import { Failure } from '../../src/engine/driver/failure.ts';
import { drivers } from '../../src/engines/drivers.ts';
import { simulatedTarget } from '../faults/backup/target.ts';
import { agentContext, type TestContext } from '../support/agent-context.ts';
import { smallDump } from '../support/dumps.ts';
import { giving, redisHolding } from '../support/given-dump.ts';

const keys = parseKeys(Buffer.alloc(32, 1).toString('base64'));
const cluster = { namespace: 'apps', kind: 'RedisCluster', name: 'cache', uid: 'uid-1' } as const;
const task: TakeTask = {
  task: 'take',
  target: { type: 'claim', directory: '/target', prefix: '' },
  idleTimeoutSeconds: 60,
  jitterSeconds: 0,
  cluster,
  purpose: { type: 'backup', name: 'now', uid: 'uid-7' },
  source: { engine: 'redis', members: [{ host: 'nobody', port: 1 }] },
};
const unanswered = new Failure('TargetUnreachable', 'nobody answers');
const refused = new Failure('TargetRefused', 'it takes no more');

/** `onManifest` is given the write of each manifest, which reaches the target once it is called. */
function rig() {
  const place = new Map<string, unknown>();
  const context: TestContext = agentContext();
  const { clock } = context;
  const options = {
    place,
    prefix: '',
    reach: async () => undefined,
    now: () => clock.now(),
    removing: () => undefined,
  };
  const target = simulatedTarget(options);
  const dump = async (): Promise<Dump> => ({
    engineVersion: '8.0.5',
    topology: { members: 3, source: 'cache-1:6379', role: 'replica' },
    content: (async function* () {
      yield smallDump(Buffer.from('some keys'));
    })(),
    state: () => redisHolding(5),
    close: () => undefined,
  });
  const io = { spool: () => Promise.reject(new Error('nothing is kept in the pod')) };
  const taking = (
    onManifest: (write: () => Promise<void>) => Promise<void>,
    purpose: TakeTask['purpose'] = task.purpose,
  ): Promise<AgentResult> => {
    const slow: Target = {
      ...target,
      put: (key, content) =>
        key.endsWith('/manifest.json') ? onManifest(() => target.put(key, content)) : target.put(key, content),
    };
    return take({ ...task, purpose }, { target: slow, keys, drivers: giving(dump) }, context, io);
  };
  const verifying = (id: string) =>
    verifyBackup({ ...task, task: 'verify', which: { id }, engine: 'redis' }, { target, keys, drivers }, context);
  return {
    place,
    surroundings: context,
    taking,
    verifying,
    names: () => [...place.keys()].map((key) => key.split('/').at(-1)),
  };
}

const asGiven = (write: () => Promise<void>): Promise<void> => write();

it.each(['backup', 'version'] as const)('of a %s finds its data, and is what the next attempt finds', async (type) => {
  const { taking, verifying } = rig();
  const purpose = { ...task.purpose, type };
  let late = async (): Promise<void> => undefined;
  const giveUp = (write: () => Promise<void>): Promise<void> => {
    late = write;
    return Promise.reject(unanswered);
  };
  await expect(taking(giveUp, purpose)).rejects.toBe(unanswered);
  await late();
  const again = await taking(asGiven, purpose);
  expect(again).toMatchObject({ result: 'taken', isRepeated: true });
  if (again.result !== 'taken') throw new Error('nothing was taken');
  expect(await verifying(again.backup.id)).toMatchObject({ result: 'verified' });
});

it('whose answer is lost, or whose writer is stopped, is the backup of the next attempt', async () => {
  for (const error of [unanswered, new Failure('Stopped', 'received SIGTERM')]) {
    const { taking, verifying, names } = rig();
    const loseAnswer = async (write: () => Promise<void>): Promise<void> => {
      await write();
      throw error;
    };
    await expect(taking(loseAnswer)).rejects.toBe(error);
    const again = await taking(asGiven);
    expect(names()).toEqual(['data', 'manifest.json']);
    if (again.result !== 'taken') throw new Error('nothing was taken');
    expect(await verifying(again.backup.id)).toMatchObject({ result: 'verified' });
  }
});

it('that never comes leaves data that is no backup, and the log says so', async () => {
  const { taking, names, surroundings: context } = rig();
  await expect(taking(() => Promise.reject(unanswered))).rejects.toBe(unanswered);
  expect(names()).toEqual(['data']);
  expect(context.lines.join('')).toContain('the manifest may still arrive');
  expect(await taking(asGiven)).toMatchObject({ isRepeated: false });
});

it('that is refused leaves nothing', async () => {
  const { taking, place } = rig();
  await expect(taking(() => Promise.reject(refused))).rejects.toBe(refused);
  expect(place.size).toBe(0);
});
