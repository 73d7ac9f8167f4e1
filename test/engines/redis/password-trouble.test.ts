import { describe, expect, it } from 'vitest';
import type { RedisObserved } from '../../../src/engines/redis/observe/observed.ts';
import { situationOf } from '../../../src/engines/redis/observe/situation.ts';
import { planRedis } from '../../../src/engines/redis/plan/plan.ts';
import { redisStatus } from '../../../src/engines/redis/status.ts';
import { type PlanRow, planned } from '../../support/plan-words.ts';
import { redisWorld, type Story } from '../../support/redis-situation.ts';

const other = { lacks: ['password'] } as const;
const why = 'key password has more than 512 bytes';
const all = {
  nodes: { all: { ...other } },
  sentinelLacks: ['password'],
  observed: { unusablePassword: why },
} as const satisfies Story;
const named = (name: string) => ({ auth: { secretRef: { name } } });
const renamed = { ...all, before: named('one'), spec: named('two') } as const satisfies Story;
const refusal = 'WRONGPASS invalid username-password pair or user is disabled.';

/** One answers, and takes neither the identity nor the password. */
const refusedBy = (pod: string, address: string): Partial<RedisObserved> => {
  const { data, sentinels } = redisWorld().observed;
  const silent = { state: 'silent', pod, address, why: refusal, refusal } as const;
  return { data: data.map((node) => (node.pod === pod ? silent : node)), sentinels };
};

describe('a Secret whose password is of no use', () => {
  it.each<PlanRow>([
    ['is said, and nothing else happens', all, ['blocked PasswordUnusable']],
    [
      'though one process alone does not know it',
      { ...all, sentinelLacks: [], nodes: { 2: { ...other } } },
      ['blocked PasswordUnusable'],
    ],
    ['is no matter where the servers have it', { observed: { unusablePassword: why } }, ['settled']],
    [
      'one process refuses everything, and nobody restarts',
      { observed: refusedBy('db-2', '10.0.0.2') },
      ['blocked PasswordUnknown'],
    ],
    ['that is another Secret comes into no template', renamed, ['blocked PasswordUnusable']],
    [
      'restarts nobody who waits for a restart',
      { ...all, pods: { 'db-1': 'outdated', 'db-sentinel-1': 'outdated' } },
      ['blocked PasswordUnusable'],
    ],
    [
      'keeps nobody from following a failover of Sentinel',
      { ...all, primary: 1, pods: { 'db-0': 'primary', 'db-1': 'replica' } },
      ['db-0: role primary > replica', 'db-1: role replica > primary', 'blocked PasswordUnusable'],
    ],
    [
      'nor from repairs',
      { ...all, sentinels: { 0: 'forgot' } },
      ['monitor db-sentinel-0 -> db-0', 'blocked PasswordUnusable'],
    ],
    [
      'nor from promoting the last primary',
      { ...all, primary: 'nobody', terms: { 0: 1 } },
      ['promote db-0', 'wait Promoting'],
    ],
    [
      'where all are refused altogether, nothing is done',
      {
        ...renamed,
        observed: {
          data: [{ state: 'silent', pod: 'db-0', address: '10.0.0.0', why: refusal, refusal }],
          sentinels: [],
        },
      },
      ['blocked PasswordUnknown'],
    ],
    [
      'a Secret that is gone is said; what runs goes on',
      { observed: { passwordMissing: 'Secret db-auth with key password does not exist' } },
      ['blocked SecretMissing'],
    ],
    [
      'so it is where nobody started for it',
      {
        primary: 'nobody',
        nodes: { all: 'silent' },
        sentinels: { all: 'silent' },
        observed: { passwordMissing: 'Secret db-auth has no password in the first line of its key password' },
      },
      ['blocked SecretMissing'],
    ],
    [
      'that is another Secret with the password that they know comes into the templates',
      { before: named('one'), spec: named('two') },
      [
        'apply StatefulSet db: spec.template.spec.volumes[auth].secret.secretName one > two',
        'apply StatefulSet db-sentinel: spec.template.spec.volumes[auth].secret.secretName one > two',
        'settled',
      ],
    ],
    [
      'of which nobody can tell, since nobody answers, comes into none',
      { before: named('one'), spec: named('two'), nodes: { all: 'silent' }, sentinels: { all: 'silent' } },
      ['wait MembersStarting'],
    ],
  ])('%s', (_, story, expected) => {
    expect(planned(story)).toEqual(expected);
  });

  it('changes no size', () => {
    const { cluster, children, observed } = redisWorld({ ...all, before: {}, spec: { replicas: 4 } });
    const { steps } = planRedis(situationOf(cluster, children, observed));
    expect(steps.flatMap((step) => (step.type === 'apply' ? step.object.kind : []))).toEqual(['ConfigMap']);
  });

  it('is in the status with its key, and without itself', () => {
    const { cluster, children, observed } = redisWorld({ ...all, status: { initialized: true } as never });
    const situation = situationOf(cluster, children, observed);
    const status = redisStatus(situation, planRedis(situation));
    expect(status.phase).toBe('Blocked');
    expect(status.primary).toBe('db-0');
    expect(status.conditions.find(({ type }) => type === 'Ready')).toEqual({
      type: 'Ready',
      status: 'False',
      reason: 'PasswordUnusable',
      message:
        'Secret db-auth names a password that is of no use: key password has more than 512 bytes. No server is told, and nothing is ' +
        'restarted; the servers keep the passwords that they have',
    });
    expect(status.conditions.map(({ type }) => type)).not.toContain('PasswordOverlap');
  });

  it('that all but one know has that one named, which is to start with it', () => {
    const { cluster, children, observed } = redisWorld({ observed: refusedBy('db-2', '10.0.0.2') });
    expect(planRedis(situationOf(cluster, children, observed)).outcome).toMatchObject({
      reason: 'PasswordUnknown',
      message: `most processes have the password in Secret db-auth, but db-2 answers: ${refusal}: delete the pod db-2, and it starts with it`,
    });
  });

  it('of a process that refuses altogether is told in its own words', () => {
    const silent = { state: 'silent', pod: 'db-0', address: '10.0.0.0', why: refusal, refusal } as const;
    const { cluster, children, observed } = redisWorld({ observed: { data: [silent], sentinels: [] } });
    const { outcome } = planRedis(situationOf(cluster, children, observed));
    expect(outcome).toMatchObject({ message: expect.stringContaining(`db-0 answers: ${refusal}`) });
  });
});
