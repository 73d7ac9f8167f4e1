/**
 * How a watch may end, and what the reflector does about it. Every story ends with the store equal to the server, and
 * with no more requests than the story needs.
 */
import { describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { errorLine, type Fault, statusBody } from '../support/misbehaving-server.ts';
import { reflect } from './reflection.ts';

describe('a watch that ends is resumed where it was', () => {
  const stories: [string, Fault, { readonly cause: string; readonly pause?: number }][] = [
    ['an orderly end after one event', { at: 'initial', end: 'clean', after: 4 }, { cause: 'ended-early' }],
    ['a reset between two lines', { at: 'initial', end: 'reset', after: 4 }, { cause: 'connection-lost' }],
    ['a reset in the middle of a line', { at: 'initial', end: 'mid-line', after: 3 }, { cause: 'connection-lost' }],
    ['ERROR 500', { at: 'initial', line: errorLine(500), after: 4 }, { cause: 'refused' }],
    [
      'ERROR 429 that asks for seven seconds',
      { at: 'initial', line: errorLine(429, { details: { retryAfterSeconds: 7 } }), after: 4 },
      { cause: 'refused', pause: 7350 },
    ],
    ['a line that is not JSON', { at: 'initial', line: '<html>Bad Gateway</html>', after: 4 }, { cause: 'garbled' }],
    ['an event without an object', { at: 'initial', line: '{"type":"ADDED"}', after: 4 }, { cause: 'garbled' }],
    [
      'an event of an unknown type',
      { at: 'initial', line: '{"type":"MOVED","object":{}}', after: 4 },
      { cause: 'garbled' },
    ],
  ];
  it.each(stories)('%s', async (_name, fault, { cause, pause = 800 }) => {
    const r = await reflect((server) => {
      server.model.put('a');
      server.model.put('b');
      server.fault(fault);
    });
    await r.inSync();
    const lastSent = r.server.model.put('c', 'seen before the end, or not').metadata.resourceVersion;
    expect(await r.pause()).toBeCloseTo(pause, -2);
    r.server.model.put('a', 'changed in the gap');
    r.server.model.delete('b');
    await r.clock.advance(pause);
    await r.inSync();
    expect(r.ends).toEqual([cause]);
    expect([r.server.count('initial'), r.server.count('watch'), r.server.count('list')]).toEqual([1, 1, 0]);
    const from = cause === 'connection-lost' ? expect.any(String) : lastSent;
    expect(r.server.requests[1]?.query.resourceVersion).toEqual(from);
  });
});

describe('a refused watch', () => {
  const tooNew = { reason: 'Timeout', details: { causes: [{ reason: 'ResourceVersionTooLarge' }] } };
  const stories: [string, Fault, number][] = [
    ['503', { at: 'watch', status: 503 }, 1600],
    ['500 without a Status', { at: 'watch', status: 500, body: 'oops' }, 1600],
    ['429 without Retry-After', { at: 'watch', status: 429 }, 1600],
    ['429 with Retry-After', { at: 'watch', status: 429, headers: { 'retry-after': '20' } }, 21_000],
    ['504 because the server has not got that far', { at: 'watch', status: 504, body: statusBody(504, tooNew) }, 1600],
    ['401', { at: 'watch', status: 401 }, 1600],
    ['a connection that dies before any answer', { at: 'watch', drop: true }, 1600],
  ];
  it.each(stories)('%s: waits, then resumes', async (_name, fault, pause) => {
    const r = await reflect((server) => {
      server.model.put('a');
      server.fault({ at: 'initial', end: 'reset', after: 2 });
      server.fault(fault);
    });
    await r.skipPause();
    expect(await r.pause()).toBeCloseTo(pause, -1);
    r.server.model.put('b');
    await r.clock.advance(pause);
    await r.inSync();
    expect(r.server.requests.map(({ kind }) => kind)).toEqual(['initial', 'watch', 'watch']);
  });

  it('three times in a row costs a new complete set', async () => {
    const r = await reflect((server) => {
      server.model.put('a');
      server.fault({ at: 'initial', end: 'reset', after: 2 });
      server.fault({ at: 'watch', status: 500 }, 3);
    });
    const pauses = [];
    for (let i = 0; i < 4; i++) pauses.push(await r.skipPause());
    await r.inSync();
    expect(r.server.requests.map(({ kind }) => kind)).toEqual(['initial', 'watch', 'watch', 'watch', 'initial']);
    expect(pauses.map(Math.round)).toEqual([800, 1600, 3200, 6400]);
  });

  it('and another, with progress between them, cost none', async () => {
    const r = await reflect((server) => {
      server.model.put('a');
      server.fault({ at: 'initial', end: 'reset', after: 2 });
      for (let i = 0; i < 3; i++) {
        server.fault({ at: 'watch', status: 500 }, 2);
        server.fault({ at: 'watch', end: 'clean', after: 1 });
      }
    });
    for (let i = 0; i < 10; i++) {
      r.server.model.put('a', `change ${i}`);
      await r.skipPause();
    }
    await r.inSync();
    expect([r.server.count('initial'), r.server.unusedFaults]).toEqual([1, 0]);
  });

  it('a server that cannot be reached costs no new set, however often', async () => {
    const r = await reflect((server) => {
      server.model.put('a');
      server.fault({ at: 'initial', end: 'reset', after: 2 });
      server.fault({ at: 'watch', drop: true }, 5);
    });
    for (let i = 0; i < 6; i++) await r.skipPause();
    await r.inSync();
    expect(r.server.count('initial')).toBe(1);
  });
});

describe('a server that ends every watch at once', () => {
  it('is not hammered: distances double up to 30 s, and events still arrive', async () => {
    const r = await reflect((server) => {
      server.model.put('a');
      server.fault({ at: 'initial', end: 'clean', after: 2 });
      server.fault({ at: 'watch', end: 'clean', after: 0 }, 8);
    });
    const pauses = [];
    for (let i = 0; i < 9; i++) {
      r.server.model.put('a', `change ${i}`);
      pauses.push(Math.round(await r.skipPause()));
    }
    expect(pauses).toEqual([800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000, 30_000]);
    await r.inSync();
    expect(r.server.count('initial')).toBe(1);
  });

  it('after two healthy minutes an end is followed at once, and the delays start anew', async () => {
    const r = await reflect((server) => {
      server.model.put('a');
      server.fault({ at: 'initial', end: 'reset', after: 2 });
      server.fault({ at: 'watch', end: 'reset', after: 0 }, 2);
    });
    for (let i = 0; i < 3; i++) await r.skipPause();
    await r.inSync();
    await r.clock.advance(119_000);
    r.server.bookmark();
    await r.clock.advance(1000);
    r.server.fault({ at: 'watch', end: 'clean', after: 0 });
    r.server.endWatches();
    expect(await r.pause()).toBeCloseTo(800, -1);
    expect(r.ends.slice(3)).toEqual(['ended', 'ended-early']);
  });

  it('a watch that lived longer than its delay is reopened at once', async () => {
    const r = await reflect((server) => server.model.put('a'));
    await r.inSync();
    await r.clock.advance(60_000);
    r.server.endWatches();
    await r.inSync();
    expect([r.server.count('watch'), r.ends]).toEqual([1, ['ended-early']]);
  });
});

describe('silence', () => {
  it('a hang without a FIN is noticed at the time-out of the watch plus 30 s, and nothing is listed again', async () => {
    const r = await reflect((server) => {
      server.model.put('a');
      server.fault({ at: 'initial', end: 'hang', after: 3 });
    });
    await r.inSync();
    r.server.model.put('b');
    r.server.model.put('c', 'never arrives on the dead connection');
    const timeoutSeconds = Number(r.server.requests[0]?.query.timeoutSeconds);
    expect(timeoutSeconds).toBeGreaterThanOrEqual(300);
    expect(timeoutSeconds).toBeLessThanOrEqual(600);
    await r.clock.advance((timeoutSeconds + 29) * 1000);
    expect(r.ends).toEqual([]);
    await r.clock.advance(1000);
    await r.inSync();
    expect([r.ends, r.server.count('initial'), r.server.count('watch')]).toEqual([['silent'], 1, 1]);
  });

  it('a server that sent bookmarks and stops is given up after two and a half minutes', async () => {
    const r = await reflect((server) => server.model.put('a'));
    await r.inSync();
    r.server.bookmark();
    await eventually(() => (r.clock.pending[0] ?? 0) <= 150_000);
    await r.clock.advance(149_000);
    expect(r.ends).toEqual([]);
    await r.clock.advance(1000);
    await r.inSync();
    expect(r.ends).toEqual(['silent']);
  });

  it('ten minutes of nothing but bookmarks are no silence, and the last one is where a resume starts', async () => {
    const r = await reflect((server) => server.model.put('a'));
    await r.inSync();
    for (let minute = 0; minute < 10; minute++) {
      r.server.model.version++;
      r.server.bookmark();
      await r.clock.advance(60_000);
    }
    expect([r.ends, r.server.requests.length]).toEqual([[], 1]);
    r.server.model.compact();
    r.server.endWatches();
    await r.inSync();
    expect(r.server.requests[1]?.query.resourceVersion).toBe(String(r.server.model.version));
    expect(r.server.requests.length).toBe(2);
  });

  it('a watch of full length without one bookmark is not believed: the server may not have got as far as we', async () => {
    const r = await reflect((server) => server.model.put('a'));
    await r.inSync();
    r.server.endWatches();
    await r.skipPause();
    await eventually(() => r.server.openWatches === 1 && r.reflector.connected);
    await r.clock.advance(400_000);
    r.server.endWatches();
    await eventually(() => r.server.requests.length === 3);
    expect([r.ends, r.server.requests[2]?.kind]).toEqual([['ended-early', 'mute'], 'initial']);
    await r.inSync();
  });
});
