import { expect, it } from 'vitest';
import { isHeard, situationOf } from '../../../src/engines/redis/situation.ts';
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
  expect(isHeard(situationOf(cluster, children, observed))).toBe(heard);
});
