/** Holes in the fence, each shown on real servers: these tests are red until they are mended. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { follow, info, pair } from '../../faults/redis/conformance/conversation.ts';
import { realStage } from '../../faults/redis/conformance/real-stage.ts';
import { password, type Stage, watched } from '../../faults/redis/conformance/stage.ts';
import { type FencedPod, fencedPod } from '../../support/fenced-pod.ts';
import { serverPrograms } from '../../support/redis-program.ts';

const sentinels = ['s1', 's2', 's3'];
const afterMs = 4000;
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const programs = serverPrograms.slice(0, 1);

describe.skipIf(programs.length === 0).each([...programs])('holes in the fence, $name', (program) => {
  let stage: Stage;
  let shims: string;
  const path = process.env.PATH;
  const pods: FencedPod[] = [];
  const stopped = new Set<number>();
  const pidOf = async (member: string): Promise<number> => Number((await info(stage, member, 'server')).process_id);
  const fencing = async (mode: string, names: readonly string[] = sentinels.map(stage.address)) => {
    const pod = fencedPod({
      ...{ program, password, address: stage.address('n1'), pid: await pidOf('n1') },
      ...{ sentinels: names, fence: `${mode} ${afterMs}` },
    });
    pods.push(pod);
    pod.start();
    return pod;
  };
  /** A program of the pod that takes longer, as one without processor time does. */
  const shim = (name: string, lines: string): void => {
    const file = join(shims, name);
    writeFileSync(file, `#!/bin/sh\nPATH=${path}\n${lines}\n`);
    chmodSync(file, 0o755);
    process.env.PATH = `${shims}:${path}`;
  };
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
  const answers = async (ms: number): Promise<{ ok: number; refused: number }> => {
    const end = performance.now() + ms;
    const found = { ok: 0, refused: 0 };
    while (performance.now() < end) {
      if ((await write()) === 'OK') found.ok += 1;
      else found.refused += 1;
      await pause(50);
    }
    return found;
  };
  const watch = async (replicas = 1): Promise<void> => {
    for (const sentinel of sentinels) {
      await stage.start(sentinel, [
        `sentinel monitor ${watched} ${stage.address('n1')} 6379 2`,
        `sentinel auth-pass ${watched} ${password}`,
        `sentinel down-after-milliseconds ${watched} 3000`,
      ]);
    }
    await stage.until('they know each other and the replica', async () => {
      const known = await Promise.all(sentinels.map((s) => stage.ask(s, 'SENTINEL', 'MASTER', watched)));
      return known.every((row) => String(row).includes(`num-slaves,${replicas},num-other-sentinels,2`));
    });
  };

  beforeEach(async () => {
    shims = mkdtempSync(join(tmpdir(), 'shims-'));
    stage = await realStage(() => program.server);
    await pair(stage);
  });
  afterEach(async () => {
    process.env.PATH = path;
    for (const pod of pods.splice(0)) pod.close();
    for (const pid of stopped) process.kill(pid, 'SIGCONT');
    stopped.clear();
    await stage.close();
    rmSync(shims, { recursive: true, force: true });
  });

  it('6: a server from elsewhere that copies from the primary keeps it from being fenced once another was elected', async () => {
    await watch();
    await stage.start('n9', ['replica-announced no', 'replica-priority 0']);
    await stage.ask('n9', 'CONFIG', 'SET', 'masterauth', password);
    await follow(stage, 'n9', 'n1');
    await fencing('Isolated');
    await pause(2500);
    const thaw = await cutOff('n1');
    await stage.until('another is elected', async () => (await info(stage, 'n2')).role === 'master');
    await stage.until('most sentinels name it', async () => {
      const named = await Promise.all(sentinels.map((s) => stage.ask(s, 'SENTINEL', 'MASTER', watched)));
      return named.every((row) => /ip,n2,/.test(String(row)));
    });
    thaw();
    await pause(3500);
    const { ok } = await answers(3000);
    expect(ok).toBe(0);
  });

  it('9: a primary that was cut off together with a replica is back, most sentinels name another: not at once, as the guide says', async () => {
    await stage.start('n3', ['replica-priority 0']);
    await follow(stage, 'n3', 'n1');
    await watch(2);
    await fencing('Isolated');
    await pause(4000);
    expect((await answers(500)).refused).toBe(0);
    const thawReplica = await cutOff('n3');
    const thaw = await cutOff('n1');
    await stage.until('another is elected', async () => (await info(stage, 'n2')).role === 'master');
    await stage.until('most sentinels name it', async () => {
      const named = await Promise.all(sentinels.map((s) => stage.ask(s, 'SENTINEL', 'MASTER', watched)));
      return named.every((row) => /ip,n2,/.test(String(row)));
    });
    thawReplica();
    thaw();
    await pause(3500);
    const { ok } = await answers(3000);
    expect(ok).toBe(0);
  });

  it('7: sentinels that answer and take the primary for down count as within reach: Strict, `after` under downAfter', async () => {
    await watch();
    for (const s of sentinels) await stage.ask(s, 'SENTINEL', 'SET', watched, 'down-after-milliseconds', '8000');
    await fencing('Strict');
    await pause(2500);
    // Their connections to it do not work; its connections to them do.
    await stage.ask('n1', 'ACL', 'SETUSER', 'default', '-ping', '-replicaof', '-slaveof', '-multi');
    await stage.until('another is elected', async () => (await info(stage, 'n2')).role === 'master');
    const { ok } = await answers(4000);
    expect(ok).toBe(0);
  });
});
