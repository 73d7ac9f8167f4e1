/** When a Secret of cert-manager is read again: nobody watches Secrets, and the Certificate tells when its own was issued. */
import { expect, it } from 'vitest';
import type { EngineContext } from '../../../src/engine/engine-context.ts';
import { observeCertificates } from '../../../src/engines/etcd/observe/certificates.ts';
import { childrenOf } from '../../../src/resources/children.ts';
import { stored } from '../../../src/testing/stored-object.ts';
import { etcdCluster, now } from '../../support/etcd-situation.ts';
import { copiedSecrets } from '../../support/issued-secrets.ts';

const hourMs = 3_600_000;
const cluster = etcdCluster({ tls: { peer: { certManager: { issuerRef: { name: 'ours' } } } } });
const at = (ms: number): string => new Date(ms).toISOString();
/** Issued at `now`, for 90 days. */
const held = { revision: 1, notBefore: at(now), notAfter: at(now + 90 * 24 * hourMs) };

/** What its Secret is asked for with, as the Certificate tells of itself; `copiedSecrets` are the values. */
async function told(status?: Readonly<Record<string, unknown>>): Promise<string> {
  const before = copiedSecrets(cluster, now);
  const asked = new Map<string, string | undefined>();
  const io: Pick<EngineContext, 'secret'> = {
    secret: async (name, _, then) => {
      asked.set(name, then);
      return before[name];
    },
  };
  const certificate = stored({
    apiVersion: 'cert-manager.io/v1',
    kind: 'Certificate',
    metadata: { name: 'db-peer-tls', namespace: 'apps' },
    ...(status === undefined ? {} : { status }),
  });
  await observeCertificates(cluster, io as EngineContext, false, childrenOf([certificate]));
  expect(asked.get('db-peer-tls')).toBeUndefined();
  return asked.get('db-peer-issued') ?? 'asked with nothing';
}

it.each<readonly [string, Readonly<Record<string, unknown>> | undefined, boolean]>([
  ['tells the same of another condition', { ...held, conditions: [{ type: 'Ready' }] }, false],
  ['tells of one that ends later', { ...held, notAfter: at(now + 91 * 24 * hourMs) }, true],
  ['tells of one that begins later and ends at the same moment', { ...held, notBefore: at(now + hourMs) }, true],
  ['tells of the next one, within the same second', { ...held, revision: 2 }, true],
  ['tells nothing', undefined, true],
])('a Certificate that %s', async (_, status, isRead) => {
  expect((await told(status)) !== (await told(held))).toBe(isRead);
});

it('what a Certificate tells is bounded', async () => {
  expect((await told({ revision: 'x'.repeat(100_000) })).length).toBeLessThan(300);
});
