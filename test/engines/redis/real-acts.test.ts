/** Actions that move the primary, on real servers and sentinels: what they ask has to be there. */
import { afterEach, describe, expect, it } from 'vitest';
import { actRedis } from '../../../src/engines/redis/act/act.ts';
import { info } from '../../faults/redis/conformance/conversation.ts';
import { realStage } from '../../faults/redis/conformance/real-stage.ts';
import { password, type Stage, watched } from '../../faults/redis/conformance/stage.ts';
import { handedOver } from '../../support/handed-over.ts';
import { realContext } from '../../support/real-context.ts';
import { serverPrograms } from '../../support/redis-program.ts';
import { redisCluster } from '../../support/redis-situation.ts';

const io = realContext({ 'db-auth': { password } });

async function pairUnderSentinel(stage: Stage): Promise<void> {
  await Promise.all(['n1', 'n2', 's1'].map((member) => stage.start(member)));
  await stage.ask('n2', 'REPLICAOF', stage.address('n1'), '6379');
  await stage.ask('s1', 'SENTINEL', 'MONITOR', watched, stage.address('n1'), '6379', '1');
  await stage.ask('s1', 'SENTINEL', 'SET', watched, 'auth-pass', password, 'down-after-milliseconds', '3000');
  await stage.ask('s1', 'SENTINEL', 'DEBUG', 'INFO-PERIOD', '2000');
  await stage.until('the sentinel knows the replica', async () => {
    const row = await stage.ask('s1', 'SENTINEL', 'MASTER', watched);
    const isUp = (await info(stage, 'n2')).master_link_status === 'up';
    return isUp && Array.isArray(row) && row.join(' ').includes('num-slaves 1');
  });
}

describe.skipIf(serverPrograms.length === 0).each([...serverPrograms])('actions on $name', ({ server }) => {
  let stage: Stage | undefined;
  afterEach(async () => stage?.close());

  it('R7: a hand-over moves the role, not by a sentinel in TILT mode, and nobody follows by what was seen before', async () => {
    stage = await realStage(() => server);
    const at = stage;
    await pairUnderSentinel(at);
    const member = (name: string): { pod: string; address: string } => ({ pod: name, address: at.address(name) });
    const cluster = redisCluster({ replicas: 2 });
    const handOver = (): Promise<void> =>
      actRedis(
        { type: 'redis.handOver', primary: member('n1'), replicas: [member('n2')], sentinel: member('s1') },
        cluster,
        io,
      );
    await at.ask('n1', 'SET', 'a', '1');

    await at.ask('s1', 'SENTINEL', 'DEBUG', 'TILT-TRIGGER', '1');
    await at.until('it is in TILT mode', async () => (await info(at, 's1', 'sentinel')).sentinel_tilt === '1');
    await at.ask('s1', 'SENTINEL', 'DEBUG', 'TILT-TRIGGER', '2000');
    await expect(handOver()).rejects.toThrow('s1 is in TILT mode and acts on nothing; the primary stays');
    expect(await at.ask('n1', 'SET', 'a', '2')).toBe('OK');
    await at.ask('s1', 'SENTINEL', 'DEBUG', 'TILT-PERIOD', '1');
    await at.until('it acts again', async () => (await info(at, 's1', 'sentinel')).sentinel_tilt === '0');

    await handedOver(handOver);
    expect([(await info(at, 'n2')).role, (await info(at, 'n1')).role]).toEqual(['master', 'slave']);
    expect(await at.ask('n2', 'GET', 'a')).toBe('2');
    const late = (from: 'primary' | 'replica'): Promise<void> =>
      actRedis({ type: 'redis.follow', node: member('n2'), from, primary: at.address('n1') }, cluster, io);
    await expect(late('replica')).rejects.toThrow(`${at.address('n1')} is primary no more`);
    await at.until('the sentinel watches n2', async () => {
      const address = await at.ask('s1', 'SENTINEL', 'GET-MASTER-ADDR-BY-NAME', watched);
      return Array.isArray(address) && address[0] === 'n2';
    });
    await expect(handOver()).rejects.toThrow(/s1 names .*, not n1/);
    expect((await info(at, 'n2')).role).toBe('master');
  });
});
