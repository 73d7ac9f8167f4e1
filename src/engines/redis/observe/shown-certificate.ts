/** Which certificate each data node shows: seen in a handshake, as clients have it. */
import type { EngineContext } from '../../../engine/engine-context.ts';
import { within } from '../../../engine/within.ts';
import { fingerprintOf, secured } from '../../../system/secured.ts';
import { tlsPort } from '../names.ts';
import type { CertificateCopy } from './certificates.ts';
import type { DataNode, RedisObserved, ShownCertificate } from './observed.ts';

/** Time in which a server must accept TLS. */
const handshakeMs = 1000;

/** Nodes that do not accept TLS are not asked. */
export async function withShownCertificates(
  observed: RedisObserved,
  copy: CertificateCopy,
  io: EngineContext,
): Promise<RedisObserved> {
  const data = await Promise.all(
    observed.data.map(async (node) =>
      node.state === 'silent' || node.tls?.port !== tlsPort ? node : { ...node, shown: await shownBy(node, copy, io) },
    ),
  );
  return { ...observed, data };
}

async function shownBy(
  { address }: DataNode,
  { trusted }: CertificateCopy,
  io: EngineContext,
): Promise<ShownCertificate> {
  const { secure = secured } = io;
  try {
    return await within(io, handshakeMs, `${address}:${tlsPort}`, async (signal) => {
      const plain = await io.dial(address, tlsPort, signal);
      // Which names the certificate of a user has is not the operator's to decide.
      const stream = await secure(plain, address, { ca: trusted, anyName: true }, signal);
      stream.destroy();
      return { fingerprint: fingerprintOf(stream) ?? '' };
    });
  } catch (error) {
    io.signal.throwIfAborted();
    return { why: (error as Error).message };
  }
}
