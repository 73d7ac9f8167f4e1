import { describe, expect, it } from 'vitest';
import { type Asked, comparedHash, refuseCorrupted } from '../../src/agent/etcd-agreement.ts';
import type { Surroundings } from '../../src/agent/surroundings.ts';

const log = { warn: () => undefined, info: () => undefined };
const surroundings = { log, signal: new AbortController().signal } as unknown as Surroundings;

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
    expect(await comparedHash(first, others, '100', surroundings)).toEqual({ hash: 7, compactRevision: '5' });
    expect(lines).toEqual([0, 1, 2].map((i) => `member ${i} maintenance/hashkv {"revision":"100"}`));
    expect(most()).toBe(1);
  });

  it('are asked for no further where two differ', async () => {
    const { asked, lines } = cluster(7, 8, 7);
    const [first, ...others] = asked as [Asked, ...Asked[]];
    await expect(comparedHash(first, others, '100', surroundings)).rejects.toThrow(
      'member 0 and member 1 hold different data at revision 100',
    );
    expect(lines.length).toBe(2);
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
