import { expect, it } from 'vitest';
import { redisResources } from '../../../src/engines/redis/resources/resources.ts';
import { timingOf } from '../../../src/engines/redis/resources/timing.ts';
import { redisCluster } from '../../support/redis-situation.ts';

it.each<
  readonly [downAfter: string, missedMs: number, infoPeriodMs: number, askWithinMs: number, isEnoughToLeave: boolean]
>([
  ['1s', 1200, 666, 500, false],
  ['2s', 1200, 1333, 1500, false],
  ['2500ms', 1250, 1666, 2000, false],
  ['3s', 1500, 2000, 2500, true],
  ['60s', 1500, 2000, 3000, true],
])('every time follows from downAfter %s', (downAfter, missedMs, infoPeriodMs, askWithinMs, isEnoughToLeave) => {
  const cluster = redisCluster({ sentinel: { downAfter, failoverTimeout: '5m' } });
  expect(timingOf(cluster)).toMatchObject({ missedMs, infoPeriodMs, askWithinMs, isEnoughToLeave });
  const files = redisResources(cluster).find(({ object }) => object.kind === 'ConfigMap')?.object.data;
  expect(files).toMatchObject({
    'missed-ms': `${missedMs}\n`,
    'info-period-ms': `${infoPeriodMs}\n`,
    'ask-within-ms': `${askWithinMs}\n`,
  });
});

it.each(['2s', '2500ms', '3s', '10s'])(
  'with downAfter %s a node that leaves at once has left before the primary counts as down',
  (downAfter) => {
    const { missedMs } = timingOf(redisCluster({ sentinel: { downAfter, failoverTimeout: '5m' } }));
    const [betweenPings, betweenProbes, probe] = [1000, 1000, 300];
    expect(missedMs + betweenProbes + probe).toBeLessThan(
      betweenPings + Number.parseFloat(downAfter) * (downAfter.endsWith('ms') ? 1 : 1000),
    );
  },
);
