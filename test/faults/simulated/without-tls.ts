/**
 * An engine on a network without TLS. Certificates are made, shown in Secrets and renewed as ever, and nobody encrypts: OpenSSL
 * goes by the clock of the machine, on which those of virtual time are not valid yet.
 */

import type { KindHandler } from '../../../src/engine/engine.ts';
import type { EngineContext } from '../../../src/engine/engine-context.ts';

export function withoutTls(engine: KindHandler): KindHandler {
  const { listener } = engine;
  return {
    ...engine,
    ...(listener === undefined
      ? {}
      : {
          listener: {
            ...listener,
            listen: (endpoint, cluster, io, changed) => listener.listen(endpoint, cluster, inTheClear(io), changed),
          },
        }),
    assess: (cluster, children, io, referred) => engine.assess(cluster, children, inTheClear(io), referred),
  };
}

function inTheClear(io: EngineContext): EngineContext {
  return {
    ...io,
    exchange: ({ tls: _, ...request }) => io.exchange(request),
    secure: (stream) => Promise.resolve(stream),
  };
}
