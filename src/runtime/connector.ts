/** How undici opens a connection to the API server: with our certificate, and through a proxy where there is one. */
import type { buildConnector as connecting } from 'undici';
import type { Tls } from './credentials.ts';
import type { Tunnel } from './proxy-tunnel.ts';
import { buildConnector } from './undici-dispatchers.ts';

/** undici's own. */
const defaultTimeoutMs = 10_000;

/** `more`: of the socket. For the option `connect` of undici's clients, pools and agents. */
export function connectorFor(
  { ca, cert, key, servername, insecure }: Tls,
  tunnel: Tunnel | undefined,
  more: Pick<connecting.BuildOptions, 'timeout' | 'keepAlive' | 'keepAliveInitialDelay'> = {},
): connecting.BuildOptions | connecting.connector {
  const options = {
    ...more,
    rejectUnauthorized: insecure !== true,
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(servername === undefined ? {} : { servername }),
  };
  if (tunnel === undefined) return options;
  const secured = buildConnector(options);
  return (to, callback) => {
    tunnel(to.hostname, Number(to.port || 443), more.timeout ?? defaultTimeoutMs).then(
      (httpSocket) => secured({ ...to, httpSocket }, callback),
      (error: Error) => callback(error, null),
    );
  };
}
