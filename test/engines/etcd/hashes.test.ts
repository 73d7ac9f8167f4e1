import { describe, expect, it } from 'vitest';
import type { HttpResponse } from '../../../src/engine/engine-context.ts';
import { observeEtcd } from '../../../src/engines/etcd/observe/observe.ts';
import { etcdWorld, memberAddress, memberId, type Story } from '../../support/etcd-situation.ts';
import { type Script, scriptedEtcd } from '../../support/scripted-etcd.ts';
import { settle } from '../../support/scripted-redis.ts';

const answer = (body: unknown, status = 200): HttpResponse => ({ status, body: JSON.stringify(body) });
const numberOf = (host: string): number => Number(host.split('.').at(-1));
/** By number: what each member answers where it is asked for its hash. */
const telling =
  (told: Readonly<Record<number, object>>): Script =>
  ({ host, path }) =>
    path.endsWith('/hashkv') ? answer(told[numberOf(host)] ?? { hash: 7, compact_revision: '5' }) : undefined;

const look = async (story: Story, script?: Script) => {
  const { cluster, children, observed } = etcdWorld(story);
  const network = scriptedEtcd(observed, script);
  const result = await settle(network.clock, observeEtcd(cluster, children, network.io));
  if (result.status === 'rejected') throw result.reason;
  const hashed = network.asked.filter((line) => line.includes('hashkv'));
  return { comparison: result.value.comparison, hashed };
};

const alarm = (memberId: string): Pick<Story, 'alarms'> => ({ alarms: [{ memberId, type: 'CORRUPT' }] });
const voice = (number: number, rest: object): object => ({
  pod: `db-${number}-0`,
  memberId: memberId(number),
  ...rest,
});
const same = { hash: '7', compacted: '5' };

describe('a comparison of the voters', () => {
  it('is not made where nobody is in doubt', async () => {
    expect(await look({})).toEqual({ comparison: undefined, hashed: [] });
    expect((await look({ alarms: [{ memberId: '1', type: 'NOSPACE' }] })).comparison).toBeUndefined();
  });

  it('asks each of them at one revision, while an alarm says that data is corrupt', async () => {
    const { comparison, hashed } = await look(alarm('0'), telling({ 1: { hash: 8, compact_revision: '5' } }));
    expect(hashed).toEqual([0, 1, 2].map((i) => `${memberAddress(i)} maintenance/hashkv {"revision":"100"}`));
    expect(comparison).toEqual({
      revision: '100',
      voices: [voice(0, same), voice(1, { hash: '8', compacted: '5' }), voice(2, same)],
    });
  });

  it('is made where a member does not start for what it has found in others', async () => {
    const pod = { crashingForMs: 1000, restarts: 2, lastWords: 'x found data inconsistency with peers' };
    const { comparison } = await look({ members: { 1: 'silent' }, pods: { 1: pod } }, telling({}));
    expect(comparison?.voices).toEqual([voice(0, same), voice(2, same)]);
    expect((await look({ pods: { 1: pod } })).comparison).toBeUndefined();
  });

  it('is made of one member after the other where no alarm keeps clients from writing', async () => {
    const pod = { crashingForMs: 1000, restarts: 2, lastWords: 'x found data inconsistency with peers' };
    const at: number[] = [];
    const script: Script = ({ path }) => {
      if (path.endsWith('/hashkv')) at.push(network.clock.now());
      return path.endsWith('/hashkv') ? 'hang' : undefined;
    };
    const { cluster, children, observed } = etcdWorld({ members: { 1: 'silent' }, pods: { 1: pod } });
    const network = scriptedEtcd(observed, script);
    await settle(network.clock, observeEtcd(cluster, children, network.io));
    expect(at.map((time) => time - (at[0] ?? 0))).toEqual([0, 20_000]);
  });

  it('is not made for the pod of a member that has been removed', async () => {
    const pod = { crashingForMs: 1000, restarts: 2, lastWords: 'x found data inconsistency with peers' };
    expect(await look({ members: { 1: 'unlisted' }, pods: { 1: pod } }, telling({}))).toEqual({
      comparison: undefined,
      hashed: [],
    });
  });

  it('asks nobody who has no vote, knows no leader, or does not answer', async () => {
    const story: Story = { spec: { replicas: 5 }, members: { 1: 'copying', 2: 'leaderless', 3: 'silent' } };
    expect((await look({ ...story, ...alarm('0') }, telling({}))).comparison?.voices).toEqual([
      voice(0, same),
      voice(4, same),
    ]);
  });

  it('takes the newest revision that anybody tells whom etcd does not call corrupt', async () => {
    const story: Story = { members: { 0: { revision: '99' }, 1: { revision: '1000' }, 2: { revision: '101' } } };
    expect((await look({ ...story, ...alarm(memberId(1)) }, telling({}))).comparison?.revision).toBe('101');
  });

  it('asks again who is some entries behind, and gives up on who stays behind', async () => {
    let refusals = 0;
    const refusal = answer({ code: 11, message: 'etcdserver: mvcc: required revision is a future revision' }, 400);
    const { comparison } = await look(alarm('0'), (request) => {
      if (!request.path.endsWith('/hashkv')) return undefined;
      if (request.host === memberAddress(2)) return refusal;
      refusals += request.host === memberAddress(1) ? 1 : 0;
      return request.host === memberAddress(1) && refusals < 3 ? refusal : telling({})(request);
    });
    expect(comparison?.voices).toEqual([
      voice(0, same),
      voice(1, same),
      voice(2, { why: 'etcdserver: mvcc: required revision is a future revision' }),
    ]);
  });

  it('says who does not answer in time, and bounds what anybody says', async () => {
    const { comparison } = await look(alarm('0'), (request) => {
      if (!request.path.endsWith('/hashkv')) return undefined;
      if (request.host === memberAddress(1)) return 'hang';
      return request.host === memberAddress(2)
        ? answer({ code: 2, message: 'x'.repeat(9000) }, 500)
        : telling({ 0: { hash: {}, compact_revision: '5' } })(request);
    });
    expect(comparison?.voices).toEqual([
      voice(0, { why: 'it tells no hash' }),
      voice(1, { why: '10.0.0.1 (maintenance/hashkv) did not answer within 20000 ms' }),
      voice(2, { why: 'x'.repeat(200) }),
    ]);
  });

  it('is none where nobody tells a revision', async () => {
    expect((await look({ members: { all: { revision: 'garbage' } }, ...alarm('0') })).comparison).toBeUndefined();
  });
});
