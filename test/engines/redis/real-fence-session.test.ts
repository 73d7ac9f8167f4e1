/**
 * The session that the loop of the fence keeps with its server: a server whose clients use all of its connections (`maxclients`) accepts no other.
 * The loop is the real one, and the servers and sentinels are real, too.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { info } from '../../faults/redis/conformance/conversation.ts';
import { realStage } from '../../faults/redis/conformance/real-stage.ts';
import { password, type Stage, type Talk, watched } from '../../faults/redis/conformance/stage.ts';
import { type FencedPod, fencedPod } from '../../support/fenced-pod.ts';
import { serverPrograms } from '../../support/redis-program.ts';

const sentinels = ['s1', 's2', 's3'];
/** Of a line of `CLIENT LIST`. */
const idOf = (line = ''): string => line.split(' ')[0] ?? '';
/** Nobody listens there. */
const nowhere = ['127.0.0.2', '127.0.0.3', '127.0.0.4'];

describe.skipIf(serverPrograms.length === 0).each([...serverPrograms])(
  'the session of the fence with $name',
  (program) => {
    let stage: Stage;
    let pod: FencedPod;
    /** On a connection from before the others. */
    let client: Talk;

    const among = (names: readonly string[]): void =>
      writeFileSync(join(pod.directory, 'config', 'sentinels'), `${names.join('\n')}\n`);
    const untilWrites = (answer: RegExp): Promise<void> =>
      stage.until(`writes are answered with ${answer}`, async () =>
        answer.test(String(await client.say('SET', 'key', 'value'))),
      );
    const sessions = async (): Promise<readonly string[]> =>
      String(await client.say('CLIENT', 'LIST', 'TYPE', 'normal'))
        .split('\n')
        .filter((line) => /cmd=(echo|config|info)/.test(line));
    const fill = async (): Promise<readonly Talk[]> => {
      await client.say('CONFIG', 'SET', 'maxclients', '64');
      const talks: Talk[] = [];
      for (;;) {
        const talk = await stage.open('n1', false);
        talks.push(talk);
        if ((await talk.say('AUTH', password)) !== 'OK') return talks;
      }
    };

    beforeEach(async () => {
      stage = await realStage(() => program.server);
      await stage.start('n1');
      client = await stage.open('n1');
      for (const sentinel of sentinels) {
        await stage.start(sentinel, [
          `sentinel monitor ${watched} ${stage.address('n1')} 6379 2`,
          `sentinel auth-pass ${watched} ${password}`,
          `sentinel down-after-milliseconds ${watched} 60000`,
        ]);
      }
      pod = fencedPod({
        ...{ program, password, address: stage.address('n1') },
        ...{ pid: Number((await info(stage, 'n1', 'server')).process_id) },
        ...{ sentinels: sentinels.map(stage.address), fence: 'Isolated 2000' },
      });
      pod.start();
      await stage.until('the loop has a session', async () => (await sessions()).length === 1);
    });
    afterEach(async () => {
      client.close();
      pod.close();
      await stage.close();
    });

    it('the fence comes and goes also where clients use all connections', async () => {
      await fill();
      among(nowhere);
      await untilWrites(/NOREPLICAS/);
      among(sentinels.map(stage.address));
      await untilWrites(/OK/);
      expect((await sessions()).length).toBe(1);
    });

    it('a server that stands still for a moment, while clients use all connections, keeps its session', async () => {
      const pid = Number((await info(stage, 'n1', 'server')).process_id);
      await fill();
      const [before] = await sessions();
      for (let n = 0; n < 3; n++) {
        process.kill(pid, 'SIGSTOP');
        await new Promise((resolve) => setTimeout(resolve, 3_000));
        process.kill(pid, 'SIGCONT');
        await untilWrites(/OK|NOREPLICAS/);
      }
      among(nowhere);
      await untilWrites(/NOREPLICAS/);
      expect((await sessions()).map(idOf)).toEqual([idOf(before)]);
    });

    it('a session that somebody ends is opened again, and ends with its loop', async () => {
      await client.say('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
      among(nowhere);
      await untilWrites(/NOREPLICAS/);
      await stage.until('there is one session again', async () => (await sessions()).length === 1);
      pod.kill();
      await stage.until('the session has ended', async () => (await sessions()).length === 0);
    });
  },
);
