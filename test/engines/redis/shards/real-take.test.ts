/** The end of a move on real servers: who may still have other keys, or another epoch, does not lose the slot. */
import { afterEach, describe, expect, it } from 'vitest';
import type { ShardSession, Sides } from '../../../../src/engines/redis/act/shards/shard-session.ts';
import { engineOf, type Taken, takeSlot } from '../../../../src/engines/redis/act/shards/take-slot.ts';
import { myselfIn } from '../../../../src/engines/redis/client/cluster-nodes.ts';
import { sessionsWith } from '../../../../src/engines/redis/client/session.ts';
import { hasSlot } from '../../../../src/engines/redis/kind/slots.ts';
import { serverPrograms } from '../../../support/redis-program.ts';
import { formCluster, identity, type ShardStage, shardStage } from '../../../support/redis-shards.ts';
import { mortalContext } from '../../../support/slot-operator.ts';
import { until } from '../../../support/until.ts';

const io = mortalContext();

describe.skipIf(serverPrograms.length === 0).each([...serverPrograms])(
  'the end of a move, with $name',
  ({ server, engine }) => {
    let stage: ShardStage | undefined;
    const open = sessionsWith(io, { identity }, { bytes: 2 ** 20, answerMs: 10_000 });
    afterEach(async () => {
      open.closeAll();
      await stage?.close();
    });

    async function sides(): Promise<Sides & { readonly at: ShardStage }> {
      const at = await shardStage(server);
      stage = at;
      await formCluster(at, [1, 2, 3]);
      const session = async (node: number): Promise<ShardSession> => {
        const { command } = await open(at.address(node), 6379);
        return { command, primary: { pod: `n${node}`, address: at.address(node), id: await at.id(node) } };
      };
      const [source, target, third] = [await session(1), await session(2), await session(3)];
      // The target has the newest epoch.
      for (let i = 0; i < 3; i++) await target.command('CLUSTER', 'BUMPEPOCH');
      await target.command('CLUSTER', 'SETSLOT', '0', 'IMPORTING', source.primary.id);
      return { at, source, target, others: [third] };
    }

    it('takes a slot without keys, and not one of which the source has a key, or while the source hands over', async () => {
      const { at, ...both } = await sides();
      expect(await engineOf(both.target)).toBe(engine);
      const has = async (): Promise<boolean> => hasSlot(myselfIn(await at.view(2)).slots, 0);
      const take = (): Promise<Taken> => takeSlot(both, 0, { engine, io });
      // Of slot 0.
      await both.source.command('CLUSTER', 'SETSLOT', '0', 'STABLE');
      await both.source.command('SET', '{06S}', 'v');
      expect([await take(), await has()]).toEqual(['has keys', false]);
      await both.source.command('DEL', '{06S}');
      await at.ask(1, 'CLIENT', 'PAUSE', '1500', 'WRITE');
      expect([await take(), await has()]).toEqual(['late', false]);
      expect([await take(), await has()]).toEqual(['taken', true]);
    });

    it.runIf(engine === 'Redis')('does not take it once it has heard of a newer epoch', async () => {
      const { at, ...both } = await sides();
      const newestAt = async (node: number): Promise<number> =>
        Number(/cluster_current_epoch:(\d+)/.exec(String(await at.ask(node, 'CLUSTER', 'INFO')))?.[1]);
      const newest = await newestAt(2);
      const heardOf = (node: number, epoch: number): Promise<void> =>
        until(`n${node} has heard of it`, async () => expect(await newestAt(node)).toBeGreaterThanOrEqual(epoch));
      await heardOf(3, newest);
      await at.ask(3, 'CLUSTER', 'BUMPEPOCH');
      await heardOf(2, newest + 1);
      await expect(takeSlot(both, 0, { engine, io })).rejects.toThrow('another node than n2 has a newer epoch');
    });
  },
);
