import { describe, expect, it } from 'vitest';
import type { KubeObject, ObjectRef } from '../../src/api/object.ts';
import { pods } from '../../src/api/resource.ts';
import { ApiError } from '../../src/runtime/api-error.ts';
import { createEventRecorder, type EventNote } from '../../src/runtime/event-recorder.ts';
import { createMetrics } from '../../src/runtime/metrics.ts';
import { RecordingLog } from '../support/recording-log.ts';
import { turn, VirtualClock } from '../support/virtual-clock.ts';

interface SeriesPatch {
  readonly series: { readonly count: number; readonly lastObservedTime: string };
}

function setup() {
  const clock = new VirtualClock();
  const metrics = createMetrics();
  const created: KubeObject[] = [];
  const patched: (SeriesPatch & { readonly name: string })[] = [];
  /** Each request waits for this. */
  const server = { answer: Promise.resolve(), failure: undefined as Error | undefined, forgets: false };
  const recorder = createEventRecorder({
    client: {
      async create(object) {
        await server.answer;
        if (server.failure !== undefined) throw server.failure;
        created.push(object);
        return object;
      },
      async mergePatch(ref: ObjectRef, body: object) {
        await server.answer;
        if (server.forgets) {
          throw new ApiError({ status: 404, reason: 'NotFound', message: 'gone', method: 'PATCH', path: '/' });
        }
        patched.push({ name: ref.name, ...(body as SeriesPatch) });
        return { apiVersion: '', kind: '', metadata: { name: ref.name } };
      },
    },
    clock,
    log: new RecordingLog(),
    metrics,
    controller: 'clusterwright.dev/controller',
    instance: 'operator-0',
  });
  const outcomes = async (outcome: string) =>
    Number(new RegExp(`events_total\\{outcome="${outcome}"\\} (\\d+)`).exec(await metrics.text())?.[1] ?? 0);
  return { clock, recorder, created, patched, server, outcomes };
}

const regarding = { resource: pods, namespace: 'apps', name: 'redis-0', uid: 'u' };
const note = (text: string, more: Partial<EventNote> = {}): EventNote => ({
  regarding,
  type: 'Normal',
  reason: 'FailoverDone',
  action: 'Failover',
  note: text,
  ...more,
});

describe('an event', () => {
  it('says what the API asks for', async () => {
    const { recorder, created } = setup();
    recorder.record(note('redis-1 is the primary', { related: { ...regarding, name: 'redis-1' } }));
    await turn();
    expect(created).toEqual([
      {
        apiVersion: 'events.k8s.io/v1',
        kind: 'Event',
        metadata: { name: expect.stringMatching(/^redis-0\.[0-9a-f]{16}$/), namespace: 'apps' },
        eventTime: '2030-01-01T00:00:00.000000Z',
        reportingController: 'clusterwright.dev/controller',
        reportingInstance: 'operator-0',
        action: 'Failover',
        reason: 'FailoverDone',
        type: 'Normal',
        note: 'redis-1 is the primary',
        regarding: { apiVersion: 'v1', kind: 'Pod', namespace: 'apps', name: 'redis-0', uid: 'u' },
        related: { apiVersion: 'v1', kind: 'Pod', namespace: 'apps', name: 'redis-1', uid: 'u' },
      },
    ]);
  });

  it('with a long note is cut at 1024 bytes, between two characters', async () => {
    const { recorder, created } = setup();
    recorder.record(note('ü'.repeat(2000)));
    await turn();
    expect(created[0]?.note).toBe(`${'ü'.repeat(510)}...`);
  });
});

describe('a series', () => {
  it('of the same event is counted and sent every half minute at most', async () => {
    const { clock, recorder, created, patched } = setup();
    for (let i = 0; i < 100; i++) {
      recorder.record(note('same'));
      await clock.advance(1000);
    }
    expect(created.length).toBe(1);
    expect(patched.map(({ series }) => series.count)).toEqual([31, 61, 91]);
    expect(patched.every(({ name }) => name === created[0]?.metadata.name)).toBe(true);
  });

  it('ends after six minutes of silence; what differs is another event', async () => {
    const { clock, recorder, created } = setup();
    recorder.record(note('one'));
    recorder.record(note('two'));
    recorder.record(note('one', { reason: 'Other' }));
    recorder.record(note('one', { type: 'Warning' }));
    recorder.record(note('one', { regarding: { ...regarding, uid: 'v' } }));
    await clock.advance(360_000);
    recorder.record(note('one'));
    await turn();
    expect(created.length).toBe(6);
    expect(new Set(created.map(({ metadata }) => metadata.name)).size).toBe(6);
  });

  it('that the server has forgotten is written anew, with its count', async () => {
    const { clock, recorder, created, server } = setup();
    recorder.record(note('same'));
    await turn();
    server.forgets = true;
    recorder.record(note('same'));
    await clock.advance(30_000);
    expect(created[1]).toMatchObject({ metadata: created[0]?.metadata, series: { count: 2 } });
  });
});

describe('the recorder', () => {
  it('survives a server that refuses', async () => {
    const { recorder, server, created, outcomes } = setup();
    server.failure = new Error('forbidden');
    recorder.record(note('one'));
    await turn();
    server.failure = undefined;
    recorder.record(note('two'));
    await turn();
    expect([created.length, await outcomes('failed'), await outcomes('sent')]).toEqual([1, 1, 1]);
  });

  it('drops what is too much about one object, and lets one through every five minutes', async () => {
    const { clock, recorder, created, outcomes } = setup();
    for (let i = 0; i < 40; i++) recorder.record(note(`note ${i}`));
    recorder.record(note('another object', { regarding: { ...regarding, name: 'redis-1' } }));
    await clock.advance(10);
    expect([created.length, await outcomes('dropped')]).toEqual([26, 15]);
    await clock.advance(300_000);
    recorder.record(note('later'));
    recorder.record(note('at once after it'));
    await turn();
    expect(created.length).toBe(27);
  });

  it('drops what is too much for a server that does not answer', async () => {
    const { recorder, server, outcomes } = setup();
    server.answer = new Promise(() => undefined);
    for (let i = 0; i < 1100; i++) recorder.record(note('x', { regarding: { ...regarding, name: `redis-${i}` } }));
    expect(await outcomes('dropped')).toBe(99);
  });

  it('drains: sends what is pending, counts included, and then nothing more', async () => {
    const { clock, recorder, created, patched } = setup();
    recorder.record(note('one'));
    await turn();
    recorder.record(note('one'));
    recorder.record(note('two'));
    await recorder.drain();
    expect([created.length, patched.map(({ series }) => series.count), clock.pending]).toEqual([2, [2], []]);
    recorder.record(note('three'));
    await turn();
    expect(created.length).toBe(2);
  });

  it('does not wait longer than it was told to', async () => {
    const { clock, recorder, server } = setup();
    server.answer = new Promise(() => undefined);
    recorder.record(note('one'));
    const drained = recorder.drain(1500);
    await clock.advance(1500);
    await drained;
  });
});
