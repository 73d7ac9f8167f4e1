import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/api/object.ts';
import { hasSentinelMajority, situationOf } from '../../../src/engines/redis/observe/situation.ts';
import { redisWorld, type Story } from '../../support/redis-situation.ts';

it.each<readonly [story: string, situation: Story, heard: boolean]>([
  ['all three', {}, true],
  ['two of three', { sentinels: { 2: 'forgot' } }, true],
  ['one of three', { sentinels: { 1: 'silent', 2: 'forgot' } }, false],
  ['two of three that there should be, of which one has no pod', { sentinels: { 0: 'gone' } }, true],
  ['three of five', { sentinelSize: 5, sentinels: { 0: 'silent', 1: 'silent' } }, true],
  ['two of five', { sentinelSize: 5, sentinels: { 0: 'silent', 1: 'silent', 4: 'forgot' } }, false],
])('sentinels are heard when a majority watches: %s', (_, story, heard) => {
  const { cluster, children, observed } = redisWorld(story);
  expect(hasSentinelMajority(situationOf(cluster, children, observed))).toBe(heard);
});

describe('a size that no cluster has is not counted up to: the operator ran out of memory', () => {
  it.each<readonly [story: string, situation: Story, size: number]>([
    ['of a set that somebody has made as large', { size: 3, children: (all) => all.map(withReplicas(5000)) }, 1000],
    ['of a set that was made larger', { size: 3, children: (all) => all.map(withReplicas(5)) }, 5],
    ['of a pod that somebody calls so, while the set is not seen', { size: 3, children: withPod('db-5000') }, 3],
    ['of a pod of the largest set, while the set is not seen', { size: 3, children: withPod('db-999') }, 1000],
    ['of a pod of another name, while the set is not seen', { size: 3, children: withPod('db-tool') }, 3],
  ])('%s', (_, story, size) => {
    const { cluster, children, observed } = redisWorld(story);
    expect(situationOf(cluster, children, observed).dataSize).toBe(size);
  });
});

function withReplicas(replicas: number): (object: KubeObject) => KubeObject {
  return (object) =>
    object.kind === 'StatefulSet' && object.metadata.name === 'db'
      ? { ...object, spec: { ...(object.spec as object), replicas } }
      : object;
}

function withPod(name: string): NonNullable<Story['children']> {
  return (objects) => {
    const [pod] = objects.filter(({ kind, metadata }) => kind === 'Pod' && metadata.name === 'db-0');
    const others = objects.filter(({ kind, metadata }) => kind !== 'StatefulSet' || metadata.name !== 'db');
    return pod === undefined ? others : [...others, { ...pod, metadata: { ...pod.metadata, name } }];
  };
}
