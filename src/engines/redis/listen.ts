/**
 * Sentinel tells of every change as it happens. The events only say "look": what is true is asked afterwards.
 */
import type { Cluster } from '../../api/cluster.ts';
import type { RedisSpec } from '../../api/redis.ts';
import type { Children } from '../../resources/children.ts';
import type { EngineIO } from '../engine-io.ts';
import { redisConnection } from './connection.ts';
import { isSentinelPod } from './members.ts';
import { sentinelPort } from './names.ts';
import { passwordOf } from './session.ts';

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

/** Addresses of the sentinels that can be listened to. */
export function sentinelEndpoints(children: Children): string[] {
  return children.pods.flatMap((pod) => {
    const address = pod.status?.podIP;
    return isSentinelPod(pod) && address !== undefined && pod.status?.phase === 'Running' ? [address] : [];
  });
}

/** Listens to one sentinel until the connection ends. Rejects when it cannot be opened. */
export async function listenToSentinel(
  address: string,
  cluster: Cluster<RedisSpec>,
  io: EngineIO,
  changed: () => void,
): Promise<void> {
  const password = await passwordOf(cluster, io);
  const connection = redisConnection(await io.dial(address, sentinelPort, io.signal));
  const stop = (): void => connection.close();
  io.signal.addEventListener('abort', stop, { once: true });
  try {
    await connection.command('AUTH', password);
    // One confirmation a channel; the first is the reply, the others arrive as pushes and are no news.
    connection.onPush((push) => {
      if (Array.isArray(push) && push[0] === 'message') changed();
    });
    await connection.command('SUBSCRIBE', ...channels);
    changed();
    await connection.closed;
  } finally {
    io.signal.removeEventListener('abort', stop);
    connection.close();
  }
}
