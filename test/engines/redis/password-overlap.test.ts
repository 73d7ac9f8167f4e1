import { describe, expect, it } from 'vitest';
import { mergeConditions } from '../../../src/api/condition.ts';
import type { ClusterStatus } from '../../../src/api/status.ts';
import { situationOf } from '../../../src/engines/redis/observe/situation.ts';
import { planRedis } from '../../../src/engines/redis/plan/plan.ts';
import { redisStatus } from '../../../src/engines/redis/status.ts';
import { type PlanRow, planned } from '../../support/plan-words.ts';
import { redisWorld, type Story } from '../../support/redis-situation.ts';

const since = '2030-01-01T00:00:00Z';
const minutesLater = (minutes: number): number => Date.parse(since) + minutes * 60_000;

const reported = (story: Story, at = 0) => {
  const { cluster, children, observed } = redisWorld({ ...story, observed: { at, ...story.observed } });
  const situation = situationOf(cluster, children, observed);
  const plan = planRedis(situation);
  return { plan, status: redisStatus(situation, plan) };
};

const overlapIn = (story: Story, at = 0) =>
  reported(story, at).status.conditions.find(({ type }) => type === 'PasswordOverlap');

/** The status that the situation itself leads to, written at `since`. */
function standing(story: Story): ClusterStatus {
  const { status } = reported(story);
  return { ...status, conditions: mergeConditions([], status.conditions, 1, since) } as ClusterStatus;
}

const everybody = ['db-sentinel-2', 'db-sentinel-1', 'db-sentinel-0', 'db-2', 'db-1', 'db-0'];
const untold = { nodes: { all: { lacks: ['password'] } }, sentinelLacks: ['password'] } as const satisfies Story;
const both = { nodes: { all: { formers: [0] } }, sentinelFormers: [0] } as const satisfies Story;
const overlapping = (minutes: number, more: Story = {}): Story => ({
  ...both,
  ...more,
  status: standing(both),
  observed: { at: minutesLater(minutes), ...more.observed },
});
const named = (name: string) => ({ auth: { secretRef: { name } } });
const moved = { ...both, before: named('one'), spec: named('two') } as const satisfies Story;

describe('another password in the Secret', () => {
  it.each<PlanRow>([
    [
      'is told to everybody at once, sentinels first',
      untold,
      [...everybody.map((pod) => `accept ${pod}`), 'wait RotatingPassword'],
    ],
    [
      'is told to the one process that does not accept it yet',
      { nodes: { 2: { lacks: ['password'], formers: [0] } } },
      ['accept db-2', 'wait RotatingPassword'],
    ],
    [
      'restarts nobody meanwhile who waits for a restart',
      { ...untold, pods: { 'db-1': 'outdated' } },
      [...everybody.map((pod) => `accept ${pod}`), 'wait RotatingPassword'],
    ],
    [
      'is told also while there is no primary: a pod that starts uses it',
      { nodes: { 1: { lacks: ['password'] } }, primary: 'nobody', terms: { 0: 1 } },
      ['accept db-1', 'promote db-0', 'wait Promoting'],
    ],
    [
      'is told beside repairs',
      { nodes: { 1: { lacks: ['password'] } }, sentinels: { 0: 'forgot' } },
      ['monitor db-sentinel-0 -> db-0', 'accept db-1', 'wait Repairing'],
    ],
    [
      'in another Secret comes into the templates only then',
      { ...untold, before: named('one'), spec: named('two') },
      [...everybody.map((pod) => `accept ${pod}`), 'wait RotatingPassword'],
    ],
    [
      'is told to a single node, too',
      { spec: { mode: 'Standalone', replicas: 1 }, nodes: { 0: { lacks: ['password'] } } },
      ['accept db-0', 'wait RotatingPassword'],
    ],
  ])('%s', (_, story, expected) => {
    expect(planned(story)).toEqual(expected);
  });
});

describe('the password of before', () => {
  it.each<PlanRow>([
    ['is still accepted', both, ['settled']],
    ['until the overlap is over', overlapping(59), ['settled']],
    [
      'and then no more, by nobody',
      overlapping(60),
      [...['db-0', 'db-1', 'db-2'], ...[0, 1, 2].map((i) => `db-sentinel-${i}`)]
        .map((pod) => `retire ${pod}`)
        .concat('wait RotatingPassword'),
    ],
    [
      'sooner where the spec says so',
      overlapping(2, { spec: { auth: { overlap: '2m' } } }),
      expect.arrayContaining(['retire db-0']),
    ],
    [
      'not while a member is missing',
      overlapping(60, { nodes: { ...both.nodes, 2: 'silent' } }),
      ['wait MembersNotReady'],
    ],
    [
      'nor before a restart that is due',
      overlapping(60, { pods: { 'db-1': 'outdated' } }),
      ['delete Pod db-1', 'wait Restarting'],
    ],
    [
      'nor before the templates have the Secret that is named now',
      { ...moved, status: standing(moved), observed: { at: minutesLater(60) } },
      ['db', 'db-sentinel']
        .map((set) => `apply StatefulSet ${set}: spec.template.spec.volumes[auth].secret.secretName one > two`)
        .concat('settled'),
    ],
    [
      'nor while somebody does not know the new one',
      overlapping(60, { nodes: { ...both.nodes, 2: { formers: [0], lacks: ['password'] } } }),
      ['accept db-2', 'wait RotatingPassword'],
    ],
    [
      'nor while a sentinel does not meet the others as the cluster',
      overlapping(60, { sentinelLacks: ['peers'] }),
      ['meet as the cluster db-sentinel-0', 'wait Repairing'],
    ],
    [
      'nor where the Secret is gone',
      overlapping(60, { observed: { passwordMissing: 'it is gone' } }),
      ['blocked SecretMissing'],
    ],
    [
      'nor where the cluster has no identity',
      overlapping(60, { observed: { identity: 'unusable' } }),
      ['blocked IdentityUnusable'],
    ],
    [
      'goes, too, where that of the Secret could be told to nobody, and all have it',
      overlapping(60, { observed: { unusablePassword: 'key password has a control character' } }),
      expect.arrayContaining(['retire db-0']),
    ],
    [
      'does not while a key beside it is of no use: it is told, since the former one would stay for ever',
      overlapping(60, { observed: { unusablePassword: 'key password-next is empty', hasUnusableOther: true } }),
      ['blocked PasswordUnusable'],
    ],
    [
      'goes from a single node, too',
      overlapping(60, {
        spec: { mode: 'Standalone', replicas: 1 },
        nodes: { 0: { formers: [0], lacks: ['replication'] } },
      }),
      ['retire db-0', 'wait RotatingPassword'],
    ],
    [
      'goes from those that have it, where the operator ended in the middle',
      overlapping(60, { nodes: {} }),
      [0, 1, 2].map((i) => `retire db-sentinel-${i}`).concat('wait RotatingPassword'),
    ],
    [
      'comes back to a process that has restarted without it',
      overlapping(10, { nodes: { ...both.nodes, 1: {} } }),
      ['accept db-1 as db-sentinel-2', 'settled'],
    ],
    ['does not, where few accept it', { nodes: { 1: { formers: [0] } } }, ['settled']],
    [
      'and where the overlap is over it does not come back',
      overlapping(60, { nodes: { ...both.nodes, 1: {} } }),
      expect.not.arrayContaining(['accept db-1 as db-sentinel-2']),
    ],
    [
      'begins a new overlap where there is one more',
      overlapping(60, { nodes: { all: { formers: [0, 1] } }, sentinelFormers: [0, 1] }),
      ['settled'],
    ],
  ])('%s', (_, story, expected) => {
    expect(planned(story)).toEqual(expected);
  });
});

describe('the condition of an overlap', () => {
  it.each<readonly [story: string, story_: Story, expected: string | undefined]>([
    ['is not there while clients have one password', {}, undefined],
    ['nor before everybody accepts the new one', untold, undefined],
    ['nor while one does not answer', { ...both, nodes: { ...both.nodes, 2: 'silent' } }, undefined],
    [
      'and then tells what goes when',
      both,
      'FormerPasswordAccepted: every process accepts the password in Secret db-auth, and a password that it does not name (5feceb66); it is removed when this has been so for spec.auth.overlap',
    ],
    [
      'or how many the Secret names',
      { observed: { namedPasswords: 2 } },
      'NamedPasswordsAccepted: every process accepts the 2 passwords in Secret db-auth',
    ],
    [
      'nor while somebody has yet to be told one more',
      { ...both, nodes: { all: { formers: [0], lacks: ['password'] } } },
      undefined,
    ],
    ['nor where the Secret is gone', { ...both, observed: { passwordMissing: 'it is gone' } }, undefined],
    [
      'is there of a single node, which has no sentinels',
      { spec: { mode: 'Standalone', replicas: 1 }, nodes: { 0: { formers: [0] } } },
      expect.stringMatching(/^FormerPasswordAccepted/) as never,
    ],
    [
      'stays where one is silent later',
      overlapping(10, { nodes: { ...both.nodes, 2: 'silent' } }),
      expect.stringMatching(/^FormerPasswordAccepted/) as never,
    ],
    [
      'is left out once where there is one more, so that its time begins anew',
      overlapping(60, { nodes: { all: { formers: [0, 1] } }, sentinelFormers: [0, 1] }),
      undefined,
    ],
    [
      'and where there is another one: the Secret has gone back',
      overlapping(60, { nodes: { all: { formers: [1] } }, sentinelFormers: [1] }),
      undefined,
    ],
  ])('%s', (_, story, expected) => {
    const found = overlapIn(story, story.observed?.at);
    expect(found && `${found.reason}: ${found.message}`).toEqual(expected);
  });

  it('leaves the cluster ready, all the time', () => {
    for (const story of [untold, both, overlapping(10), overlapping(60)] as readonly Story[]) {
      const { status } = reported(
        { ...story, status: { phase: 'Ready', initialized: true, ...story.status } as never },
        story.observed?.at,
      );
      expect([status.phase, status.conditions.find(({ type }) => type === 'Ready')?.status]).toEqual(['Ready', 'True']);
    }
  });

  it('has the operator look again when its time is over, and soon where it was left out', () => {
    const recheck = (story: Story): number | undefined => reported(story, story.observed?.at).plan.outcome.recheckMs;
    expect(recheck(overlapping(59))).toBe(60_000);
    expect(recheck(overlapping(10))).toBe(600_000);
    expect(recheck(overlapping(10, { nodes: {}, sentinelFormers: [0, 1] }))).toBe(500);
    expect(recheck({ status: standing(both) })).toBe(500);
    expect(recheck({})).toBeUndefined();
  });
});
