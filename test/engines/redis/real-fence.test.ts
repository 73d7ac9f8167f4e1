/** The fence of a primary that is cut off, with real servers, real sentinels and the real loop of the pod. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { follow, info, pair } from '../../faults/redis/conformance/conversation.ts';
import { realStage } from '../../faults/redis/conformance/real-stage.ts';
import { password, type Stage, watched } from '../../faults/redis/conformance/stage.ts';
import { type FencedPod, fencedPod } from '../../support/fenced-pod.ts';
import { isEveryVersionWanted, serverPrograms } from '../../support/redis-program.ts';

const sentinels = ['s1', 's2', 's3'];
const afterMs = 4000;
/** Between two looks, and until sentinels that do not answer are given up: on a busy machine. */
const lookMs = 3500;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe.skipIf(!isEveryVersionWanted || serverPrograms.length === 0).each([...serverPrograms])(
  'beside servers of $name',
  (program) => {
    let stage: Stage;
    const pods: FencedPod[] = [];
    const stopped = new Set<number>();

    const pidOf = async (member: string): Promise<number> => Number((await info(stage, member, 'server')).process_id);
    const fencing = async (member: string, mode: string): Promise<FencedPod> => {
      const pod = fencedPod({
        ...{ program, password, address: stage.address(member), pid: await pidOf(member) },
        ...{ sentinels: sentinels.map(stage.address), fence: `${mode} ${afterMs}` },
      });
      pods.push(pod);
      pod.start();
      return pod;
    };
    /** They neither answer nor close their connections, as behind a cut. */
    const cutOff = async (...members: readonly string[]): Promise<() => void> => {
      const pids = await Promise.all(members.map(pidOf));
      for (const pid of pids) {
        stopped.add(pid);
        process.kill(pid, 'SIGSTOP');
      }
      return () => {
        for (const pid of pids) process.kill(pid, 'SIGCONT');
        for (const pid of pids) stopped.delete(pid);
      };
    };
    const write = (member = 'n1'): Promise<unknown> => stage.ask(member, 'SET', 'key', 'value');
    /** How long it takes until writes are refused, or taken. */
    const until = async (answer: RegExp, member = 'n1'): Promise<number> => {
      const began = performance.now();
      await stage.until(`writes are answered with ${answer}`, async () => answer.test(String(await write(member))));
      return performance.now() - began;
    };
    const untilElected = async (): Promise<void> => {
      await stage.until('another is elected', async () => (await info(stage, 'n2')).role === 'master');
      await stage.until('most sentinels name it', async () => {
        const named = await Promise.all(sentinels.map((s) => stage.ask(s, 'SENTINEL', 'MASTER', watched)));
        return named.every((row) => /ip,n2,/.test(String(row)));
      });
    };
    /** How many writes it takes within this time. */
    const taken = async (ms: number): Promise<number> => {
      const end = performance.now() + ms;
      let count = 0;
      while (performance.now() < end) {
        if ((await write()) === 'OK') count++;
        await pause(50);
      }
      return count;
    };
    /** Answers other than OK within this time. */
    const refusals = async (ms: number): Promise<readonly unknown[]> => {
      const end = performance.now() + ms;
      const found: unknown[] = [];
      while (performance.now() < end) {
        const answer = await write();
        if (answer !== 'OK') found.push(answer);
        await pause(50);
      }
      return found;
    };

    beforeEach(async () => {
      stage = await realStage(() => program.server);
      await pair(stage);
      for (const sentinel of sentinels) {
        await stage.start(sentinel, [
          `sentinel monitor ${watched} ${stage.address('n1')} 6379 2`,
          `sentinel auth-pass ${watched} ${password}`,
          `sentinel down-after-milliseconds ${watched} 3000`,
          // An election that nobody has won is repeated after twice this time, and not after six minutes.
          `sentinel failover-timeout ${watched} 10000`,
        ]);
      }
      await stage.until('they know each other and the replica', async () => {
        const known = await Promise.all(sentinels.map((s) => stage.ask(s, 'SENTINEL', 'MASTER', watched)));
        return known.every((row) => /num-slaves,1,num-other-sentinels,2/.test(String(row)));
      });
    });
    afterEach(async () => {
      for (const pod of pods.splice(0)) pod.close();
      for (const pid of stopped) process.kill(pid, 'SIGCONT');
      stopped.clear();
      await stage.close();
    });

    it('a primary that reaches nobody refuses writes in time, serves reads, and takes writes once sentinels are back', async () => {
      await fencing('n1', 'Isolated');
      expect(await refusals(2500)).toEqual([]);
      const back = await cutOff(...sentinels);
      const replicaBack = await cutOff('n2');
      const took = await until(/NOREPLICAS/);
      expect(took).toBeGreaterThan(afterMs - 1200);
      expect(took).toBeLessThan(afterMs + lookMs);
      expect(await stage.ask('n1', 'GET', 'key')).toBe('value');
      back();
      expect(await until(/OK/)).toBeLessThan(lookMs);
      replicaBack();
    });

    it('no write is refused while most sentinels answer, whatever becomes of the replica', async () => {
      await fencing('n1', 'Isolated');
      await cutOff('s1');
      await stage.kill('n2');
      expect(await refusals(afterMs + 3000)).toEqual([]);
    });

    it('nor while a replica acknowledges, unless sentinels alone decide', async () => {
      const pod = await fencing('n1', 'Isolated');
      await pause(2500);
      const back = await cutOff(...sentinels);
      expect(await refusals(afterMs + 3000)).toEqual([]);
      pod.close();
      back();
      await fencing('n1', 'Strict');
      await pause(2500);
      await cutOff(...sentinels);
      expect(await until(/NOREPLICAS/)).toBeLessThan(afterMs + lookMs);
    });

    it('nor before sentinels have ever named it, since nobody else could be elected', async () => {
      await cutOff(...sentinels);
      await cutOff('n2');
      await fencing('n1', 'Isolated');
      expect(await refusals(afterMs + 3000)).toEqual([]);
    });

    it('the replica is back, and writes are taken', async () => {
      await fencing('n1', 'Isolated');
      await pause(2500);
      await cutOff(...sentinels);
      const back = await cutOff('n2');
      await until(/NOREPLICAS/);
      back();
      expect(await until(/OK/)).toBeLessThan(lookMs);
    });

    it('a loop that was killed leaves the fence where it is, and the probe starts another', async () => {
      const pod = await fencing('n1', 'Isolated');
      await pause(2500);
      const back = await cutOff(...sentinels);
      const replicaBack = await cutOff('n2');
      await until(/NOREPLICAS/);
      pod.kill();
      back();
      replicaBack();
      await pause(1500);
      expect(await write()).toMatch(/NOREPLICAS/);
      await stage.until('the probe starts another', async () => {
        pod.probe();
        return (await write()) === 'OK';
      });
    });

    it('a primary that was frozen while another was elected takes next to no writes, and follows', async () => {
      await fencing('n1', 'Isolated');
      await pause(2500);
      const pid = await pidOf('n1');
      const thaw = await cutOff('n1');
      await untilElected();
      expect(pid).toBeGreaterThan(0);
      thaw();
      expect(await until(/NOREPLICAS|READONLY/)).toBeLessThan(lookMs);
      await stage.until('it follows', async () => (await info(stage, 'n1')).role === 'slave');
      const reply = (): Promise<unknown> => stage.ask('n1', 'CONFIG', 'GET', 'min-replicas-to-write');
      await stage.until('nothing is left of the fence', async () => /write,0$/.test(String(await reply())));
      expect(await write('n2')).toBe('OK');
    });

    it('a server from elsewhere that copies from it makes no difference once another is elected', async () => {
      await stage.start('n9', ['replica-announced no', 'replica-priority 0']);
      await stage.ask('n9', 'CONFIG', 'SET', 'masterauth', password);
      await follow(stage, 'n9', 'n1');
      await fencing('n1', 'Isolated');
      await pause(2500);
      const thaw = await cutOff('n1');
      await untilElected();
      thaw();
      await pause(3500);
      expect(await taken(3000)).toBe(0);
    });

    it('a primary that was cut off together with a replica, and is back, takes no writes', async () => {
      await stage.start('n3', ['replica-priority 0']);
      await follow(stage, 'n3', 'n1');
      await stage.until('the sentinels know it', async () => {
        const known = await Promise.all(sentinels.map((s) => stage.ask(s, 'SENTINEL', 'MASTER', watched)));
        return known.every((row) => String(row).includes('num-slaves,2,'));
      });
      await fencing('n1', 'Isolated');
      await pause(4000);
      expect(await refusals(500)).toEqual([]);
      const thawReplica = await cutOff('n3');
      const thaw = await cutOff('n1');
      await untilElected();
      thawReplica();
      thaw();
      await pause(3500);
      expect(await taken(3000)).toBe(0);
    });
  },
);
