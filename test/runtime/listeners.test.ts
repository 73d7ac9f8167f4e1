import { describe, expect, it } from 'vitest';
import type { Cluster } from '../../src/api/cluster.ts';
import type { KindHandler } from '../../src/engine/engine.ts';
import type { EngineContext } from '../../src/engine/engine-context.ts';
import { childrenOf, noChildren } from '../../src/resources/children.ts';
import { createSecretReader, engineIO } from '../../src/runtime/engine-context.ts';
import { createListeners } from '../../src/runtime/listeners.ts';
import { blankAccounts, blankClaims } from '../support/blank-claims.ts';
import { FakeApi } from '../support/fake-api.ts';
import { RecordingLog } from '../support/recording-log.ts';
import { testCluster, testEngine } from '../support/test-engine.ts';
import { turn, VirtualClock } from '../support/virtual-clock.ts';

interface Ear {
  readonly endpoint: string;
  readonly cluster: Cluster<unknown>;
  readonly io: EngineContext;
  readonly changed: () => void;
  readonly end: () => void;
  readonly fail: (error: Error) => void;
}

function setup() {
  const clock = new VirtualClock();
  const log = new RecordingLog();
  const ears: Ear[] = [];
  const changes: string[] = [];
  const secrets = createSecretReader({ client: new FakeApi().client(clock), clock, onValue: () => undefined });
  const refuse = (): Promise<never> => Promise.reject(new Error('nobody is dialled'));
  const listeners = createListeners({
    clock,
    log,
    io: (cluster, signal) =>
      engineIO({
        namespace: cluster.metadata.namespace,
        secrets,
        claims: blankClaims,
        accounts: blankAccounts,
        dial: refuse,
        clock,
        signal,
      }),
    changed: (key) => changes.push(key),
  });
  const listener: KindHandler['listener'] & {} = {
    endpoints: (children) => children.pods.map(({ metadata }) => metadata.name),
    listen: (endpoint, cluster, io, changed) =>
      new Promise<void>((resolve, reject) => {
        ears.push({ endpoint, cluster, io, changed, end: resolve, fail: reject });
        io.signal.addEventListener('abort', () => resolve(), { once: true });
      }),
  };
  const engine = testEngine({ listener });
  const cluster = testCluster('db') as Cluster;
  const follow = (...pods: readonly string[]): void => {
    const objects = pods.map((name) => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name } }));
    listeners.follow('test/apps/db', engine, cluster, childrenOf(objects));
  };
  const open = (): string[] => ears.filter(({ io }) => !io.signal.aborted).map(({ endpoint }) => endpoint);
  return { clock, log, ears, changes, listeners, engine, cluster, follow, open };
}

describe('listeners', () => {
  it('are open to the processes there are, one each', () => {
    const { follow, open } = setup();
    follow('s-0', 's-1');
    follow('s-0', 's-1');
    expect(open()).toEqual(['s-0', 's-1']);
    follow('s-1', 's-2');
    expect(open()).toEqual(['s-1', 's-2']);
    follow();
    expect(open()).toEqual([]);
  });

  it('tell which cluster has changed', () => {
    const { follow, ears, changes } = setup();
    follow('s-0');
    ears[0]?.changed();
    expect(changes).toEqual(['test/apps/db']);
  });

  it.each(['end', 'fail'] as const)('that %s are opened again after a second', async (how) => {
    const { follow, ears, clock, log } = setup();
    follow('s-0');
    ears[0]?.[how](new Error('ECONNRESET'));
    await clock.advance(999);
    expect(ears.length).toBe(1);
    await clock.advance(1);
    expect(ears.length).toBe(2);
    expect(log.entries.map(({ level, message }) => `${level} ${message}`)).toEqual(
      how === 'fail' ? ['debug a listener ended'] : [],
    );
  });

  it('are opened again with the spec as it is by then: it may name another Secret', async () => {
    const { follow, ears, clock, listeners, engine } = setup();
    follow('s-0');
    const changed = testCluster('db', { auth: { secretRef: { name: 'another' } } }) as Cluster;
    const pods = childrenOf([{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 's-0' } }]);
    listeners.follow('test/apps/db', engine, changed, pods);
    expect(ears.length).toBe(1);
    ears[0]?.fail(new Error('authentication failed'));
    await clock.advance(1000);
    expect(ears.map(({ cluster }) => cluster)).toEqual([testCluster('db'), changed]);
  });

  it('are not opened again for a process that has gone', async () => {
    const { follow, ears, clock } = setup();
    follow('s-0');
    ears[0]?.end();
    await turn();
    follow();
    await clock.advance(10_000);
    expect([ears.length, clock.pending]).toEqual([1, []]);
  });

  it('of a cluster that is gone are closed, of all when the process ends', async () => {
    const { follow, open, listeners, engine, cluster, clock } = setup();
    follow('s-0');
    listeners.follow(
      'test/apps/other',
      engine,
      cluster,
      childrenOf([{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'o-0' } }]),
    );
    listeners.forget('test/apps/db');
    expect(open()).toEqual(['o-0']);
    listeners.closeAll();
    await clock.advance(10_000);
    expect([open(), clock.pending]).toEqual([[], []]);
  });

  it('are not asked of an engine that has none', () => {
    const { listeners, cluster, ears } = setup();
    listeners.follow('test/apps/db', testEngine(), cluster, noChildren);
    expect(ears).toEqual([]);
  });
});
