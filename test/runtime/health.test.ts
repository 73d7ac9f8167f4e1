import { expect, it, onTestFinished } from 'vitest';
import { type HealthOptions, startHealthServer } from '../../src/runtime/health.ts';
import { createMetrics } from '../../src/runtime/metrics.ts';

async function serve(options: Partial<HealthOptions>) {
  const server = await startHealthServer({ port: 0, host: '127.0.0.1', live: {}, ready: {}, ...options });
  onTestFinished(() => server.close());
  return async (path: string, init?: RequestInit) => {
    const response = await fetch(`http://127.0.0.1:${server.port}${path}`, init);
    return { status: response.status, type: response.headers.get('content-type'), text: await response.text() };
  };
}

it('answers for the checks of the moment', async () => {
  let synced = false;
  const get = await serve({
    live: { loop: () => undefined },
    ready: {
      caches: () => (synced ? undefined : 'pods have not been listed'),
      api: async () => {
        if (!synced) throw new Error('no answer');
        return undefined;
      },
    },
  });
  expect(await get('/healthz')).toMatchObject({ status: 200, text: '[+] loop\nok\n' });
  const notReady = '[-] caches: pods have not been listed\n[-] api: no answer\nfailed\n';
  expect(await get('/readyz?verbose')).toMatchObject({ status: 503, text: notReady });
  synced = true;
  expect(await get('/readyz')).toMatchObject({ status: 200, text: '[+] caches\n[+] api\nok\n' });
});

it('serves the metrics, the process included', async () => {
  const metrics = createMetrics({ process: true });
  metrics.reconciles.inc({ kind: 'RedisCluster', outcome: 'done' });
  const get = await serve({ metrics });
  const { status, type, text } = await get('/metrics');
  expect([status, type]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
  expect(text).toContain('clusterwright_reconcile_total{kind="RedisCluster",outcome="done"} 1');
  expect(text).toMatch(/^nodejs_eventloop_lag_p99_seconds \d/m);
  expect(text).toMatch(/^process_resident_memory_bytes \d/m);
});

it('shows nothing else, and changes nothing', async () => {
  const get = await serve({});
  expect((await get('/')).status).toBe(404);
  expect((await get('/metrics')).status).toBe(404);
  expect((await get('/healthz', { method: 'POST' })).status).toBe(405);
});

it('a port that is taken is an error', async () => {
  const first = await startHealthServer({ port: 0, host: '127.0.0.1', live: {}, ready: {} });
  onTestFinished(() => first.close());
  await expect(serve({ port: first.port })).rejects.toThrow('EADDRINUSE');
});
