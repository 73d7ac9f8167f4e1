/** Has a data node accept TLS, and accept it no more. Connections that are open go on. */
import type { EngineContext } from '../../../engine/engine-context.ts';
import type { RedisAction } from '../action.ts';
import type { RedisConnection } from '../client/connection.ts';
import { countPeers, longestListBytes } from '../client/peers.ts';
import { RedisError } from '../client/resp.ts';
import { type Credentials, withSession } from '../client/session.ts';
import { dataPort, paths, tlsPort } from '../names.ts';

type TlsAction = Extract<RedisAction, { type: 'redis.secure' | 'redis.closeTls' }>;

export async function changeTls(action: TlsAction, credentials: Credentials, io: EngineContext): Promise<void> {
  const { address } = action.node;
  const target = { address, port: dataPort, credentials, longest: longestListBytes };
  switch (action.type) {
    case 'redis.secure':
      await withSession(io, target, (connection) => secure(connection, action.digest));
      return;
    case 'redis.closeTls':
      await withSession(io, target, async (connection) => {
        // One has come meanwhile: the next look tells of it.
        if ((await countPeers(connection, tlsPort)) > 0) return;
        await connection.command('CONFIG', 'SET', 'tls-port', '0');
      });
      return;
    default:
      return action satisfies never;
  }
}

/** All in one command: it takes all or nothing, and a server has no port for TLS before it has a certificate. */
async function secure(connection: RedisConnection, digest: string): Promise<void> {
  const folder = `${paths.staged}/${digest}`;
  const files = {
    'tls-cert-file': `${folder}/tls.crt`,
    'tls-key-file': `${folder}/tls.key`,
    'tls-ca-cert-file': `${folder}/ca.crt`,
    // Clients log in with passwords.
    'tls-auth-clients': 'no',
    'tls-port': String(tlsPort),
  };
  try {
    await connection.command('CONFIG', 'SET', ...Object.entries(files).flat());
  } catch (error) {
    // The kubelet brings the Secret to each pod at another time. The server says the same of a file that is not there and of one that it does not
    // take; which one it is stands in its log.
    if (!(error instanceof RedisError) || !/Unable to update TLS/.test(error.message)) throw error;
  }
}
