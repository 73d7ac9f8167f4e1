/**
 * A cluster under Sentinel that began as a copy from elsewhere, and a server of somebody else that copies from it in its turn: with priority 0 it is left
 * alone and leaves everybody alone; Sentinel may elect it otherwise, and the status says so. On real servers and sentinels.
 */
import { afterEach, describe, expect, it } from 'vitest';
import { cutOverAnnotation } from '../../../src/engines/redis/names.ts';
import { info } from '../../faults/redis/conformance/conversation.ts';
import { password } from '../../faults/redis/conformance/stage.ts';
import { type ImportStage, importStage, sourcePassword } from '../../support/redis-import.ts';
import { isEveryVersionWanted, serverPrograms } from '../../support/redis-program.ts';

describe.skipIf(!isEveryVersionWanted || serverPrograms.length === 0).each([...serverPrograms])(
  'on $name',
  ({ server, engine, version }) => {
    let at: ImportStage | undefined;
    afterEach(async () => {
      await at?.close();
      at = undefined;
    });

    it('a cluster under Sentinel begins with a copy, and a server from elsewhere that copies from it is no node of it', async () => {
      const here = await importStage({
        node: server,
        source: server,
        spec: { engine, version, mode: 'Sentinel', replicas: 2 },
      });
      at = here;
      const { stage } = here;
      const talk = await stage.open('n9', false);
      await talk.say('AUTH', sourcePassword);
      await talk.say('SET', 'a', '1');
      talk.close();
      await here.until('Following');
      here.annotate({ [cutOverAnnotation]: 'verified@uid-db' });
      await here.until('AddingSentinels', 90_000);
      expect((await info(stage, 'n1')).role).toBe('master');
      // As the probe of its pod says it.
      await stage.ask('n1', 'CONFIG', 'SET', 'cluster-announce-port', '26379');
      await here.until('MembersNotReady', 30_000);
      for (const member of ['n2', 's1', 's2', 's3']) await here.join(member);
      await here.until('settled', 90_000);
      expect(await stage.ask('n2', 'GET', 'a')).toBe('1');

      // Without a password, so that the sentinels of this cluster are let in.
      await stage.start('n8', ['requirepass ""', 'replica-priority 0', `replicaof ${stage.address('n1')} 6379`]);
      await stage.until('the sentinels have heard it', async () => {
        const rows = await Promise.all(
          ['s1', 's2', 's3'].map((member) => stage.ask(member, 'SENTINEL', 'REPLICAS', 'db')),
        );
        return rows.every(
          (known) =>
            Array.isArray(known) &&
            known.some((row) => String(row).includes('n8') && String(row).includes('slave-priority,0')),
        );
      });
      await here.until('settled', 60_000);
      expect(here.conditions()).not.toContain('OtherReplicaElectable');
      // A change of primary, with it attached: the sentinels bring it along.
      const handOver = {
        type: 'redis.handOver',
        primary: { pod: 'db-0', address: stage.address('n1') },
        replicas: [{ pod: 'db-1', address: stage.address('n2') }],
        sentinel: { pod: 'db-sentinel-0', address: stage.address('s1') },
      } as const;
      // A sentinel that stood still, on a busy machine, acts on nothing for half a minute.
      await stage.until('the primary has handed over', async () => {
        await here.act(handOver).catch((error: Error) => {
          if (!/TILT|did not|for more than|INPROG/.test(error.message)) throw error;
        });
        return (await info(stage, 'n2')).role === 'master';
      });
      expect((await info(stage, 'n2')).role).toBe('master');
      await here.until('settled', 60_000);
      await stage.until('it follows the new primary', async () => (await info(stage, 'n8')).master_host === 'n2');

      await stage.ask('n8', 'CONFIG', 'SET', 'replica-priority', '100');
      await stage.until('the status says that it may be elected', async () => {
        await here.pass();
        return here.conditions().includes('OtherReplicaElectable');
      });
      await stage.ask('n8', 'CONFIG', 'SET', 'replica-priority', '0');
      await stage.until('and no more', async () => {
        await here.pass();
        return !here.conditions().includes('OtherReplicaElectable');
      });
      await stage.kill('n8');
      await stage.until('the sentinels forget it', async () => {
        await here.pass();
        const known = ['s1', 's2', 's3'].map((member) => stage.ask(member, 'SENTINEL', 'REPLICAS', 'db'));
        return (await Promise.all(known)).every((rows) => !String(rows).includes('n8'));
      });
      await here.until('settled', 60_000);
      const reader = await stage.open('n2', false);
      await reader.say('AUTH', password);
      expect(await reader.say('GET', 'a')).toBe('1');
      reader.close();
    }, 240_000);
  },
);
