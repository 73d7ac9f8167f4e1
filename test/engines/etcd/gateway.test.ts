import { expect, it } from 'vitest';
import type { EngineContext } from '../../../src/engine/engine-context.ts';
import { callEtcd } from '../../../src/engines/etcd/client/gateway.ts';

/** What a call comes to where the member answers with this. */
async function called(status: number, body: string): Promise<unknown> {
  const signal = new AbortController().signal;
  const io: EngineContext = {
    dial: () => Promise.reject(new Error('not dialled')),
    exchange: async () => ({ status, body }),
    secret: async () => undefined,
    secretNow: () => Promise.resolve(undefined),
    secretRefused: () => undefined,
    secretOutdated: () => undefined,
    serviceAccount: () => Promise.resolve(undefined),
    claim: async () => undefined,
    signal,
    now: () => 0,
    sleep: (_, also) => new Promise((_, reject) => also?.addEventListener('abort', () => reject(also.reason))),
  };
  return callEtcd(io, '10.0.0.1', 'maintenance/status', {}).catch(String);
}

it.each<readonly [story: string, status: number, body: string, refusal: string]>([
  ['a text that is too long', 200, JSON.stringify({ a: { b: ['x'.repeat(2049)] } }), 'with a text that is too long'],
  [
    'a text of escapes that is too long',
    200,
    JSON.stringify({ a: '"\n'.repeat(2000) }),
    'with a text that is too long',
  ],
  ['no JSON', 200, 'x'.repeat(60_000), 'with status 200: xxx'],
  ['JSON without an object', 200, '[['.repeat(20_000) + ']]'.repeat(20_000), 'answered'],
  ['a refusal that is too long', 500, JSON.stringify({ code: 2, message: 'x'.repeat(60_000) }), 'EtcdRefusal: xxx'],
])('%s is an error of few words', async (_, status, body, refusal) => {
  const said = String(await called(status, body));
  expect(said).toContain(refusal);
  expect(said.length).toBeLessThan(1100);
});

it('a text as long as any of etcd is passed on', async () => {
  expect(await called(200, JSON.stringify({ token: 'x'.repeat(2000) }))).toEqual({ token: 'x'.repeat(2000) });
});
