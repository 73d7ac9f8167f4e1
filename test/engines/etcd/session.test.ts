/** With what material members are spoken to. */
import { expect, it } from 'vitest';
import type { EngineContext, TlsMaterial } from '../../../src/engine/engine-context.ts';
import { sessionOf } from '../../../src/engines/etcd/client/session.ts';
import { timeOnly } from '../../support/backup-story.ts';
import { etcdCluster } from '../../support/etcd-situation.ts';

const one = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n';

it.each<readonly [story: string, ca: number, chain: number, words: string]>([
  ['a bundle of all public CAs is taken', 200, 1, 'Error: asked'],
  ['a Secret that is full of CAs is not', 201, 1, 'SecretUnusable: Secret mine has more than 200 certificates'],
  ['nor one that is full of certificates', 1, 1800, 'SecretUnusable: Secret mine has more than 200 certificates'],
])('%s', async (_, ca, chain, words) => {
  const shown: (TlsMaterial | undefined)[] = [];
  const io: EngineContext = {
    ...timeOnly(),
    secret: async () => ({ 'ca.crt': one.repeat(ca), 'tls.crt': one.repeat(chain), 'tls.key': 'key' }),
    secretRefused: () => undefined,
    sleep: (_, also) => new Promise((_, reject) => also?.addEventListener('abort', () => reject(also.reason))),
    exchange: async ({ tls }) => {
      shown.push(tls);
      throw new Error('asked');
    },
  };
  const cluster = etcdCluster({ tls: { client: { secretRef: { name: 'mine' } } } });
  expect(String(await sessionOf(cluster, io).call('10.0.0.1', 'maintenance/status', {}).catch(String))).toContain(
    words,
  );
  expect(shown.length).toBe(words === 'Error: asked' ? 1 : 0);
});
