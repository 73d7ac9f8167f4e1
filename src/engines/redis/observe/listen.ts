/**
 * Sentinel tells of every change as it happens. The events only say "look": what is true is asked afterwards.
 *
 * Nobody tells of a full disk, a file that cannot be written, or writes that are refused: each data node is asked now and
 * then; and nobody tells of users that somebody has changed. It costs the API server nothing, and the operator a few short connections.
 */
import type { Cluster } from '../../../api/cluster.ts';
import type { ListenerMemory } from '../../../engine/engine.ts';
import type { EngineContext } from '../../../engine/engine-context.ts';
import type { Children } from '../../../resources/children.ts';
import { type RedisConnection, redisConnection } from '../client/connection.ts';
import { findingsOf, minReplicasIn, pingAnswer } from '../client/findings.ts';
import { passwordSecret, secretAgeMs } from '../client/password.ts';
import { infoFields, pairs } from '../client/reply-fields.ts';
import { type Credentials, credentialsOf, logIn, withSession } from '../client/session.ts';
import { wantedUsers } from '../client/wanted-users.ts';
import type { RedisSpec } from '../kind/schema.ts';
import { dataPort, sentinelPort } from '../names.ts';
import { isProxyPod, isSentinelPod } from '../resources/members.ts';
import { observeUsers } from './users.ts';

/** Those after which another node may be primary, or a member has come, gone or moved. */
const channels = [
  '+switch-master',
  '+promoted-slave',
  '+failover-state-wait-promotion',
  '+failover-state-reconf-slaves',
  '+failover-end',
  '+convert-to-slave',
  '+sdown',
  '-sdown',
  '+odown',
  '-odown',
  '+slave',
  '+sentinel',
  '+reboot',
] as const;

/** Twice within the 30 s after which the status must tell. */
const everyMs = 12_000;

/** What a sentinel says after a message waits for so long: what it has said before is asked after meanwhile. */
const restMs = 100;

const dataPrefix = 'data/';

/** Addresses of the processes that run; of data nodes with a prefix. */
export function redisEndpoints(children: Children): string[] {
  return children.pods.flatMap((pod) => {
    const address = pod.status?.podIP;
    if (address === undefined || pod.status?.phase !== 'Running' || isProxyPod(pod)) return [];
    return [isSentinelPod(pod) ? address : `${dataPrefix}${address}`];
  });
}

export function listenToRedis(
  endpoint: string,
  cluster: Cluster<RedisSpec>,
  io: EngineContext,
  changed: () => void,
  memory?: ListenerMemory,
): Promise<void> {
  return endpoint.startsWith(dataPrefix)
    ? listenToDataNode(endpoint.slice(dataPrefix.length), cluster, io, changed, memory)
    : listenToSentinel(endpoint, cluster, io, changed);
}

/**
 * Calls back when what a node says about its disk and its replication changes, or what the Secret names. Rejects when it cannot be asked: Sentinel
 * and the kubelet tell of that.
 */
export async function listenToDataNode(
  address: string,
  cluster: Cluster<RedisSpec>,
  io: EngineContext,
  changed: () => void,
  memory: ListenerMemory = {},
): Promise<void> {
  let before = '';
  for (;;) {
    io.secretOutdated(passwordSecret(cluster).name, secretAgeMs);
    const credentials = await credentialsOf(cluster, io);
    const named = JSON.stringify(credentials.clients);
    // A run that ended in between may have been the one to read it anew.
    if (memory.said !== undefined && memory.said !== named) changed();
    memory.said = named;
    const found = await withSession(io, { address, port: dataPort, credentials }, async (connection) => {
      const [persistence, replication, config, ping, state] = await Promise.all([
        connection.command('INFO', 'persistence'),
        connection.command('INFO', 'replication'),
        connection.command('CONFIG', 'GET', 'min-replicas-to-write'),
        pingAnswer(connection),
        cluster.spec.mode === 'Cluster' ? clusterState(connection) : '',
      ]);
      const fields = infoFields(`${persistence}\r\n${replication}`);
      const found = findingsOf(address, fields, ping, minReplicasIn(pairs(config))).map(({ message }) => message);
      return [...found, state];
    });
    const now = [...found, ...(await userNews(address, cluster, credentials, io))].join();
    if (now !== before) changed();
    before = now;
    await io.sleep(everyMs);
  }
}

/** Which users are not as the spec has them. One that a server refuses stays so, and is no news. */
async function userNews(
  address: string,
  cluster: Cluster<RedisSpec>,
  credentials: Credentials,
  io: EngineContext,
): Promise<string[]> {
  const wanted = await wantedUsers(cluster, io);
  if (wanted.length === 0) return [];
  const users = await observeUsers({ address, credentials }, wanted, io);
  return 'unknown' in users ? [users.unknown] : [...users.due, ...users.former.map((name) => `-${name}`)];
}

/** Of a Redis Cluster nobody else tells: another epoch is another primary, or another owner of a slot. */
async function clusterState(connection: RedisConnection): Promise<string> {
  const { cluster_state, cluster_current_epoch, cluster_known_nodes, cluster_slots_fail } = infoFields(
    String(await connection.command('CLUSTER', 'INFO')),
  );
  return [cluster_state, cluster_current_epoch, cluster_known_nodes, cluster_slots_fail].join(' ');
}

/** Listens to one sentinel until the connection ends. Rejects when it cannot be opened. */
export async function listenToSentinel(
  address: string,
  cluster: Cluster<RedisSpec>,
  io: EngineContext,
  changed: () => void,
): Promise<void> {
  const credentials = await credentialsOf(cluster, io);
  const connection = redisConnection(await io.dial(address, sentinelPort, io.signal));
  const stop = (): void => connection.close();
  io.signal.addEventListener('abort', stop, { once: true });
  try {
    await logIn(connection, credentials, { address, port: sentinelPort });
    let isResting = false;
    // One confirmation a channel; the first is the reply, the others arrive as pushes and are no news.
    connection.onPush((push) => {
      if (isResting || !Array.isArray(push) || push[0] !== 'message') return;
      changed();
      isResting = true;
      const over = (): void => {
        isResting = false;
      };
      connection.restUntil(io.sleep(restMs).then(over, over));
    });
    await connection.command('SUBSCRIBE', ...channels);
    changed();
    await connection.closed;
  } finally {
    io.signal.removeEventListener('abort', stop);
    connection.close();
  }
}
