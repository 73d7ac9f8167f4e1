/** A single node that does not answer for a few seconds, and an edit of its Secret meanwhile: who tells the operator? */
import { expect, it } from 'vitest';
import type { ListenerMemory } from '../../../src/engine/engine.ts';
import { listenToDataNode } from '../../../src/engines/redis/observe/listen.ts';
import { createSecretReader, engineIO } from '../../../src/runtime/engine-context.ts';
import { createListeners } from '../../../src/runtime/listeners.ts';
import { blankAccounts, blankClaims } from '../../support/blank-claims.ts';
import { FakeApi } from '../../support/fake-api.ts';
import { redisWorld } from '../../support/redis-situation.ts';
import { hang, info, scriptedNetwork } from '../../support/scripted-redis.ts';

it.each([[0], [8000]])('an edit is reported within a minute where the only node is slow for %d ms', async (slowMs) => {
  const { cluster, children } = redisWorld({ spec: { mode: 'Standalone', replicas: 1 } });
  let isSlow = false;
  const network = scriptedNetwork({
    processes: {
      '10.0.0.0:6379': (command) => (isSlow ? hang : command.startsWith('INFO') ? info({ role: 'master' }) : 'OK'),
    },
  });
  const { clock } = network;
  const api = new FakeApi();
  const put = (name: string, password: string): void => {
    const labels = { 'app.kubernetes.io/managed-by': 'clusterwright', 'app.kubernetes.io/instance': 'db' };
    const data = { password: Buffer.from(password).toString('base64') };
    api.put({ apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: 'apps', labels }, data });
  };
  put('db-auth', 'old');
  put('db-internal', 'own');
  const reader = createSecretReader({ client: api.client(clock), clock, onValue: () => undefined });
  let reports = 0;
  const listeners = createListeners({
    clock,
    log: { debug: () => undefined } as never,
    changed: () => {
      reports++;
    },
    io: (_, signal) => {
      const { secret, secretRefused, secretOutdated, sleep } = engineIO({
        ...{ namespace: 'apps', secrets: reader, claims: blankClaims, accounts: blankAccounts, clock, signal },
        dial: () => Promise.reject(new Error('by the network')),
      });
      return { ...network.io, secret, secretRefused, secretOutdated, sleep };
    },
  });
  const engine = {
    listener: {
      endpoints: () => ['data/10.0.0.0'],
      listen: (_: string, own: typeof cluster, io: never, changed: () => void, memory: ListenerMemory) =>
        listenToDataNode('10.0.0.0', own, io, changed, memory),
    },
  };
  listeners.follow('apps/db' as never, engine as never, cluster, children);
  const pass = async (ms: number): Promise<void> => {
    for (let at = 0; at < ms; at += 50) await clock.advance(50);
  };
  await pass(34_000);
  expect(reports).toBe(0);
  put('db-auth', 'new');
  isSlow = slowMs > 0;
  await pass(slowMs);
  isSlow = false;
  await pass(120_000);
  listeners.closeAll();
  expect(reports).toBeGreaterThan(0);
});
