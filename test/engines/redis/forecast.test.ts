import { expect, it } from 'vitest';
import { forecastFormation } from '../../../src/engines/redis/forecast.ts';
import { redisCluster } from '../../support/redis-situation.ts';

it('a new cluster is formed around its first node', () => {
  expect(forecastFormation(redisCluster({ replicas: 2 }))).toEqual([
    'make db-0 primary: the cluster is new',
    'tell db-sentinel-0 to watch db-0',
    'tell db-sentinel-1 to watch db-0',
    'tell db-sentinel-2 to watch db-0',
    'make db-1 a replica of db-0',
  ]);
});

it('a node that stands alone needs nobody', () => {
  expect(forecastFormation(redisCluster({ mode: 'Standalone', replicas: 1 }))).toEqual([]);
});
