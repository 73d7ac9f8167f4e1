/** How the reflector gets a complete set, at first and when it has lost its place. */
import { describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { errorLine, statusBody } from '../support/misbehaving-server.ts';
import { reflect } from './reflection.ts';

const kinds = (r: { readonly server: { readonly requests: readonly { readonly kind: string }[] } }): string[] =>
  r.server.requests.map(({ kind }) => kind);

describe('the first complete set', () => {
  it('comes by initial events, in one request, which then goes on as the watch', async () => {
    const r = await reflect((server) => {
      for (const name of ['a', 'b', 'c']) server.model.put(name);
    });
    await r.inSync();
    r.server.model.put('d');
    await r.inSync();
    expect(kinds(r)).toEqual(['initial']);
    expect(r.server.requests[0]?.query).toMatchObject({
      watch: 'true',
      sendInitialEvents: 'true',
      resourceVersionMatch: 'NotOlderThan',
      allowWatchBookmarks: 'true',
    });
    expect(r.changes.map(({ type, object, origin }) => `${type} ${object.metadata.name} by ${origin}`)).toEqual([
      'added a by list',
      'added b by list',
      'added c by list',
      'added d by watch',
    ]);
  });

  it.each([400, 422] as const)('comes by pages when initial events are refused with %i', async (refusal) => {
    const r = await reflect((server) => {
      server.behaviour.initialEvents = false;
      server.behaviour.refusal = refusal;
      for (let i = 0; i < 1201; i++) server.model.put(`object-${i}`);
    });
    await r.inSync();
    expect(kinds(r)).toEqual(['initial', 'list', 'page', 'page', 'watch']);
    expect(r.server.requests[1]?.query).toEqual({ limit: '500' });
    expect(r.store.size).toBe(1201);
    expect(r.store.get({ namespace: 'test', name: 'object-7' })).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap' });
  });

  it('comes by pages when the server does not know initial events and never ends them', async () => {
    const r = await reflect((server) => {
      server.behaviour.initialEvents = 'ignored';
      server.model.put('a');
    });
    await eventually(() => r.server.openWatches === 1 && r.reflector.connected);
    expect(r.store.hasSynced).toBe(false);
    await r.clock.advance(15_000);
    await r.inSync();
    expect(kinds(r)).toEqual(['initial', 'list', 'watch']);
  });

  it('starts over in one piece when it expires between two pages', async () => {
    const r = await reflect((server) => {
      server.behaviour.initialEvents = false;
      for (let i = 0; i < 1201; i++) server.model.put(`object-${i}`);
      server.fault({ at: 'page', status: 410, body: statusBody(410, { reason: 'Expired' }) });
      server.behaviour.before = ({ kind }) => {
        if (kind === 'page') server.model.delete('object-0');
      };
    });
    await r.inSync();
    expect(kinds(r)).toEqual(['initial', 'list', 'page', 'list', 'watch']);
    expect(r.server.requests[3]?.query).toEqual({});
  });

  it('is not shown before it is complete', async () => {
    const r = await reflect((server) => {
      for (const name of ['a', 'b', 'c']) server.model.put(name);
      server.fault({ at: 'initial', end: 'reset', after: 2 });
    });
    const pause = await r.pause();
    expect([r.store.size, r.store.hasSynced, r.changes]).toEqual([0, false, []]);
    await r.clock.advance(pause);
    await r.inSync();
    expect(kinds(r)).toEqual(['initial', 'initial']);
  });

  it.each([
    ['429 with Retry-After', { at: 'list', status: 429, headers: { 'retry-after': '3' } }, 3500],
    ['429 without', { at: 'list', status: 429 }, 100],
    ['503', { at: 'list', status: 503 }, 100],
    ['a dropped connection', { at: 'list', drop: true }, 100],
  ] as const)('survives %s on the list', async (_name, fault, delay) => {
    const r = await reflect((server) => {
      server.behaviour.initialEvents = false;
      server.model.put('a');
      server.fault(fault);
    });
    await eventually(() => r.server.count('list') === 1 && r.clock.pending.length === 1);
    expect(r.clock.pending).toEqual([delay]);
    await r.clock.advance(delay);
    await r.inSync();
  });
});

describe('a lost place', () => {
  it.each(['status', 'event'] as const)(
    '410 as %s: lists again and reports the deletes that were missed',
    async (goneAs) => {
      const r = await reflect((server) => {
        server.behaviour.goneAs = goneAs;
        for (const name of ['kept', 'changed', 'deleted', 'reborn']) server.model.put(name);
        server.fault({ at: 'initial', end: 'reset', after: 5 });
      });
      const pause = await r.pause();
      r.changes.length = 0;
      r.server.model.put('changed', 'new');
      r.server.model.delete('deleted');
      r.server.model.recreate('reborn');
      r.server.model.put('born');
      r.server.model.compact();
      await r.clock.advance(pause);
      await r.skipPause();
      await r.inSync();
      expect(r.ends).toEqual(['connection-lost', 'expired']);
      expect(kinds(r)).toEqual(['initial', 'watch', 'initial']);
      expect(r.changes.map(({ type, object }) => `${type} ${object.metadata.name} ${object.metadata.uid}`)).toEqual([
        'updated changed uid-2',
        'deleted deleted uid-3',
        'deleted reborn uid-4',
        'added reborn uid-5',
        'added born uid-6',
      ]);
    },
  );

  it('a server that forgets at once is not hammered with lists', async () => {
    const r = await reflect((server) => {
      server.behaviour.initialEvents = false;
      server.model.put('a');
      server.fault({ at: 'watch', status: 410 }, 6);
    });
    const pauses = [];
    for (let i = 0; i < 6; i++) pauses.push(Math.round(await r.skipPause()));
    await r.inSync();
    expect(pauses).toEqual([800, 1600, 3200, 6400, 12_800, 25_600]);
    expect(r.server.count('list')).toBe(7);
  });

  it('a history that was rewritten ends in the new truth', async () => {
    const r = await reflect((server) => {
      for (const name of ['a', 'b']) server.model.put(name);
      server.model.version = 5000;
      server.model.put('future');
    });
    await r.inSync();
    // Restored from a backup: lower versions, an object gone, and the version we know lies in the future.
    r.server.model.delete('future');
    await r.inSync();
    r.server.model.version = 200;
    r.server.model.put('b', 'restored');
    r.server.fault({ at: 'watch', status: 504, body: statusBody(504, { message: 'Too large resource version' }) }, 3);
    r.server.say(errorLine(500));
    for (let i = 0; i < 3; i++) await r.skipPause();
    await r.inSync();
    expect(r.server.count('initial')).toBe(2);
    expect(r.store.get({ namespace: 'test', name: 'b' })).toMatchObject({ data: { value: 'restored' } });
  });
});
