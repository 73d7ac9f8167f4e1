/** Pods that may wait for what will never come, and those that a restart would take something from. */

import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/api/object.ts';
import { situationOf } from '../../../src/engines/redis/observe/situation.ts';
import { planRedis } from '../../../src/engines/redis/plan/plan.ts';
import { type PlanRow, planned } from '../../support/plan-words.ts';
import { redisWorld, type Story } from '../../support/redis-situation.ts';

const table = (rows: readonly PlanRow[]): void =>
  it.each(rows)('%s', (_, story, plan) => expect(planned(story)).toEqual(plan));
const old: Story = { status: { initialized: true } };
const nobody: Story = { primary: 'nobody', terms: {} };

describe('a process of an older template that ends again and again', () => {
  table([
    [
      'gets the new one where everybody else answers',
      { ...old, nodes: { 2: 'silent' }, pods: { 'db-2': 'killed' } },
      ['delete Pod db-2', 'wait Restarting'],
    ],
    [
      'is left alone where a second one is silent',
      { ...old, nodes: { 2: 'silent' }, sentinels: { 1: 'silent' }, pods: { 'db-2': 'killed' } },
      ['wait MembersNotReady'],
    ],
    [
      'is left alone where nobody is primary: it may have been',
      { ...old, ...nobody, terms: { 0: 1 }, nodes: { 2: 'silent' }, pods: { 'db-2': 'killed' } },
      ['promote db-0', 'wait Promoting'],
    ],
    [
      'is left alone where it answers meanwhile',
      { ...old, pods: { 'db-sentinel-1': 'killed' } },
      ['wait MembersNotReady'],
    ],
  ]);
});

describe('a sentinel of an older template, where nobody is primary', () => {
  table([
    [
      'is left alone while it runs: its memory may be all that is known',
      { ...nobody, nodes: { all: 'silent' }, sentinels: { 0: 'silent' }, pods: { 'db-sentinel-0': 'killed' } },
      ['wait MembersStarting'],
    ],
    [
      'restarts where it has never run',
      { ...nobody, nodes: { all: 'silent' }, sentinels: { 0: 'silent' }, pods: { 'db-sentinel-0': 'stuck' } },
      ['delete Pod db-sentinel-0', 'wait MembersStarting'],
    ],
  ]);
});

const behind =
  (name: string): NonNullable<Story['children']> =>
  (all) =>
    all.map(
      (object): KubeObject =>
        object.kind === 'StatefulSet' && object.metadata.name === name
          ? { ...object, metadata: { ...object.metadata, generation: 2 } }
          : object,
    );

describe('who restarts', () => {
  table([
    [
      'nobody, before Kubernetes has taken up the template of the data nodes',
      { pods: { 'db-sentinel-1': 'outdated' }, children: behind('db') },
      ['wait Updating'],
    ],
    ['nor that of the sentinels', { pods: { 'db-1': 'outdated' }, children: behind('db-sentinel') }, ['wait Updating']],
    [
      'no other than the one that cannot load what its primary sends',
      {
        primary: 2,
        pods: { 'db-1': 'outdated' },
        nodes: { 0: { version: '7.0.15', linkUp: false, copyRefused: true } },
      },
      ['wait MembersNotReady'],
    ],
    [
      'nobody of the same minor version',
      {
        primary: 1,
        pods: { 'db-0': 'outdated' },
        nodes: { 0: { version: '8.0.0', linkUp: false, copyRefused: true } },
      },
      ['wait MembersNotReady'],
    ],
  ]);
});

describe('an identity that says nothing', () => {
  table([
    [
      'may be why nobody answers',
      { ...nobody, nodes: { all: 'silent' }, sentinels: { all: 'silent' }, observed: { identity: 'unusable' } },
      ['blocked IdentityUnusable'],
    ],
    [
      'keeps nobody who answers from becoming primary',
      { ...nobody, terms: { 0: 1 }, observed: { identity: 'unusable' } },
      ['promote db-0', 'wait Promoting'],
    ],
  ]);
});

it('nobody leaves while nobody can be asked for want of a Secret', () => {
  expect(planned({ size: 4, observed: { credentialsProblem: 'Secret db-auth does not exist' } })).toEqual([
    'blocked SecretMissing',
  ]);
});

it('repairs are looked after in half a second', () => {
  const { cluster, children, observed } = redisWorld({ nodes: { 2: 'unassigned' } });
  expect(planRedis(situationOf(cluster, children, observed)).outcome).toMatchObject({
    reason: 'Repairing',
    recheckMs: 500,
  });
});
