import { expect, it } from 'vitest';
import { forecastEtcd } from '../../../src/engines/etcd/plan/forecast.ts';
import { childrenOf, noChildren } from '../../../src/resources/children.ts';
import { etcdWorld, type Story } from '../../support/etcd-situation.ts';

const forecast = (story: Story): readonly string[] => {
  const { cluster, children } = etcdWorld(story);
  return forecastEtcd(cluster, children);
};

it.each<[string, Story, readonly string[]]>([
  ['nothing of a cluster that has its size', {}, []],
  ['nothing of one that is parked', { spec: { replicas: 0 } }, []],
  [
    'who joins',
    { spec: { replicas: 5 }, numbers: [0, 1, 2] },
    ['2 member(s) join, one after the other, with a vote once each has the data'],
  ],
  [
    'who leaves',
    { spec: { replicas: 1 }, numbers: [0, 1, 2] },
    ['2 member(s) leave, one at a time, the newest first that does not lead; their volumes are kept'],
  ],
  [
    'and that the volumes go, too, where that is the policy',
    { spec: { replicas: 3, deletionPolicy: 'Delete' }, numbers: [0, 1, 2, 3] },
    ['1 member(s) leave, one at a time, the newest first that does not lead; their volumes go'],
  ],
])('tells %s', (_, story, lines) => expect(forecast(story)).toEqual(lines));

it('tells which volumes of an earlier cluster are used again, and of none that has been set aside', () => {
  const { cluster, children } = etcdWorld({ claims: { 1: 'retired' } });
  expect(forecastEtcd(cluster, childrenOf(children.claims))).toEqual([
    'members resume on the volumes of an earlier cluster of this name: data-db-0-0, data-db-2-0',
  ]);
  expect(forecastEtcd(cluster, noChildren)).toEqual([]);
});
