import { expect, it } from 'vitest';
import { forecastRedis } from '../../../src/engines/redis/plan/forecast.ts';
import { childrenOf, noChildren } from '../../../src/resources/children.ts';
import { redisCluster, redisWorld } from '../../support/redis-situation.ts';

it('a new cluster is formed around its first node', () => {
  expect(forecastRedis(redisCluster({ replicas: 2 }), noChildren)).toEqual([
    'make db-0 primary: the cluster is new',
    'tell db-sentinel-0 to watch db-0',
    'tell db-sentinel-1 to watch db-0',
    'tell db-sentinel-2 to watch db-0',
    'make db-1 a replica of db-0',
  ]);
});

it('a node that stands alone needs nobody', () => {
  expect(forecastRedis(redisCluster({ mode: 'Standalone', replicas: 1 }), noChildren)).toEqual([]);
});

it('nodes that nobody wants any more are named, in the order in which they leave', () => {
  const { cluster, children } = redisWorld();
  expect(forecastRedis(cluster, children)).toEqual([]);
  expect(forecastRedis(redisCluster({ replicas: 1 }), children)).toEqual([
    'db-2, db-1 leave, one at a time, a primary after it has handed over; their volumes stay',
  ]);
});

it('volumes of an earlier cluster are told of: a cluster of that name is not new', () => {
  const { cluster, children } = redisWorld();
  expect(forecastRedis(cluster, childrenOf(children.claims))).toEqual([
    'the volumes of an earlier cluster of this name are taken over: data-db-0, data-db-1, data-db-2',
  ]);
});

it('a last primary that the new size has no room for starts, and leaves when it has handed over', () => {
  const { children } = redisWorld({ primary: 2 });
  expect(forecastRedis(redisCluster({ replicas: 2 }), childrenOf(children.claims))).toEqual([
    'the volumes of an earlier cluster of this name are taken over: data-db-0, data-db-1, data-db-2',
    'db-2 leave, one at a time, a primary after it has handed over; their volumes stay',
  ]);
});
