import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/api/object.ts';
import type { Lack } from '../../../src/engines/redis/observe/observed.ts';
import { situationOf } from '../../../src/engines/redis/observe/situation.ts';
import { planRedis } from '../../../src/engines/redis/plan/plan.ts';
import { noChildren } from '../../../src/resources/children.ts';
import { type PlanRow, planned } from '../../support/plan-words.ts';
import { redisWorld, type Story } from '../../support/redis-situation.ts';

const lacks = (...what: readonly Lack[]): { readonly lacks: readonly Lack[] } => ({ lacks: what });
const stranger = lacks('identity', 'replication');
const older = { older: true } as const;

describe('the identity of a cluster that is older than it', () => {
  it.each<PlanRow>([
    [
      'is made first, and nobody is restarted for it',
      { ...older, observed: { identity: 'missing' } },
      ['create Secret db-internal', 'wait Repairing'],
    ],
    [
      'is told to all data nodes at once, and to nobody else before',
      { ...older, nodes: { all: { ...stranger } }, sentinelLacks: ['identity'] },
      ['identify db-0', 'identify db-1', 'identify db-2', 'wait Repairing'],
    ],
    [
      'then they copy by it, and one sentinel after the other watches by it',
      { ...older, nodes: { all: lacks('replication') }, sentinelLacks: ['identity'] },
      [
        ...['db-0', 'db-1', 'db-2'].map((pod) => `replicate as the cluster ${pod}`),
        'watch as the cluster db-sentinel-0',
        'wait Repairing',
      ],
    ],
    [
      'and at last one sentinel after the other meets the others by it',
      { ...older, sentinelLacks: ['peers'] },
      ['meet as the cluster db-sentinel-0', 'wait Repairing'],
    ],
    [
      'not while one of them is silent: it may not know who calls',
      { ...older, sentinels: { 2: 'silent' }, sentinelLacks: ['peers'] },
      ['wait MembersNotReady'],
    ],
    [
      'not while a data node is silent: it would not know whom to let in',
      { ...older, nodes: { 2: 'gone' }, sentinelLacks: ['identity'] },
      ['wait MembersNotReady'],
    ],
    [
      'nor during a failover',
      { ...older, sentinels: { all: { failingOver: true } }, sentinelLacks: ['identity'] },
      ['wait MembersNotReady'],
    ],
    ['is then known to all, and the templates stay', older, ['settled']],
    [
      'is told again to a node that was restarted without it, also where nobody is primary',
      { ...older, primary: 'nobody', terms: { 0: 1 }, nodes: { 1: { ...stranger } } },
      ['identify db-1', 'promote db-0', 'wait Promoting'],
    ],
    [
      'is told to nobody before it is there',
      { ...older, observed: { identity: 'missing' }, nodes: { all: { ...stranger } }, sentinels: { 0: 'forgot' } },
      ['create Secret db-internal', 'monitor db-sentinel-0 -> db-0 by the password', 'wait Repairing'],
    ],
    [
      'is used by nobody while it says nothing',
      {
        ...older,
        observed: { identity: 'unusable' },
        nodes: { all: lacks('replication') },
        sentinelLacks: ['identity'],
      },
      ['blocked IdentityUnusable'],
    ],
    [
      'is made beside whatever else is missing',
      {
        ...older,
        observed: { identity: 'missing' },
        children: (all) => all.filter(({ kind }) => kind !== 'PodDisruptionBudget'),
      },
      expect.arrayContaining(['create Secret db-internal', 'create PodDisruptionBudget db']),
    ],
    [
      'that says nothing is left alone, and told',
      { ...older, observed: { identity: 'unusable' } },
      ['blocked IdentityUnusable'],
    ],
    [
      'that says nothing any more restarts nobody: who starts now would wait for it',
      { observed: { identity: 'unusable' }, pods: { 'db-1': 'outdated' } },
      ['blocked IdentityUnusable'],
    ],
    [
      'that somebody has deleted restarts nobody before it is there again, and known to all',
      { observed: { identity: 'missing' }, pods: { 'db-1': 'outdated' } },
      ['create Secret db-internal', 'wait Repairing'],
    ],
    [
      'is made again where somebody has deleted it',
      { observed: { identity: 'missing' } },
      ['create Secret db-internal', 'wait Repairing'],
    ],
    [
      'a node alone is told, too',
      { ...older, spec: { mode: 'Standalone', replicas: 1 }, nodes: { 0: { ...stranger } } },
      ['identify db-0', 'wait Repairing'],
    ],
    [
      'a sentinel that has forgotten is told whom to watch, as the cluster',
      { ...older, sentinels: { 0: 'forgot' }, sentinelLacks: ['identity'] },
      ['watch as the cluster db-sentinel-1', 'monitor db-sentinel-0 -> db-0', 'wait Repairing'],
    ],
    [
      'or by the password, while a data node does not know who the cluster is',
      { ...older, nodes: { 2: { ...stranger } }, sentinels: { 0: 'forgot' }, sentinelLacks: ['identity'] },
      ['identify db-2', 'monitor db-sentinel-0 -> db-0 by the password', 'wait Repairing'],
    ],
    [
      'but not one that knows the cluster from its start, though a data node does not yet',
      { nodes: { 2: { ...stranger } }, sentinels: { 0: 'forgot', 1: { settings: {} } } },
      [
        'identify db-2',
        'monitor db-sentinel-0 -> db-0',
        expect.stringMatching(/^tune db-sentinel-1 .*=\d+$/),
        'wait Repairing',
      ],
    ],
    [
      'a sentinel that does not know the cluster is tuned by the password',
      { ...older, nodes: { 2: { ...stranger } }, sentinels: { 1: { settings: {} } }, sentinelLacks: ['identity'] },
      ['identify db-2', expect.stringMatching(/^tune db-sentinel-1 .* by the password$/), 'wait Repairing'],
    ],
  ])('%s', (_, story, expected) => {
    expect(planned(story)).toEqual(expected);
  });
});

it('the Secret of a new cluster is made once, and that of an older one may have been made by now', () => {
  const secrets = (plan: ReturnType<typeof planRedis>) =>
    plan.steps.flatMap((step) =>
      step.type === 'create' && step.object.metadata.name === 'db-internal' ? [step.optional === true] : [],
    );
  const { cluster, children, observed } = redisWorld({ ...older, observed: { identity: 'missing' } });
  expect(secrets(planRedis(situationOf(cluster, children, observed)))).toEqual([true]);
  const nothing = { data: [], sentinels: [], identity: 'missing' } as const;
  expect(secrets(planRedis(situationOf(cluster, noChildren, nothing)))).toHaveLength(1);
});

describe('the templates of an older cluster', () => {
  const applied = (story: Story): string[] => {
    const { cluster, children, observed } = redisWorld({ ...older, ...story });
    return planRedis(situationOf(cluster, children, observed)).steps.flatMap((step) =>
      step.type === 'apply' && step.object.kind === 'StatefulSet'
        ? [`${step.object.metadata.name} ${mountsOf(step.object).join(' ')}`]
        : [],
    );
  };
  const mountsOf = (object: KubeObject): string[] =>
    (object.spec as { template: { spec: { volumes: { name: string }[] } } }).template.spec.volumes.map(
      ({ name }) => name,
    );

  it.each<readonly [story: string, change: Story, applied: readonly string[]]>([
    [
      'get the identity together with a change that restarts their pods, each set by itself',
      { before: {}, spec: { config: { databases: 32 } } },
      ['db config auth internal run tmp tls'],
    ],
    [
      'not before the Secret is there',
      { before: {}, spec: { config: { databases: 32 } }, observed: { identity: 'missing' } },
      ['db config auth run tmp tls'],
    ],
    [
      'not where the Secret is of no use: a pod that mounts it might never start',
      { before: {}, spec: { config: { databases: 32 } }, observed: { identity: 'unusable' } },
      ['db config auth run tmp tls'],
    ],
    ['stay through a change of size', { before: {}, spec: { replicas: 5 } }, ['db config auth run tmp']],
    ['stay where nothing changes', {}, []],
    [
      'get both where the cluster is to have TLS, of data nodes alone',
      { before: {}, spec: { tls: { server: { selfManaged: {} } } } },
      ['db config auth internal run tmp tls'],
    ],
  ])('%s', (_, change, expected) => expect(applied(change)).toEqual(expected));
});
