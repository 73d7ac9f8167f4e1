/** The scripts of pods in mode Cluster, with real servers: what works while the operator is away. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { releases } from '../../../../src/engines/redis/kind/server.ts';
import { redisConf } from '../../../../src/engines/redis/resources/config.ts';
import { shardScripts } from '../../../../src/engines/redis/resources/shards/scripts.ts';
import { essentialServers, programFolder, type ServerProgram } from '../../../support/redis-program.ts';
import { redisCluster } from '../../../support/redis-situation.ts';
import { until } from '../../../support/until.ts';

const identityPassword = 'identity';

interface Pod {
  readonly name: string;
  readonly address: string;
  readonly root: string;
  child?: ChildProcess;
}

let networks = 0;
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** Three shards without replicas but the first, whose second node is one. */
function stage(program: ServerProgram) {
  networks++;
  const prefix = `127.${20 + (process.pid % 200)}.${((process.pid >> 8) * 16 + 100 + networks) % 250}`;
  const root = mkdtempSync(join(tmpdir(), 'shard-scripts-'));
  const names = ['db-s0-0', 'db-s0-1', 'db-s1-0', 'db-s2-0'];
  const conf = redisConf(redisCluster({ mode: 'Cluster', engine: program.engine, version: program.version }));
  let hosts = 0;
  let pods: Pod[] = [];

  const environment = ({ name, address, root: own }: Pod) => ({
    PATH: [programFolder(program), process.env.PATH].join(delimiter),
    SERVER: releases[program.engine].program,
    CONFIG_DIR: join(own, 'config'),
    AUTH_FILE: join(own, 'password'),
    IDENTITY_FILE: join(own, 'identity'),
    CLUSTER_NAME: 'db',
    POD_NAME: name,
    POD_NAMESPACE: 'apps',
    POD_IP: address,
    DATABASES: '1',
  });

  /** All pods anew, each at an address of its own. Volumes stay. */
  function startAll(): void {
    pods = names.map((name) => ({ name, address: `${prefix}.${++hosts}`, root: join(root, name) }));
    for (const pod of pods) {
      rmSync(join(pod.root, 'run'), { recursive: true, force: true });
      for (const folder of ['config', 'data', 'run']) mkdirSync(join(pod.root, folder), { recursive: true });
      const inPlace = (text: string): string =>
        text
          .replaceAll('/run/redis', join(pod.root, 'run'))
          .replaceAll('/data/', `${join(pod.root, 'data')}/`)
          .replaceAll('dir /data', `dir ${join(pod.root, 'data')}`)
          .replaceAll('( host=$1;', `( host=$(sed -n "s/^$1 //p" ${join(pod.root, 'config', 'hosts')});`)
          .replaceAll('ask 2 -p 6379', `ask 2 -h ${pod.address} -p 6379`)
          .replaceAll('"$cli" -p 6379', `"$cli" -h ${pod.address} -p 6379`)
          .replaceAll('"$cli" -p "$1"', `"$cli" -h ${pod.address} -p "$1"`);
      for (const [file, text] of Object.entries(shardScripts))
        writeFileSync(join(pod.root, 'config', file), inPlace(text));
      const own = conf.replace(/^bind .*$/m, `bind ${pod.address}`).replace(/^dir .*$/m, '');
      const hosts = pods.map(({ name, address }) => `${name} ${address}\n${address} ${address}\n`).join('');
      const files = { 'redis.conf': own, sentinels: '', peers: `${names.join('\n')}\n`, hosts };
      for (const [file, text] of Object.entries(files)) writeFileSync(join(pod.root, 'config', file), text);
      writeFileSync(join(pod.root, 'password'), 'secret\n');
      writeFileSync(join(pod.root, 'identity'), `${identityPassword}\n`);
      launch(pod);
    }
  }

  /** `blocks`: a file of its volume takes no more, in half kibibytes. */
  function launch(pod: Pod, blocks: number | 'unlimited' = 'unlimited'): void {
    const script = `trap '' XFSZ; ulimit -f ${blocks}; . ${join(pod.root, 'config', 'start-shard.sh')}`;
    const child = spawn('/bin/sh', ['-c', script], {
      env: environment(pod),
      stdio: ['ignore', 'ignore', openSync(join(pod.root, 'stderr'), 'a')],
    });
    running.add(child);
    child.once('exit', () => running.delete(child));
    pod.child = child;
  }

  function podOf(name: string): Pod {
    const pod = pods.find((one) => one.name === name);
    if (pod === undefined) throw new Error(`there is no pod ${name}`);
    return pod;
  }

  return {
    names,
    startAll,
    killAll: () => Promise.all(pods.map(({ child }) => stopped(child))),
    kill: (name: string, signal?: NodeJS.Signals) => stopped(podOf(name).child, signal),
    /** Its container again, in the same pod. */
    restart: (name: string, blocks?: number) => launch(podOf(name), blocks),
    log: (name: string) => readFileSync(join(root, name, 'stderr'), 'utf8'),
    address: (name: string) => podOf(name).address,
    data: (name: string, file: string) => join(root, name, 'data', file),
    exitCode: (name: string) => podOf(name).child?.exitCode,
    run(name: string, script: string): number | null {
      const pod = podOf(name);
      return spawnSync('/bin/sh', [join(pod.root, 'config', script)], { env: environment(pod), encoding: 'utf8' })
        .status;
    },
    ask(name: string, ...command: readonly string[]): string {
      return cli(podOf(name), ['--user', 'clusterwright/apps/db', ...command], identityPassword);
    },
    client: (name: string, ...command: readonly string[]) => cli(podOf(name), command, 'secret'),
    close(): void {
      for (const { child } of pods) child?.kill('SIGKILL');
      rmSync(root, { recursive: true, force: true, maxRetries: 10 });
    },
  };

  function cli({ address }: Pod, args: readonly string[], password: string): string {
    const [command, ...first] = program.cli;
    const env = { ...process.env, REDISCLI_AUTH: password };
    return spawnSync(command, [...first, '-h', address, ...args], { encoding: 'utf8', env }).stdout.trim();
  }
}

async function stopped(child: ChildProcess | undefined, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill(signal);
  await ended;
}

describe.skipIf(essentialServers.length === 0).each([...essentialServers])('shard scripts of $name', (program) => {
  let pods: ReturnType<typeof stage> | undefined;
  afterEach(() => pods?.close());

  async function formed(): Promise<ReturnType<typeof stage>> {
    const made = stage(program);
    pods = made;
    made.startAll();
    await until('all answer', () => {
      for (const name of made.names) expect(made.ask(name, 'PING')).toBe('PONG');
    });
    const slots = { 'db-s0-0': '0 5460', 'db-s1-0': '5461 10922', 'db-s2-0': '10923 16383' };
    for (const [name, range] of Object.entries(slots)) {
      expect(made.ask(name, 'CLUSTER', 'ADDSLOTSRANGE', ...range.split(' '))).toBe('OK');
    }
    for (const name of made.names.slice(1)) made.ask('db-s0-0', 'CLUSTER', 'MEET', made.address(name), '6379');
    const id = made.ask('db-s0-0', 'CLUSTER', 'MYID');
    await until('the replica follows', () => expect(made.ask('db-s0-1', 'CLUSTER', 'REPLICATE', id)).toBe('OK'));
    await whole(made);
    return made;
  }

  async function whole(made: ReturnType<typeof stage>): Promise<void> {
    await until('it is whole', () => {
      for (const name of made.names) {
        made.run(name, 'ready-shard.sh');
        expect(made.ask(name, 'CLUSTER', 'INFO')).toContain('cluster_state:ok');
      }
      expect(made.ask('db-s0-1', 'INFO', 'replication') + made.ask('db-s0-0', 'INFO', 'replication')).toContain(
        'master_link_status:up',
      );
    });
  }

  it('C5: all pods at new addresses find each other by name; a primary hands over when it stops', async () => {
    const made = await formed();
    const ids = made.names.map((name) => made.ask(name, 'CLUSTER', 'MYID'));
    await made.killAll();
    made.startAll();
    await whole(made);
    expect(made.names.map((name) => made.ask(name, 'CLUSTER', 'MYID'))).toEqual(ids);
    expect(made.names.map((name) => made.run(name, 'admit-shard.sh'))).toEqual([0, 0, 0, 0]);

    await until('the replica may take over', () => {
      made.run('db-s0-1', 'ready-shard.sh');
      expect(made.ask('db-s0-1', 'CONFIG', 'GET', 'cluster-replica-no-failover')).toContain('no');
      expect(made.run('db-s0-0', 'hand-over-shard.sh')).toBe(0);
      expect(made.ask('db-s0-0', 'ROLE')).toMatch(/^slave/);
    });
  }, 240_000);

  /** Key `b` is in the first shard. */
  async function electable(made: ReturnType<typeof stage>): Promise<void> {
    await until('the replica may be elected', () => {
      for (const name of made.names) made.run(name, 'ready-shard.sh');
      expect(made.ask('db-s0-1', 'CONFIG', 'GET', 'cluster-replica-no-failover')).toContain('no');
    });
  }

  it('a write that a replica has confirmed stays, though the process of the primary comes back at once on a disk without it', async () => {
    const made = await formed();
    await electable(made);
    const files = made.data('db-s0-0', 'appendonlydir');
    const before = `${files}.before`;
    cpSync(files, before, { recursive: true });
    expect(made.client('db-s0-0', 'SET', 'b', 'waited')).toBe('OK');
    await until('the replica has it', () => expect(made.ask('db-s0-1', 'DBSIZE')).toBe('1'));
    await made.kill('db-s0-0');
    rmSync(files, { recursive: true });
    renameSync(before, files);
    made.restart('db-s0-0');
    await until('it is back', () => expect(made.ask('db-s0-0', 'ROLE')).toMatch(/^(master|slave)/));
    await until('it copies', () => expect(made.ask('db-s0-0', 'INFO', 'replication')).toContain('_link_status:up'));
    expect(made.client('db-s0-1', 'GET', 'b')).toBe('waited');
  }, 120_000);

  /** Long enough for a start. */
  const aWhile = (ms = 5_000) => new Promise((resolve) => setTimeout(resolve, ms));

  it('a primary whose replica was elected with its own epoch is not started before the replica has a newer one', async () => {
    const made = await formed();
    await electable(made);
    const id = made.ask('db-s0-0', 'CLUSTER', 'MYID');
    await made.kill('db-s0-0');
    await until('the replica is elected', () => expect(made.ask('db-s0-1', 'ROLE')).toMatch(/^master/));
    const epoch = /cluster_my_epoch:(\d+)/.exec(made.ask('db-s0-1', 'CLUSTER', 'INFO'))?.[1] ?? '';
    // It had given itself the epoch, and nobody has heard of it.
    const file = made.data('db-s0-0', 'nodes.conf');
    const told = readFileSync(file, 'utf8');
    const same = told
      .replace(/(myself,master - \d+ \d+) \d+/, `$1 ${epoch}`)
      .replace(/currentEpoch \d+/, `currentEpoch ${epoch}`);
    expect(same).not.toBe(told);
    writeFileSync(file, same);
    made.restart('db-s0-0');
    await aWhile();
    expect(made.ask('db-s0-0', 'PING')).toBe('');
    expect(made.log('db-s0-0')).toContain('has its slots, by the same epoch');
    made.ask('db-s1-0', 'CLUSTER', 'BUMPEPOCH');
    await until('it has a newer epoch', () => {
      expect(made.ask('db-s0-1', 'CLUSTER', 'BUMPEPOCH')).not.toBe(`STILL ${epoch}`);
    });
    await until('it follows', () => expect(made.ask('db-s0-0', 'ROLE')).toMatch(/^slave/));
    expect(made.ask('db-s0-0', 'CLUSTER', 'MYID')).toBe(id);
    expect(made.ask('db-s0-1', 'ROLE')).toMatch(/^master/);
  }, 120_000);

  it('a primary without slots is not started where its replica has keys that have moved there', async () => {
    const made = await formed();
    await electable(made);
    // Its slots have gone to another shard. Then keys of slot 3300 move to it, and are not on the disk when the power fails.
    const [own, other] = [made.ask('db-s0-0', 'CLUSTER', 'MYID'), made.ask('db-s1-0', 'CLUSTER', 'MYID')];
    await until('the other shard has its slots', () => {
      for (const name of ['db-s1-0', 'db-s0-0', 'db-s2-0']) {
        for (const command of ['DELSLOTSRANGE', 'ADDSLOTSRANGE']) {
          const isOwner = name === 'db-s1-0' || command === 'DELSLOTSRANGE';
          if (isOwner) made.ask(name, 'CLUSTER', command, '0', '5460');
        }
      }
      made.ask('db-s1-0', 'CLUSTER', 'BUMPEPOCH');
      for (const name of ['db-s0-0', 'db-s1-0']) {
        expect(made.ask(name, 'CLUSTER', 'NODES')).toMatch(new RegExp(`${other}.* 0-10922`));
      }
    });
    expect(made.client('db-s1-0', 'SET', 'b', 'moved')).toBe('OK');
    made.ask('db-s0-0', 'CLUSTER', 'SETSLOT', '3300', 'IMPORTING', other);
    made.ask('db-s1-0', 'CLUSTER', 'SETSLOT', '3300', 'MIGRATING', own);
    const files = made.data('db-s0-0', 'appendonlydir');
    const before = `${files}.before`;
    cpSync(files, before, { recursive: true });
    const way = [made.address('db-s0-0'), '6379', 'b', '0', '5000', 'AUTH2', 'clusterwright/apps/db', identityPassword];
    expect(made.ask('db-s1-0', 'MIGRATE', ...way)).toBe('OK');
    await until('the replica has it', () => expect(made.ask('db-s0-1', 'DBSIZE')).toBe('1'));
    await made.kill('db-s0-0');
    rmSync(files, { recursive: true });
    renameSync(before, files);
    made.restart('db-s0-0');
    await aWhile();
    expect([made.ask('db-s0-0', 'PING'), made.ask('db-s0-1', 'DBSIZE')]).toEqual(['', '1']);
    expect(made.log('db-s0-0')).toContain('run CLUSTER FAILOVER TAKEOVER there');
    expect(made.ask('db-s0-1', 'CLUSTER', 'FAILOVER', 'TAKEOVER')).toBe('OK');
    await until('it starts', () => expect(made.ask('db-s0-0', 'PING')).toBe('PONG'));
    expect(made.ask('db-s0-1', 'DBSIZE')).toBe('1');
    // What it had is not served, and nothing keeps it from following.
    expect(made.log('db-s0-0')).toContain('db-s0-1 has been made primary of this shard');
    expect(existsSync(made.data('db-s0-0', 'appendonlydir.taken'))).toBe(true);
    expect(made.ask('db-s0-0', 'CLUSTER', 'MYID')).not.toBe(own);
    expect(made.ask('db-s0-0', 'DBSIZE')).toBe('0');
  }, 120_000);

  it('a primary that was stopped in order on a full volume lets a replica take over that has what it acknowledged', async () => {
    const made = await formed();
    await electable(made);
    await made.kill('db-s0-0', 'SIGTERM');
    made.restart('db-s0-0', 512);
    await whole(made);
    const value = 'x'.repeat(4_000);
    let last = '';
    for (let i = 0; i < 200; i++) {
      const answer = made.client('db-s0-0', 'SET', `{b}${i}`, value);
      if (answer !== 'OK') break;
      last = `{b}${i}`;
    }
    await until('it cannot write', () => {
      expect(made.ask('db-s0-0', 'INFO', 'persistence')).toContain('aof_last_write_status:err');
    });
    // Nobody takes over in time.
    expect(made.ask('db-s0-1', 'CONFIG', 'SET', 'replica-priority', '0')).toBe('OK');
    expect(made.run('db-s0-0', 'hand-over-shard.sh')).toBe(0);
    expect(made.ask('db-s0-0', 'ROLE')).toMatch(/^master/);
    await made.kill('db-s0-0', 'SIGTERM');
    expect([existsSync(made.data('db-s0-0', 'running')), existsSync(made.data('db-s0-0', 'unwritten'))]).toEqual([
      false,
      true,
    ]);
    made.restart('db-s0-0');
    await until('it copies', () => expect(made.ask('db-s0-0', 'INFO', 'replication')).toContain('_link_status:up'));
    expect(made.client('db-s0-1', 'EXISTS', last)).toBe('1');
    expect(existsSync(made.data('db-s0-0', 'unwritten'))).toBe(false);
  }, 120_000);

  it('a primary that was stopped in order goes on at once; a replica with all of it may be elected', async () => {
    const made = await formed();
    await electable(made);
    // By hand.
    expect(made.ask('db-s0-1', 'CONFIG', 'SET', 'replica-priority', '0')).toBe('OK');
    made.run('db-s0-1', 'ready-shard.sh');
    expect(made.ask('db-s0-1', 'CONFIG', 'GET', 'replica-priority')).toContain('100');
    expect(made.ask('db-s0-1', 'CONFIG', 'GET', 'cluster-replica-no-failover')).toContain('no');
    await made.kill('db-s0-0', 'SIGTERM');
    made.restart('db-s0-0');
    await until('it is back', () => expect(made.ask('db-s0-0', 'ROLE')).toMatch(/^master/), { withinMs: 4_000 });
  }, 120_000);

  it('a replica that cannot write down its copy is not handed to, and does not serve what it had before', async () => {
    const made = await formed();
    await electable(made);
    expect(made.client('db-s0-0', 'SET', 'b', 'kept')).toBe('OK');
    await until('the replica has it', () => expect(made.ask('db-s0-1', 'DBSIZE')).toBe('1'));
    await made.kill('db-s0-1');
    // A full volume: names of the next files are taken.
    for (let i = 1; i < 30; i++) {
      const base = made.data('db-s0-1', `appendonlydir/appendonly.aof.${i}.base.rdb`);
      if (!existsSync(base)) mkdirSync(join(base, 'taken'), { recursive: true });
    }
    made.restart('db-s0-1');
    await until('it has copied and not written', () => {
      const info = made.ask('db-s0-1', 'INFO');
      expect(info).toContain('master_link_status:up');
      expect(info).toContain('aof_last_bgrewrite_status:err');
    });
    made.run('db-s0-1', 'ready-shard.sh');
    expect(made.ask('db-s0-1', 'CONFIG', 'GET', 'cluster-replica-no-failover')).toContain('yes');
    expect(made.run('db-s0-0', 'hand-over-shard.sh')).toBe(0);
    expect(made.ask('db-s0-0', 'ROLE')).toMatch(/^master/);

    expect(made.ask('db-s0-1', 'CLUSTER', 'FAILOVER')).toBe('OK');
    await until('somebody has made it primary', () => expect(made.ask('db-s0-0', 'ROLE')).toMatch(/^slave/));
    await made.kill('db-s0-1');
    made.restart('db-s0-1');
    await until('the other one takes over', () => expect(made.ask('db-s0-0', 'ROLE')).toMatch(/^master/));
    expect(made.client('db-s0-0', 'GET', 'b')).toBe('kept');
    await until('it copies', () => expect(made.ask('db-s0-1', 'DBSIZE')).toBe('1'));
    expect(made.ask('db-s0-1', 'ROLE')).toMatch(/^slave/);
  }, 180_000);

  it('the user of clients may read the cluster and not change it', async () => {
    const made = await formed();
    expect(made.client('db-s0-0', 'CLUSTER', 'NODES')).toContain('myself');
    for (const command of [
      ['CLUSTER', 'RESET'],
      ['CLUSTER', 'MEET', '127.0.0.1', '1'],
      ['CLUSTER', 'FAILOVER'],
    ]) {
      expect(made.client('db-s0-1', ...command)).toMatch(/NOPERM/);
    }
  }, 120_000);

  it('a node without its data comes back as another one, which has no slots', async () => {
    const made = await formed();
    const before = made.ask('db-s1-0', 'CLUSTER', 'MYID');
    await made.killAll();
    rmSync(made.data('db-s1-0', 'appendonlydir'), { recursive: true });
    rmSync(made.data('db-s2-0', 'nodes.conf'));
    made.startAll();
    await until('they answer', () => {
      for (const name of made.names) expect(made.ask(name, 'PING')).toBe('PONG');
    });
    expect(made.ask('db-s1-0', 'CLUSTER', 'MYID')).not.toBe(before);
    for (const name of ['db-s1-0', 'db-s2-0']) {
      expect(made.ask(name, 'CLUSTER', 'INFO')).toContain('cluster_slots_assigned:0');
      expect(made.run(name, 'admit-shard.sh')).not.toBe(0);
    }
    expect(existsSync(made.data('db-s1-0', 'nodes.conf.without-data'))).toBe(true);
    expect(existsSync(made.data('db-s2-0', 'appendonlydir.without-nodes'))).toBe(true);
  }, 120_000);

  it('what a restore has put there is served without nodes.conf, until the node has one: key `foo` is in the third shard', async () => {
    const made = await formed();
    expect(made.client('db-s2-0', 'SET', 'foo', 'bar')).toBe('OK');
    const again = async (...written: readonly string[]): Promise<string> => {
      await made.killAll();
      for (const file of ['nodes.conf', 'running']) rmSync(made.data('db-s2-0', file), { force: true });
      for (const file of written) writeFileSync(made.data('db-s2-0', file), '');
      made.startAll();
      await until('it answers', () => expect(made.ask('db-s2-0', 'PING')).toBe('PONG'));
      return made.ask('db-s2-0', 'CLUSTER', 'INFO');
    };
    // The first process was killed before it had written more than the name of the file.
    expect(await again('restored-shard', 'nodes.conf')).toContain('cluster_slots_assigned:1');
    expect(made.ask('db-s2-0', 'DBSIZE')).toBe('1');
    expect(existsSync(made.data('db-s2-0', 'restored-shard'))).toBe(true);
    made.run('db-s2-0', 'admit-shard.sh');
    expect(existsSync(made.data('db-s2-0', 'restored-shard'))).toBe(false);
    expect(await again()).toContain('cluster_slots_assigned:0');
    expect(existsSync(made.data('db-s2-0', 'appendonlydir.without-nodes'))).toBe(true);
  }, 120_000);

  it('a copy of the volume of another pod is not started, so that nobody follows it', async () => {
    const made = await formed();
    await made.killAll();
    rmSync(made.data('db-s2-0', ''), { recursive: true });
    cpSync(made.data('db-s1-0', ''), made.data('db-s2-0', ''), { recursive: true });
    made.startAll();
    await until('it ends', () => expect(made.exitCode('db-s2-0')).toBe(1));
    await until('the others answer', () => expect(made.ask('db-s0-0', 'PING')).toBe('PONG'));
    expect(made.ask('db-s0-0', 'CLUSTER', 'NODES')).not.toContain(`${made.address('db-s2-0')}:`);
  }, 120_000);
});
