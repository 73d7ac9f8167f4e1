/** The stage with simulated servers: time passes as fast as the conversation goes. */
import { type RedisConnection, redisConnection } from '../../../../src/engines/redis/client/connection.ts';
import { RedisError, type Reply } from '../../../../src/engines/redis/client/resp.ts';
import { seeded } from '../../world/random.ts';
import { simulatedNetwork } from '../../world/simulated-network.ts';
import { virtualTime } from '../../world/time.ts';
import type { Volume } from '../../world/workload.ts';
import { DataNode } from '../data-node.ts';
import { parseConf, words } from '../directives.ts';
import { briskly, type Host, Processes } from '../processes.ts';
import { Sentinel } from '../sentinel.ts';
import { parseSentinelConf, readSentinelFile } from '../sentinel-file.ts';
import { dataConf, ended, heard, hostNumber, password, type Stage, sentinelConf, type Talk } from './stage.ts';

export function simulatedStage(version: string): Stage {
  const time = virtualTime();
  const random = seeded(1);
  const network = simulatedNetwork(time, random);
  const processes = new Processes();
  const volumes = new Map<string, Volume>();
  const running = new Map<string, DataNode | Sentinel>();
  const codes = new Map<string, number>();
  const names = new Map<string, string>();

  const address = (member: string): string => {
    const ip = `127.1.1.${hostNumber(member)}`;
    names.set(ip, member);
    return ip;
  };
  const during = async <T>(work: Promise<T>): Promise<T> => {
    let isOver = false;
    const over = (): void => {
      isOver = true;
    };
    work.then(over, over);
    if (!(await time.advanceUntil(() => isOver, 60_000))) throw new Error('no answer within a minute');
    return work;
  };
  const hostOf = (member: string): Host => ({
    ...{ ip: address(member), network, time, random, processes, pace: briskly },
    volume: () => {
      const volume = volumes.get(member) ?? new Map<string, unknown>();
      volumes.set(member, volume);
      return volume;
    },
    exit: (code) => codes.set(member, code),
  });

  const stage: Stage = {
    address,
    now: () => time.monotonic(),
    async start(member, lines = []) {
      const host = hostOf(member);
      if (member.startsWith('n')) {
        const conf = parseConf([...dataConf(host.ip), ...lines].join('\n'), version, () => undefined);
        if (conf === undefined) throw new Error(`${member} does not start`);
        const node = new DataNode(host, version, conf);
        running.set(member, node);
        if (!node.start()) throw new Error(`${member} does not start`);
      } else {
        const fresh = [...sentinelConf(member, host.ip), ...lines].map(words);
        const file = readSentinelFile(host.volume(''));
        if (file === 'unreadable') throw new Error(`${member} does not start`);
        const conf = file === 'none' ? parseSentinelConf(fresh) : file;
        const sentinel = new Sentinel(host, version, conf);
        running.set(member, sentinel);
        sentinel.start();
      }
      await time.advance(20);
    },
    async kill(member) {
      running.get(member)?.end();
      await time.advance(1);
    },
    async terminate(member) {
      running.get(member)?.terminate();
      await time.advanceUntil(() => codes.has(member), 30_000);
      return codes.get(member) ?? null;
    },
    async open(member, login = true) {
      const port = member.startsWith('n') ? 6379 : 26_379;
      const stream = network.dial('127.0.0.254', address(member), port, new AbortController().signal);
      const connection = redisConnection(await during(stream));
      const talk = talkOn(connection, during, (ip) => names.get(ip));
      if (login) await talk.say('AUTH', password);
      return talk;
    },
    async ask(member, ...args) {
      const talk = await stage.open(member);
      const reply = await talk.say(...args);
      talk.close();
      return reply;
    },
    async until(what, holds) {
      const end = time.monotonic() + 60_000;
      while (!(await holds())) {
        if (time.monotonic() > end) throw new Error(`${what}: not within a minute`);
        await time.advance(10);
      }
    },
    close: () => Promise.resolve(),
  };
  return stage;
}

/** `during` lets time pass until the work is over. */
export function talkOn(
  connection: RedisConnection,
  during: <T>(work: Promise<T>) => Promise<T>,
  nameOf: (address: string) => string | undefined,
): Talk {
  const pushed: ReturnType<typeof heard>[] = [];
  connection.onPush((message) => pushed.push(heard(message, nameOf)));
  return {
    pushed,
    async say(...args) {
      const reply = connection.command(...args).catch((error: unknown): Reply => {
        if (error instanceof RedisError) return error;
        return ended;
      });
      return heard(await during(reply), nameOf);
    },
    close: () => connection.close(),
  };
}
