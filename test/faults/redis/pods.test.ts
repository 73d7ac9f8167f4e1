import { describe, expect, it } from 'vitest';
import {
  ask,
  clientAddress,
  dataPods,
  exec,
  isWhole,
  podCluster,
  primaries,
  say,
  sentinelPods,
  watched,
} from './pod-cluster.ts';
import { type PodStage, podStage } from './pod-stage.ts';

const seeds = [1, 2, 3, 4, 5];

async function untilWhole(stage: PodStage, ms = 40_000): Promise<void> {
  expect(await stage.time.advanceUntil(() => isWhole(stage), ms)).toBe(true);
}

function node(stage: PodStage, pod: string): NonNullable<ReturnType<PodStage['processes']['data']>> {
  const found = stage.processes.data(stage.ip(pod));
  if (found === undefined) throw new Error(`${pod} runs no server`);
  return found;
}

describe('pods that start', () => {
  it('blank ones follow nobody, are not admitted, and cannot be elected', async () => {
    const stage = podStage();
    for (const pod of dataPods) stage.start(pod);
    stage.start('db-sentinel-0');
    await stage.time.advance(100);
    expect(primaries(stage)).toEqual([]);
    expect(await ask(stage, 'db-1', 'CONFIG GET replica-priority')).toEqual(['replica-priority', '0']);
    expect([await exec(stage, 'db-1', 'admit.sh'), await exec(stage, 'db-1', 'ping.sh')]).toEqual([false, true]);
    expect([
      await exec(stage, 'db-sentinel-0', 'watching.sh'),
      await exec(stage, 'db-sentinel-0', 'sentinel-alive.sh'),
    ]).toEqual([false, true]);
  });

  it('alone, without sentinels, one waits for the operator where its volume is blank', async () => {
    const stage = podStage({ mode: 'Standalone', replicas: 1 });
    stage.start('db-0');
    await stage.time.advance(100);
    expect([primaries(stage), await exec(stage, 'db-0', 'admit.sh')]).toEqual([[], false]);
    await ask(stage, 'db-0', 'REPLICAOF NO ONE');
    expect(await exec(stage, 'db-0', 'admit.sh')).toBe(true);
    stage.running('db-0').kill();
    stage.start('db-0');
    await stage.time.advance(100);
    expect(primaries(stage)).toEqual(['db-0']);
    expect(await exec(stage, 'db-0', 'hand-over.sh')).toBe(true);
  });

  it('a newer version reads what an older one wrote, and not the other way round', async () => {
    const stage = podStage({ mode: 'Standalone', replicas: 1, version: '7.0' });
    for (const version of ['7.0', '8.0', '7.0']) {
      stage.start('db-0', { version });
      await stage.time.advance(100);
      stage.running('db-0').kill();
    }
    expect(stage.exits.get('db-0')).toBe(1);
  });

  it.each([
    ['reads the file of a newer one', {}, undefined],
    ['does not know all directives of a newer one, which the spec may set', { 'set-max-listpack-value': 32 }, 1],
  ])('an older version %s', async (_, config, exit) => {
    const stage = podStage({ mode: 'Standalone', replicas: 1, version: '8.0', config });
    stage.start('db-0', { version: '7.0' });
    await stage.time.advance(100);
    expect(stage.exits.get('db-0')).toBe(exit);
  });

  it('nothing of a killed pod acts any more, also while its first script runs', async () => {
    const stage = podStage();
    const [running, ended] = [stage.start('db-0'), stage.start('db-1')];
    ended.kill();
    running.terminate();
    await stage.time.advance(60_000);
    expect([stage.exits.get('db-0'), stage.exits.get('db-1')]).toEqual([143, undefined]);
    expect(stage.processes.at(stage.ip('db-1'))).toBeUndefined();
  });
});

describe.each(seeds)('a cluster of simulated pods, seed %i', (seed) => {
  it('the primary is gone: Sentinel elects another, and the old one comes back as a replica', async () => {
    const stage = await podCluster(seed);
    const at = stage.time.monotonic();
    stage.running('db-0').kill();
    expect(await stage.time.advanceUntil(() => primaries(stage).length === 1, 20_000)).toBe(true);
    const took = stage.time.monotonic() - at;
    expect(took).toBeGreaterThan(2000);
    expect(took).toBeLessThan(6000);
    await stage.time.advance(3000);
    stage.start('db-0');
    await untilWhole(stage);
    expect(primaries(stage)).not.toContain('db-0');
  });

  it('the process of the primary dies and is back at once: it asks for a failover, and follows', async () => {
    const stage = await podCluster(seed);
    expect(await say(stage, 'db-0', 'SET a 1', 'WAIT 2 1000')).toEqual(['OK', 2]);
    const at = stage.time.monotonic();
    stage.running('db-0').kill();
    stage.start('db-0');
    // While the failover is under way it follows nobody: its startup probe has it follow afterwards.
    for (let tries = 0; tries < 8 && !isWhole(stage); tries++) {
      await stage.time.advance(1000);
      await exec(stage, 'db-0', 'admit.sh');
    }
    expect(isWhole(stage)).toBe(true);
    expect(primaries(stage)).not.toContain('db-0');
    expect(stage.time.monotonic() - at).toBeLessThan(8000);
    expect(await ask(stage, 'db-0', 'GET a')).toBe('1');
  });

  it('a primary that is stopped hands over, and nothing that was acknowledged is lost', async () => {
    const stage = await podCluster(seed);
    const acknowledged: string[] = [];
    let n = 0;
    const write = (): void => {
      const [primary] = primaries(stage);
      const key = `k${n++}`;
      if (primary === undefined || n > 400) return;
      say(stage, primary, `SET ${key} 1`).then(
        ([reply]) => {
          if (reply === 'OK') acknowledged.push(key);
        },
        () => undefined,
      );
      stage.time.after(10, write);
    };
    write();
    await stage.time.advance(500);
    expect(await exec(stage, 'db-0', 'hand-over.sh')).toBe(true);
    stage.running('db-0').terminate();
    await stage.time.advance(1000);
    expect(stage.exits.get('db-0')).toBe(0);
    const [primary = '', ...more] = primaries(stage);
    expect(more).toEqual([]);
    expect(await stage.time.advanceUntil(() => watched(stage) === primary, 5000)).toBe(true);
    await stage.time.advance(1000);
    expect(acknowledged.length).toBeGreaterThan(100);
    expect(acknowledged.filter((key) => node(stage, primary).get(key) !== '1')).toEqual([]);
  });

  it('a frozen primary is replaced, and obeys when it thaws', async () => {
    const stage = await podCluster(seed);
    const frozen = node(stage, 'db-0');
    frozen.freeze();
    expect(await exec(stage, 'db-0', 'alive.sh')).toBe(false);
    await stage.time.advance(10_000);
    expect(watched(stage)).not.toBe('db-0');
    frozen.thaw();
    await untilWhole(stage);
    expect(primaries(stage)).not.toContain('db-0');
  });

  it('a primary that is cut off stops taking writes, and is made a replica when the cut is healed', async () => {
    const stage = await podCluster(seed);
    const others = [...stage.processes.dataNodes, ...stage.processes.sentinels].map(({ ip }) => ip);
    const heal = stage.network.cut(
      [stage.ip('db-0')],
      others.filter((ip) => ip !== stage.ip('db-0')),
    );
    expect(await ask(stage, 'db-0', 'SET lost 1')).toBe('OK');
    await stage.time.advance(12_000);
    expect(await ask(stage, 'db-0', 'SET late 1')).toBe('NOREPLICAS Not enough good replicas to write.');
    expect(primaries(stage)).toHaveLength(2);
    heal();
    await untilWhole(stage);
    expect([await ask(stage, 'db-0', 'GET lost'), primaries(stage).includes('db-0')]).toEqual([null, false]);
  });

  it('a node that comes while the primary is cut off from all others follows the one that they elect', async () => {
    const stage = await podCluster(seed);
    const others = [...stage.processes.dataNodes, ...stage.processes.sentinels].map(({ ip }) => ip);
    stage.network.cut(
      [stage.ip('db-0')],
      others.filter((ip) => ip !== stage.ip('db-0')),
    );
    // No sentinel has found it down yet.
    await stage.time.advance(1600);
    stage.start('db-3');
    await stage.time.advance(200);
    const admitted = async (): Promise<string | undefined> => {
      await exec(stage, 'db-3', 'admit.sh');
      await stage.time.advance(500);
      return node(stage, 'db-3').replication.source?.host;
    };
    expect([node(stage, 'db-3').replication.source?.host, await admitted()]).toEqual(['127.0.0.1', '127.0.0.1']);
    await stage.time.advance(8000);
    expect(await admitted()).toBe(stage.ip(watched(stage) ?? ''));
    expect(watched(stage)).not.toBe('db-0');
  });

  it('a node is admitted once all sentinels know it', async () => {
    const stage = await podCluster(seed);
    stage.start('db-3');
    await stage.time.advance(500);
    const knowing = (): number =>
      [...stage.processes.sentinels].filter((sentinel) => sentinel.watches.get('db')?.replicas.has(`${ip}:6379`))
        .length;
    const ip = stage.ip('db-3');
    const seen: string[] = [];
    let isAdmitted = false;
    for (let second = 0; second < 15 && !isAdmitted; second++) {
      const before = knowing();
      isAdmitted = await exec(stage, 'db-3', 'admit.sh');
      seen.push(`${before < 3 ? 'unknown' : 'known'}: ${isAdmitted}`);
      await stage.time.advance(1000);
    }
    expect([...new Set(seen)]).toEqual(['unknown: false', 'known: true']);
    expect(node(stage, 'db-3').replication.isUp).toBe(true);
  });

  it('a node that no sentinel knows leaves a primary that stands still, before another is elected', async () => {
    const stage = await podCluster(seed);
    // Right after the sentinels asked the primary for its replicas, so that they do not hear of the new one.
    await stage.time.advanceUntil(
      () =>
        [...stage.processes.sentinels].every((sentinel) => {
          const at = sentinel.watches.get('db')?.primary.infoAt ?? 0;
          return stage.time.monotonic() - at < 8500;
        }),
      10_000,
    );
    stage.start('db-3');
    await stage.time.advance(500);
    expect(node(stage, 'db-3').replication.isUp).toBe(true);
    const frozen = node(stage, 'db-0');
    frozen.freeze();
    for (let second = 0; second < 8; second++) {
      await exec(stage, 'db-3', 'admit.sh');
      await stage.time.advance(1000);
    }
    expect(watched(stage)).not.toBe('db-0');
    frozen.thaw();
    expect(await ask(stage, 'db-0', 'SET late 1')).toBe('NOREPLICAS Not enough good replicas to write.');
    expect(node(stage, 'db-3').replication.source?.host).toBe(stage.ip(watched(stage) ?? ''));
    await untilWhole(stage);
  });

  it('a password Secret that is edited changes nothing, nor does a process that is killed then', async () => {
    const stage = await podCluster(seed);
    stage.setPassword('another');
    const probes = async (pod: string): Promise<boolean[]> =>
      Promise.all(
        (pod.includes('sentinel') ? ['watching.sh', 'sentinel-alive.sh'] : ['ping.sh', 'alive.sh']).map((script) =>
          exec(stage, pod, script),
        ),
      );
    for (const pod of [...dataPods, ...sentinelPods]) expect([pod, await probes(pod)]).toEqual([pod, [true, true]]);
    stage.running('db-0').kill();
    stage.start('db-0');
    stage.running('db-sentinel-0').kill();
    stage.start('db-sentinel-0');
    await untilWhole(stage);
    expect(primaries(stage)).not.toContain('db-0');
  });

  it('after a power failure of all, the volumes tell who was primary last, though no sentinel remembers', async () => {
    const stage = await podCluster(seed);
    const carried = async (pod: string): Promise<unknown> =>
      ((await ask(stage, pod, 'CONFIG GET cluster-announce-hostname')) as string[])[1];
    for (const pod of dataPods) await exec(stage, pod, 'ping.sh');
    expect(await Promise.all(dataPods.map(carried))).toEqual(['primary-1', 'replica-1', 'replica-1']);
    stage.running('db-0').kill();
    await stage.time.advanceUntil(() => primaries(stage).length === 1, 20_000);
    const [elected = ''] = primaries(stage);
    await stage.time.advance(3000);
    stage.start('db-0');
    await untilWhole(stage);
    // Readiness probes, the primary's not first.
    for (const pod of [...dataPods, ...dataPods]) await exec(stage, pod, 'ping.sh');
    const everybody = [...dataPods, 'db-sentinel-0', 'db-sentinel-1', 'db-sentinel-2'];
    for (const pod of everybody) stage.running(pod).kill();
    for (const pod of everybody) stage.volume(pod, '/run/redis').clear();
    for (const pod of everybody) stage.start(pod);
    await stage.time.advance(8000);
    expect(watched(stage)).toBeUndefined();
    for (const pod of dataPods) {
      await exec(stage, pod, 'admit.sh');
      expect(await carried(pod)).toBe(pod === elected ? 'primary-2' : 'replica-2');
    }
  });

  it('a sentinel that returns at another address replaces itself', async () => {
    const stage = await podCluster(seed);
    stage.running('db-sentinel-2').kill();
    stage.volume('db-sentinel-2', '/run/redis').clear();
    stage.start('db-sentinel-2', { ip: '10.0.1.99' });
    await stage.time.advance(10_000);
    const peers = [...(stage.processes.sentinel(stage.ip('db-sentinel-0'))?.watches.get('db')?.peers.values() ?? [])];
    expect(peers.map(({ ip }) => ip).sort()).toEqual(['10.0.1.2', '10.0.1.99']);
    expect(await exec(stage, 'db-sentinel-2', 'watching.sh')).toBe(true);
  });
});

describe('trouble of one server', () => {
  it('a full disk: one more write is taken, then none; what was not written down is lost with the process', async () => {
    const stage = await podCluster();
    await ask(stage, 'db-0', 'SET before 1');
    node(stage, 'db-0').isDiskFull = true;
    expect(await ask(stage, 'db-0', 'SET first 1')).toBe('OK');
    expect(await ask(stage, 'db-0', 'SET second 1')).toMatch(/^MISCONF Errors writing to the AOF file/);
    expect([await exec(stage, 'db-0', 'ping.sh'), await exec(stage, 'db-0', 'alive.sh')]).toEqual([true, true]);
    const onDisk = stage.volume('db-0', '/data').get('appendonlydir') as { keys: Map<string, string> };
    expect([...onDisk.keys.keys()]).toEqual(['before']);
    await stage.time.advanceUntil(() => watched(stage) !== 'db-0', 10_000);
    expect(watched(stage)).not.toBe('db-0');
  });

  it('a disk that has room again takes everything', async () => {
    const stage = await podCluster();
    const server = node(stage, 'db-0');
    server.isDiskFull = true;
    await ask(stage, 'db-0', 'SET a 1');
    server.isDiskFull = false;
    expect(await ask(stage, 'db-0', 'SET b 1')).toBe('OK');
    stage.running('db-0').kill();
    const onDisk = stage.volume('db-0', '/data').get('appendonlydir') as { keys: Map<string, string> };
    expect([...onDisk.keys.keys()]).toEqual(['a', 'b']);
  });

  it('a slow server answers late, and in order', async () => {
    const stage = await podCluster();
    node(stage, 'db-0').connections.slowMs = 700;
    const at = stage.time.monotonic();
    expect(await say(stage, 'db-0', 'SET a 1', 'GET a')).toEqual(['OK', '1']);
    expect(stage.time.monotonic() - at).toBeGreaterThan(700);
    expect(await exec(stage, 'db-0', 'ping.sh')).toBe(true);
  });

  it('a frozen server keeps its connections, and answers when it thaws', async () => {
    const stage = await podCluster();
    const server = node(stage, 'db-1');
    server.freeze();
    const answer = say(stage, 'db-1', 'PING');
    await stage.time.advance(1000);
    server.thaw();
    expect(await answer).toEqual(['PONG']);
  });

  it('SIGTERM waits until it can be heard', async () => {
    const stage = await podCluster();
    node(stage, 'db-1').freeze();
    stage.running('db-1').terminate();
    await stage.time.advance(1000);
    expect(stage.exits.has('db-1')).toBe(false);
    node(stage, 'db-1').thaw();
    await stage.time.advance(100);
    expect(stage.exits.get('db-1')).toBe(0);
  });

  it('a node that dies before its copy is written down may not be elected when it starts again', async () => {
    const stage = await podCluster();
    await ask(stage, 'db-1', 'CONFIG SET rdb-key-save-delay 20000000');
    await ask(stage, 'db-0', 'SET kept 1');
    await ask(stage, 'db-1', 'REPLICAOF 127.0.0.1 1');
    await ask(stage, 'db-0', 'CONFIG SET repl-backlog-size 16384');
    for (let i = 0; i < 8; i++) await ask(stage, 'db-0', `SET big ${'x'.repeat(4000)}`);
    await stage.time.advance(2000);
    await ask(stage, 'db-1', `REPLICAOF ${stage.ip('db-0')} 6379`);
    expect(await stage.time.advanceUntil(() => node(stage, 'db-1').replication.isUp, 5000)).toBe(true);
    expect(await say(stage, 'db-0', 'SET acknowledged 1', 'WAIT 2 1000')).toEqual(['OK', 2]);
    for (const pod of [...dataPods, 'db-sentinel-0', 'db-sentinel-1', 'db-sentinel-2']) stage.running(pod).kill();
    for (const pod of dataPods) stage.start(pod);
    await stage.time.advance(8000);
    const priorityOf = (pod: string): Promise<unknown> => ask(stage, pod, 'CONFIG GET replica-priority');
    expect([await priorityOf('db-0'), await priorityOf('db-1')]).toEqual([
      ['replica-priority', '100'],
      ['replica-priority', '0'],
    ]);
    expect([await ask(stage, 'db-0', 'GET acknowledged'), await ask(stage, 'db-1', 'GET acknowledged')]).toEqual([
      '1',
      null,
    ]);
  });

  it('SIGTERM is refused while a copy is written down; the hook before it waits until it is', async () => {
    const stage = await podCluster();
    const server = node(stage, 'db-1');
    server.isRewriting = true;
    stage.running('db-1').terminate();
    await stage.time.advance(1000);
    expect(stage.exits.has('db-1')).toBe(false);
    stage.time.after(3500, () => {
      server.isRewriting = false;
    });
    const at = stage.time.monotonic();
    expect(await exec(stage, 'db-1', 'hand-over.sh')).toBe(true);
    expect(stage.time.monotonic() - at).toBeGreaterThan(3500);
    stage.running('db-1').terminate();
    await stage.time.advance(100);
    expect(stage.exits.get('db-1')).toBe(0);
  });

  it('who is killed leaves closed connections behind, unless a cut came first', async () => {
    const stage = await podCluster();
    const dial = async (): Promise<string[]> => {
      const opened = stage.network.dial(clientAddress, stage.ip('db-1'), 6379, new AbortController().signal);
      await stage.time.advance(5);
      const events: string[] = [];
      (await opened).on('close', () => events.push('close')).resume();
      return events;
    };
    const [seen, heal] = [await dial(), stage.network.cut([stage.ip('db-1')], 'all')];
    stage.running('db-1').kill();
    await stage.time.advance(1000);
    expect(seen).toEqual([]);
    heal();
    await stage.time.advance(1000);
    expect(seen).toEqual(['close']);
  });

  it('is deterministic: one seed, one history', async () => {
    const history = async (): Promise<unknown> => {
      const stage = await podCluster(7);
      stage.running('db-0').kill();
      await stage.time.advance(20_000);
      return [stage.time.steps, primaries(stage), node(stage, 'db-1').dataset.replid];
    };
    expect(await history()).toEqual(await history());
  });
});
