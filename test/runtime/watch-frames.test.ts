/** What comes through an open watch, however it is cut up, repeated or outdated. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeWatch, GarbledWatch, type WatchEvent } from '../../src/runtime/watch.ts';
import { createLineSplitter, LineTooLong } from '../../src/system/line-splitter.ts';
import { eventually } from '../support/eventually.ts';
import { reflect } from './reflection.ts';

const event = (type: string, name: string, value = ''): string =>
  JSON.stringify({ type, object: { kind: 'ConfigMap', metadata: { name, resourceVersion: '1' }, data: { value } } });

async function decode(chunks: readonly Uint8Array[], maxLineBytes?: number): Promise<WatchEvent[]> {
  async function* stream(): AsyncGenerator<Uint8Array> {
    yield* chunks;
  }
  const events: WatchEvent[] = [];
  for await (const event of decodeWatch(stream(), maxLineBytes)) events.push(event);
  return events;
}

describe('frames', () => {
  const text = `${event('ADDED', 'a', 'Zürich 東京 🚀')}\n${event('DELETED', 'b')}\n`;
  const bytes = Buffer.from(text);

  it('split at every byte offset, also inside a character, decode to the same events', async () => {
    const whole = await decode([bytes]);
    expect(whole.map(({ type }) => type)).toEqual(['ADDED', 'DELETED']);
    for (let at = 0; at <= bytes.length; at++) {
      expect(await decode([bytes.subarray(0, at), bytes.subarray(at)])).toEqual(whole);
    }
  });

  it('any cutting of any lines gives those lines', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.string({ unit: 'binary' }).map((line) => line.replaceAll('\n', '')),
          { maxLength: 6 },
        ),
        fc.array(fc.nat(200), { maxLength: 30 }),
        (lines, cuts) => {
          const all = Buffer.from(lines.map((line) => `${line}\n`).join(''));
          const splitter = createLineSplitter();
          const found: string[] = [];
          let start = 0;
          for (const cut of [...cuts, all.length]) {
            found.push(...splitter.push(all.subarray(start, start + cut)));
            start += cut;
          }
          expect(found).toEqual(
            Buffer.from(lines.join('\n'))
              .toString()
              .split('\n')
              .filter((line) => line.trim() !== ''),
          );
        },
      ),
    );
  });

  it('two events in one chunk are two events, and half a line at the end is none', async () => {
    const events = await decode([
      Buffer.from(`${event('ADDED', 'a')}\n\n${event('ADDED', 'b')}\n${event('ADDED', 'c')}`),
    ]);
    expect(events.length).toBe(2);
  });

  it('a line of several megabytes is an event, one beyond the limit an error', async () => {
    const big = Buffer.from(`${event('ADDED', 'a', 'x'.repeat(3_000_000))}\n`);
    const chunks = Array.from({ length: Math.ceil(big.length / 65_536) }, (_, i) =>
      big.subarray(i * 65_536, (i + 1) * 65_536),
    );
    expect((await decode(chunks)).length).toBe(1);
    await expect(decode(chunks, 1_000_000)).rejects.toThrow(LineTooLong);
  });

  it.each([
    'not JSON',
    'null',
    '[]',
    '{"type":"ADDED","object":{"metadata":{"name":"a"}}}',
    '{"type":"NEW","object":{}}',
  ])('%s is refused', async (line) => {
    await expect(decode([Buffer.from(`${line}\n`)])).rejects.toThrow(GarbledWatch);
  });

  it('over the wire, one byte a chunk', async () => {
    const r = await reflect((server) => {
      server.behaviour.chunkBytes = 1;
      server.model.put('a', 'Zürich 東京 🚀');
    });
    await r.inSync();
    r.server.model.put('a', '🚀 again');
    await r.inSync();
    expect(r.ends).toEqual([]);
  });

  it('over the wire, an object of two megabytes, which is kept in outline', async () => {
    const r = await reflect((server) => server.model.put('big', 'ü'.repeat(1_000_000)));
    const outlines = (): string[] => r.server.model.summary.map((line) => line.replace(/=.*/, '=undefined'));
    await eventually(() => r.summary.length === 1 && r.summary[0] === outlines()[0]);
    r.server.model.put('big', 'é'.repeat(1_000_000));
    await eventually(() => r.summary[0] === outlines()[0]);
    expect(r.ends).toEqual([]);
  });
});

describe('old news', () => {
  it('repeated events change nothing and are reported once', async () => {
    const r = await reflect((server) => {
      server.model.put('a', '1');
      server.model.put('b', '1');
      server.fault({ at: 'initial', end: 'reset', after: 6 });
      server.fault({ at: 'watch', replay: 5 });
    });
    await r.inSync();
    r.server.model.put('a', '2');
    r.server.model.delete('b');
    r.server.model.put('b', 'reborn');
    await r.skipPause();
    await r.inSync();
    expect(r.changes.map(({ type, object }) => `${type} ${object.metadata.name}/${object.metadata.uid}`)).toEqual([
      'added a/uid-1',
      'added b/uid-2',
      'updated a/uid-1',
      'deleted b/uid-2',
      'added b/uid-3',
    ]);
  });

  it('a delete that only the gap saw is made up for when the name lives again', async () => {
    const r = await reflect((server) => server.model.put('a', 'first'));
    await r.inSync();
    const { metadata } = r.server.model.put('b');
    await r.inSync();
    // The DELETED event is lost, the name comes back with another uid.
    const reborn = { ...metadata, uid: 'uid-new', resourceVersion: String(++r.server.model.version) };
    r.server.say(JSON.stringify({ type: 'ADDED', object: { kind: 'ConfigMap', metadata: reborn } }));
    await eventually(() => r.store.get(reborn)?.metadata.uid === 'uid-new');
    expect(r.changes.slice(2).map(({ type, object }) => `${type} ${object.metadata.uid}`)).toEqual([
      `deleted ${metadata.uid}`,
      'added uid-new',
    ]);
  });

  it('a listener that throws is logged and counted, and holds up neither the others nor the watch', async () => {
    const r = await reflect((server) => server.model.put('a'));
    r.store.subscribe(() => {
      throw new Error('listener broke');
    });
    const seen: string[] = [];
    r.store.subscribe(({ object }) => seen.push(object.metadata.name));
    await r.inSync();
    r.server.model.put('b');
    await r.inSync();
    expect(seen).toEqual(['a', 'b']);
    expect(r.log.entries.filter(({ message }) => message === 'a change listener threw').length).toBe(2);
    expect(await r.metrics.text()).toContain('clusterwright_store_handler_errors_total{resource="configmaps"} 2');
  });
});
