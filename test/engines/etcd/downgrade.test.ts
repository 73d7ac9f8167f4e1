/** What a look finds out about downgrades: from those who tell, and by asking where nobody does. */
import { describe, expect, it } from 'vitest';
import type { HttpResponse } from '../../../src/engine/engine-context.ts';
import { allowedTarget } from '../../../src/engines/etcd/observe/downgrade.ts';
import { liveMember, observeEtcd } from '../../../src/engines/etcd/observe/observe.ts';
import { etcdWorld, type Story } from '../../support/etcd-situation.ts';
import { type Script, scriptedEtcd } from '../../support/scripted-etcd.ts';
import { settle } from '../../support/scripted-redis.ts';

async function look(story: Story, script?: Script) {
  const { cluster, children, observed } = etcdWorld(story);
  const network = scriptedEtcd(observed, script);
  const result = await settle(network.clock, observeEtcd(cluster, children, network.io));
  if (result.status === 'rejected') throw result.reason;
  const asked = network.asked.flatMap((line) => /maintenance\/downgrade (.*)$/.exec(line)?.[1] ?? []);
  return { found: result.value, asked };
}

const refusing =
  (message: string): Script =>
  ({ path }): HttpResponse | undefined =>
    path.endsWith('/downgrade') ? { status: 400, body: JSON.stringify({ code: 9, message }) } : undefined;

const five: Story = { before: { version: '3.5.35' }, spec: { version: '3.5.35' } };
const validate = (version: string): string => JSON.stringify({ action: 'VALIDATE', version });
const resting = { initialized: true, phase: 'Ready' } as const;
const underway = 'etcdserver: cluster has a downgrade job in progress';
const invalid = 'etcdserver: invalid downgrade target version';

describe('a look', () => {
  it.each<[string, Story, readonly string[]]>([
    ['asks nothing where all is as it is to be', { status: resting }, []],
    ['asks nothing of a cluster at rest that does not tell', { ...five, status: resting }, []],
    ['asks nothing of a cluster that has never been one', { ...five, status: {} }, []],
    ['asks nothing on the way up of those who tell', { members: { all: { version: '3.6.1' } } }, []],
    ['asks whether the minor before may be had', { before: {}, spec: { version: '3.5.35' } }, [validate('3.5.0')]],
    [
      'does not ask what has been allowed',
      { before: {}, spec: { version: '3.5.35' }, members: { 1: { downgradeTarget: '3.5.0' } } },
      [],
    ],
    ['asks those who do not tell whether one is under way, while anything changes', five, [validate('3.4.0')]],
    ['and before they go up', { ...five, spec: {}, status: resting }, [validate('3.4.0')]],
  ])('%s', async (_, story, questions) => {
    expect((await look(story)).asked).toEqual(questions);
  });

  it.each<[string, Story, string, object | undefined]>([
    ['is refused', { before: {}, spec: { version: '3.5.35' } }, invalid, { state: 'refused', words: invalid }],
    ['has just been allowed', { before: {}, spec: { version: '3.5.35' } }, underway, { state: 'underway' }],
    ['is under way', five, underway, { state: 'underway' }],
    ['cannot be said to be under way', five, invalid, undefined],
  ])('finds that one %s', async (_, story, words, downgrade) => {
    const { found } = await look(story, refusing(words));
    expect(found.agreed?.members.length).toBe(3);
    expect(found.agreed?.downgrade).toEqual(downgrade);
  });

  it('takes no silence for an answer', async () => {
    const { found } = await look(five, ({ path }) => (path.endsWith('/downgrade') ? 'hang' : undefined));
    expect(found.agreed).toBeUndefined();
  });
});

describe('a status', () => {
  it('tells of the form of the data, and of what has been allowed', () => {
    const told = { storageVersion: '3.5.0', downgradeInfo: { enabled: true, targetVersion: '3.5.0' } };
    expect(liveMember('p', 'a', told)).toMatchObject({ storageVersion: '3.5.0', downgradeTarget: '3.5.0' });
    expect(liveMember('p', 'a', { storageVersion: '3.6.0', downgradeInfo: {} })).not.toHaveProperty('downgradeTarget');
  });

  it('of anybody says that one is allowed; where nobody tells, the refusal of another one does', () => {
    expect(allowedTarget(etcdWorld({ members: { 2: { downgradeTarget: '3.5.0' } } }).observed)).toBe('3.5.0');
    expect(allowedTarget(etcdWorld({ ...five, agreed: { downgrade: { state: 'underway' } } }).observed)).toBe('3.5.0');
    expect(allowedTarget(etcdWorld({}).observed)).toBeUndefined();
  });
});
