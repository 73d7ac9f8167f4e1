/** The stage with real servers: each has an address of its own on the loopback network, and a directory that it keeps. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RedisConnection, redisConnection } from '../../../../src/engines/redis/client/connection.ts';
import { until } from '../../../support/until.ts';
import { talkOn } from './simulated-stage.ts';
import { dataConf, hostNumber, password, type Stage, sentinelConf } from './stage.ts';

/** Whatever ends the tests early, their servers end with them. */
const children = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});

let stages = 0;

/** Addresses that no other stage of this machine has, as far as processes have different ids. */
function network(): string {
  stages++;
  return `127.${10 + (process.pid % 200)}.${((process.pid >> 8) * 64 + stages) % 250}`;
}

/** @param programOf command and first arguments of a member that starts; default: what is installed */
export async function realStage(
  programOf: (member: string) => readonly [string, ...string[]] = () => ['redis-server'],
): Promise<Stage> {
  const prefix = network();
  const directory = await mkdtemp(join(tmpdir(), 'redis-stage-'));
  const running = new Map<string, { readonly child: ChildProcess; readonly ended: Promise<number | null> }>();
  const names = new Map<string, string>();
  const address = (member: string): string => {
    const ip = `${prefix}.${hostNumber(member)}`;
    names.set(ip, member);
    return ip;
  };
  const portOf = (member: string): number => (member.startsWith('n') ? 6379 : 26_379);

  const dial = (member: string): Promise<RedisConnection> =>
    new Promise((resolve, reject) => {
      const socket = connect({ host: address(member), port: portOf(member) });
      socket.once('error', reject);
      socket.once('connect', () => {
        socket.off('error', reject);
        resolve(redisConnection(socket));
      });
    });

  const stop = async (member: string, signal: NodeJS.Signals): Promise<number | null> => {
    const process = running.get(member);
    running.delete(member);
    process?.child.kill(signal);
    return (await process?.ended) ?? null;
  };

  const stage: Stage = {
    address,
    now: () => performance.now(),
    async start(member, lines = []) {
      const own = join(directory, member);
      const conf = join(own, 'conf');
      const ip = address(member);
      const isFirst = (await mkdir(own, { recursive: true })) !== undefined;
      const isData = member.startsWith('n');
      // A sentinel keeps what it wrote into its file; a data node is configured anew, as the pods' scripts do.
      if (isData || isFirst) {
        const text = [`bind ${ip}`, `dir ${own}`, 'logfile ""', ...(isData ? dataConf(ip) : sentinelConf(member, ip))];
        await writeFile(conf, `${[...text, ...lines].join('\n')}\n`);
      }
      const [command, ...first] = programOf(member);
      const child = spawn(command, [...first, conf, ...(isData ? [] : ['--sentinel'])], { stdio: 'ignore' });
      children.add(child);
      const ended = new Promise<number | null>((resolve) => {
        child.once('exit', (code) => {
          children.delete(child);
          resolve(code);
        });
      });
      running.set(member, { child, ended });
      let hasEnded = false;
      void ended.then(() => {
        hasEnded = true;
      });
      const connection = await until(`${member} starts`, () => (hasEnded ? undefined : dial(member)), {
        withinMs: 60_000,
        everyMs: 5,
      });
      if (connection === undefined) throw new Error(`${member} does not start`);
      connection.close();
    },
    async kill(member) {
      await stop(member, 'SIGKILL');
    },
    terminate: (member) => stop(member, 'SIGTERM'),
    async open(member, login = true) {
      const talk = talkOn(
        await dial(member),
        (work) => work,
        (ip) => names.get(ip),
      );
      if (login) await talk.say('AUTH', password);
      return talk;
    },
    async ask(member, ...args) {
      const talk = await stage.open(member);
      const reply = await talk.say(...args);
      talk.close();
      return reply;
    },
    until: (what, holds) =>
      until(
        what,
        async () => {
          if (!(await holds())) throw new Error('not yet');
        },
        { withinMs: 60_000, everyMs: 20 },
      ),
    async close() {
      for (const member of [...running.keys()]) await stop(member, 'SIGKILL');
      await rm(directory, { recursive: true, force: true, maxRetries: 10 });
    },
  };
  return stage;
}
