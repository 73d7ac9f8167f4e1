/** Whom the simulated agent asks for data. `test/agent/real-redis.test.ts` has the same of the agent on real servers. */
import { expect, it } from 'vitest';
import { Failure } from '../../../src/engine/driver/failure.ts';
import { hashOf } from '../../../src/engines/redis/client/identity.ts';
import { seeded } from '../world/random.ts';
import { simulatedNetwork } from '../world/simulated-network.ts';
import { virtualTime } from '../world/time.ts';
import type { Volume } from '../world/workload.ts';
import { redisDatabase } from './backup.ts';
import { DataNode } from './data-node.ts';
import { parseConf } from './directives.ts';
import { briskly, Processes } from './processes.ts';

const user = 'clusterwright/apps/cache';
const agent = '10.0.9.9';
const files: Readonly<Record<string, string>> = { '/auth': 'secret\n', '/identity': 'own\n', '/old': 'another\n' };
const version = '8.0';

interface Server {
  readonly password?: string;
  /** Password of the cluster's user; absent where nobody has told the server of it. */
  readonly own?: string;
  /** The number of its primary. */
  readonly follows?: number;
  /** Its primary cannot reach it any more, and is written to; the link counts as up. */
  readonly isBehind?: true | 'for a moment';
  /** The agent cannot reach it, and others can. */
  readonly isAway?: true;
}
const own: Server = { own: 'own' };
const stranger: Server = { own: 'theirs' };
const older: Server = {};

/** Addresses of those whose data is taken, or how it failed. */
async function asked(servers: readonly Server[], source: object): Promise<string> {
  const [time, random, processes] = [virtualTime(), seeded(1), new Processes()];
  const network = simulatedNetwork(time, random);
  network.resolve = (host) => host;
  const hosts = servers.map((server, i) => {
    const ip = `10.0.0.${i}`;
    const volume: Volume = new Map();
    const host = {
      ...{ ip, network, time, random, processes, pace: briskly },
      volume: () => volume,
      exit: () => undefined,
    };
    const rule = server.own === undefined ? [] : [`user ${user} on #${hashOf(server.own)} ~* &* +@all`];
    const source = server.follows === undefined ? [] : [`replicaof 10.0.0.${server.follows} 6379`, 'masterauth secret'];
    const lines = [`requirepass ${server.password ?? 'secret'}`, ...rule, ...source];
    const conf = parseConf(lines.join('\n'), version, () => undefined);
    if (conf === undefined) throw new Error('the server does not start');
    new DataNode(host, version, conf).start();
    return ip;
  });
  await time.advance(3_000);
  for (const [i, { follows, isBehind, isAway }] of servers.entries()) {
    const [ip, primary] = [`10.0.0.${i}`, `10.0.0.${follows}`];
    if (isAway) network.cut([ip], [agent]);
    if (isBehind === undefined) continue;
    const heal = network.cut([ip], [primary]);
    processes.data(primary)?.dataset.write(['SET', 'acknowledged', '1']);
    if (isBehind === 'for a moment') time.after(500, heal);
  }
  const context = {
    ...{ ip: agent, network, time, file: (path: string) => files[path], volume: () => undefined },
    pause: (ms: number) => new Promise<void>((resolve) => void time.after(ms, resolve)),
    inTime: <T>(promise: Promise<T>, who: string) =>
      new Promise<T>((resolve, reject) => {
        promise.then(resolve, reject);
        time.after(5_000, () => reject(new Failure('SourceUnreachable', `${who} does not answer`)));
      }),
  };
  const members = hosts.map((host) => ({ host, port: 6379 }));
  let told: string | undefined;
  redisDatabase(processes)
    .dump({ engine: 'redis', members, passwordFile: '/auth', ...source }, context)
    .then(
      ({ topology }) => {
        told = `${topology.source} of ${topology.members}`;
      },
      (error: { readonly reason?: string }) => {
        told = error.reason;
      },
    );
  await time.advanceUntil(() => told !== undefined, 20_000);
  return told ?? 'nothing';
}

const identity = { user, passwordFile: '/identity' };

it.each<readonly [story: string, servers: readonly Server[], source: object, told: string]>([
  ['knows the cluster, though the password is another', [own], { identity, passwordFile: '/old' }, '10.0.0.0 of 1'],
  ['knows the cluster, and not a stranger with the same password', [stranger, own], { identity }, '10.0.0.1 of 1'],
  ['knows it, in whatever order', [own, stranger], { identity }, '10.0.0.0 of 1'],
  ['takes the password, where nobody has been told yet', [older, { follows: 0 }], { identity }, '10.0.0.1 of 2'],
  ['takes the password, where there is no identity', [own], {}, '10.0.0.0 of 1'],
  ['or no such Secret', [own], { identity: { user, passwordFile: '/nowhere' } }, '10.0.0.0 of 1'],
  ['follows', [{}, { follows: 0 }], {}, '10.0.0.1 of 2'],
  ['has what the primary has', [{}, { follows: 0, isBehind: true }], {}, '10.0.0.0 of 2'],
  ['has it a moment later', [{}, { follows: 0, isBehind: 'for a moment' }], {}, '10.0.0.1 of 2'],
  ['follows a primary that answers', [{ isAway: true }, { follows: 0 }], {}, 'SourceBroken'],
  ['replicates from the same primary', [{}, { follows: 0 }, {}, { follows: 2 }], {}, 'SourceBroken'],
  ['takes neither: nobody', [stranger], { identity, passwordFile: '/old' }, 'SourceRefused'],
])('the agent asks who %s', async (_, servers, source, told) => expect(await asked(servers, source)).toBe(told));
