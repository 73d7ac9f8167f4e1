/** When a Secret of cert-manager is read again: nobody watches Secrets, and the Certificate tells when its own was issued. */
import { expect, it } from 'vitest';
import type { EngineIO } from '../../../src/engines/engine-io.ts';
import { namesIn } from '../../../src/engines/etcd/certificates.ts';
import { observeCertificates } from '../../../src/engines/etcd/trust.ts';
import { childrenOf } from '../../../src/resources/children.ts';
import { etcdCluster, now } from '../../support/etcd-situation.ts';
import { copiedSecrets, madeBy, madeCa } from '../../support/issued-secrets.ts';
import { stored } from '../../support/stored-object.ts';

const hourMs = 3_600_000;
const cluster = etcdCluster({ tls: { peer: { certManager: { issuerRef: { name: 'ours' } } } } });
const at = (ms: number): string => new Date(ms).toISOString();
/** Issued at `now`, for 90 days. */
const held = { notBefore: at(now), notAfter: at(now + 90 * 24 * hourMs) };

/** Names of the Secrets that are read again, and whether the copy is found to be another one than the source of now. */
async function look(status: Readonly<Record<string, unknown>>): Promise<{ again: string[]; isBehind: boolean }> {
  const before = copiedSecrets(cluster, now);
  const renewed = madeBy(madeCa('next', now), namesIn(cluster, 'peer'), now + hourMs);
  const again: string[] = [];
  const io: Pick<EngineIO, 'secret' | 'secretRefused'> = {
    secret: async (name) => (again.includes(name) ? renewed : before[name]),
    secretRefused: (name) => void again.push(name),
  };
  const certificate = stored({
    apiVersion: 'cert-manager.io/v1',
    kind: 'Certificate',
    metadata: { name: 'db-peer-tls', namespace: 'apps' },
    status,
  });
  const { copies } = await observeCertificates(cluster, io as EngineIO, false, childrenOf([certificate]));
  return { again, isBehind: copies?.peer?.copy.facts?.isCurrent === false };
}

it.each<readonly [string, Readonly<Record<string, unknown>>, boolean]>([
  ['tells of the one that is known', held, false],
  ['has yet to tell of any', {}, false],
  ['tells of one that ends later', { ...held, notAfter: at(now + 91 * 24 * hourMs) }, true],
  ['tells of one that begins later and ends at the same moment', { ...held, notBefore: at(now + hourMs) }, true],
  ['tells of its beginning alone', { notBefore: at(now + hourMs) }, true],
  ['tells of its end alone', { notAfter: held.notAfter }, false],
  ['tells what is no time', { notBefore: 1, notAfter: null }, false],
])('a Certificate that %s', async (_, status, isRead) => {
  expect(await look(status)).toEqual({ again: isRead ? ['db-peer-issued'] : [], isBehind: isRead });
});
