import { describe, expect, it } from 'vitest';
import type { AgentContext } from '../../src/engine/driver/agent-context.ts';
import { type Asked, comparedHash, refuseCorrupted } from '../../src/engines/etcd/agent/agreement.ts';
import { EtcdRefusal } from '../../src/engines/etcd/agent/gateway.ts';
import { type Clock, systemClock } from '../../src/system/clock.ts';
import { agentContext } from '../support/agent-context.ts';

const log = { warn: () => undefined, info: () => undefined };
const context = { log, signal: new AbortController().signal } as unknown as AgentContext;

/** A member that hashes its database, and how many did so at the same time. */
function cluster(...hashes: readonly number[]): {
  readonly asked: readonly Asked[];
  readonly lines: string[];
  most(): number;
} {
  let busy = 0;
  let most = 0;
  const lines: string[] = [];
  const asked = hashes.map((hash, i): Asked => {
    const place = `member ${i}`;
    const call = async (path: string, body: object): Promise<Readonly<Record<string, unknown>>> => {
      lines.push(`${place} ${path} ${JSON.stringify(body)}`);
      busy++;
      most = Math.max(most, busy);
      await new Promise((resolve) => setImmediate(resolve));
      busy--;
      return { hash, compact_revision: '5' };
    };
    return { place, member: { call, stream: () => Promise.reject(new Error('no stream here')) as never } };
  });
  return { asked, lines, most: () => most };
}

describe('the hashes of the voters, before a backup', () => {
  it('are asked for one after the other: etcd holds up writes while it reads its whole database', async () => {
    const { asked, lines, most } = cluster(7, 7, 7);
    const [first, ...others] = asked as [Asked, ...Asked[]];
    expect(await comparedHash(first, others, '100', context)).toEqual({ hash: 7, compactRevision: '5' });
    expect(lines).toEqual([0, 1, 2].map((i) => `member ${i} maintenance/hashkv {"revision":"100"}`));
    expect(most()).toBe(1);
  });

  it('are asked for no further where two differ', async () => {
    const { asked, lines } = cluster(7, 8, 7);
    const [first, ...others] = asked as [Asked, ...Asked[]];
    await expect(comparedHash(first, others, '100', context)).rejects.toThrow(
      'member 0 and member 1 hold different data at revision 100',
    );
    expect(lines.length).toBe(2);
  });
});

describe('a voter that does not tell its hash', () => {
  const behind = new EtcdRefusal('etcdserver: mvcc: required revision is a future revision');
  /** One answer after the other, the last one again and again. */
  const telling = (place: string, ...answers: readonly (object | Error)[]) => {
    let at = 0;
    const call = async (): Promise<Readonly<Record<string, unknown>>> => {
      const answer = answers[Math.min(at++, answers.length - 1)];
      if (answer instanceof Error) throw answer;
      return answer as Readonly<Record<string, unknown>>;
    };
    const asked: Asked = {
      place,
      member: { call, stream: () => Promise.reject(new Error('no stream here')) as never },
    };
    return { asked, calls: () => at };
  };
  const good = { hash: 7, compact_revision: '5' };
  const bad = { hash: 8, compact_revision: '5' };
  const compare = async (...voters: readonly (readonly (object | Error)[])[]) => {
    const waits: number[] = [];
    const clock: Clock = {
      ...systemClock,
      after: (ms, call) => {
        waits.push(ms);
        queueMicrotask(call);
        return () => undefined;
      },
    };
    const told = voters.map((answers, i) => telling(`m${i}`, ...answers));
    const [first, ...others] = told.map(({ asked }) => asked) as [Asked, ...Asked[]];
    const hash = await comparedHash(first, others, '100', agentContext({ clock })).catch(String);
    return { hash, waits, calls: told.map(({ calls }) => calls()) };
  };
  const told = { hash: 7, compactRevision: '5' };
  const differs = 'Failure: m0 and m2 hold different data at revision 100';

  it.each<readonly [string, readonly (readonly (object | Error)[])[], object | string | undefined, readonly number[]]>([
    ['as it is some entries behind, is asked again', [[good], [behind, behind, good]], told, [1, 3]],
    ['as it stays behind, is given up after ten times', [[good], [behind], [bad]], differs, [1, 10, 1]],
    ['as it refuses, is asked once', [[good], [new EtcdRefusal('auth: permission denied')], [bad]], differs, [1, 1, 1]],
    [
      'as it is gone, is left out',
      [[good], [new Error('future revision? the connection broke')], [good]],
      told,
      [1, 1, 1],
    ],
    ['of the same history is left out', [[good], [{ hash: 9, compact_revision: '6' }], [good]], told, [1, 1, 1]],
    ['and gives the data, is compared with nobody', [[new Error('gone')], [bad], [good]], undefined, [1, 0, 0]],
    ['whose database is empty, tells zero', [[{}], [{}]], { hash: 0, compactRevision: '0' }, [1, 1]],
  ])('%s', async (_, voters, hash, calls) => {
    const found = await compare(...voters);
    expect([found.hash, found.calls]).toEqual([hash, calls]);
    expect(found.waits).toEqual(Array(calls.reduce((sum, count) => sum + Math.max(0, count - 1), 0)).fill(200));
  });

  it('is waited for no longer once the agent is stopped', async () => {
    const context = agentContext();
    context.stop();
    const { asked } = telling('m0', new Error('gone'));
    await expect(comparedHash(asked, [], '100', context)).rejects.toThrow('the test stops it');
  });
});

describe('a look for alarms', () => {
  const told = (place: string, answer: object | undefined): Asked => ({
    place,
    member: {
      call: async () => (answer === undefined ? Promise.reject(new Error('timeout')) : (answer as never)),
      stream: () => Promise.reject(new Error('no stream here')) as never,
    },
  });
  const corrupt = { errors: ['memberID:7 alarm:CORRUPT '] };

  it.each<readonly [string, readonly (object | undefined)[], string]>([
    ['fails where anybody tells of one', [{}, undefined, corrupt], 'm2 tells of a CORRUPT alarm'],
    ['fails where nobody can tell', [undefined, undefined], 'no member tells whether a CORRUPT alarm stands'],
  ])('%s', async (_, answers, message) => {
    await expect(
      refuseCorrupted(
        answers.map((answer, i) => told(`m${i}`, answer)),
        1000,
      ),
    ).rejects.toThrow(message);
  });

  it('passes where one can tell, and does not', async () => {
    await expect(refuseCorrupted([told('m0', undefined), told('m1', {})], 1000)).resolves.toBeUndefined();
  });
});
