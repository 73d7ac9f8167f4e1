/** The past of the simulated API server, and the wire to it: what no suite can ask of a real one. */
import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../../src/api/object.ts';
import { configMaps } from '../../../src/api/resource.ts';
import { sceneOn } from './conformance/scene.ts';
import { makeSet, namespace, type TinyWorld, tinyWorld } from './tiny-world.ts';

const path = `/api/v1/namespaces/${namespace}/configmaps`;

function configMap(name: string, value = ''): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data: { value } };
}

const sceneIn = ({ kubernetes, time }: TinyWorld) =>
  sceneOn({ transport: kubernetes.transport('reader'), clock: time, namespace, container: {}, patienceMs: 1000 });

/** Every seed gives the shape in which this is said. */
const seeds = [1, 2, 3, 4, 5, 6, 7, 8];

describe('a compacted history', () => {
  test('a watch from before it gets 410, as a status or as an event', async () => {
    const shapes = new Set<string>();
    for (const seed of seeds) {
      const world = tinyWorld(seed);
      const old = String(world.kubernetes.version);
      await world.run(world.client.create(configMap('a')));
      world.kubernetes.compact();
      const watch = await world.run(sceneIn(world).watch(path, { resourceVersion: old }));
      const said = { status: watch.status, frames: watch.frames };
      await world.time.advance(100);
      if (said.status === 200) {
        expect(watch.frames).toMatchObject([
          { type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } },
        ]);
      } else expect(said.status).toBe(410);
      shapes.add(`${said.status}`);
    }
    expect([...shapes].sort()).toEqual(['200', '410']);
  });

  test('a watch from now on, and one that runs already, go on', async () => {
    const world = tinyWorld(1);
    await world.run(world.client.create(configMap('a')));
    const scene = sceneIn(world);
    const running = await world.run(scene.watch(path, { resourceVersion: String(world.kubernetes.version) }));
    world.kubernetes.compact();
    const fresh = await world.run(scene.watch(path, { resourceVersion: String(world.kubernetes.version) }));
    await world.run(world.client.create(configMap('b')));
    for (const watch of [running, fresh]) expect(await world.run(watch.seen(1))).toEqual(['ADDED b']);
  });

  test('the next page of a list gets 410', async () => {
    const world = tinyWorld(1);
    for (const name of ['a', 'b', 'c']) await world.run(world.client.create(configMap(name)));
    const page = await world.run(world.client.list(configMaps, { namespace, limit: 2 }));
    await world.run(world.client.create(configMap('d')));
    world.kubernetes.compact();
    const next = world.run(world.client.list(configMaps, { namespace, limit: 2, continue: page.continue }));
    await expect(next).rejects.toMatchObject({ status: 410, reason: 'Expired' });
  });
});

describe('the past', () => {
  test('every object as it was at a version, asked in any order', async () => {
    const world = tinyWorld(1);
    const { kubernetes, client, run } = world;
    const names = (version: number): string[] =>
      kubernetes
        .objectsAt(version)
        .flatMap((object) =>
          object.kind === 'ConfigMap' ? [`${object.metadata.name}=${(object.data as { value: string }).value}`] : [],
        );
    const none = kubernetes.version;
    const made = await run(client.create(configMap('a', '1')));
    const one = kubernetes.version;
    await run(client.mergePatch({ resource: configMaps, namespace, name: 'a' }, { data: { value: '2' } }));
    const two = kubernetes.version;
    await run(client.remove({ resource: configMaps, namespace, name: 'a', uid: made.metadata.uid ?? '' }));
    const gone = kubernetes.version;
    for (const version of [two, none, gone, one]) {
      const expected = version === two ? ['a=2'] : version === one ? ['a=1'] : [];
      expect(names(version)).toEqual(expected);
    }
    expect(kubernetes.objectsAt(gone)).toHaveLength(kubernetes.objects().length);
  });

  test('the same seed gives the same history, another one another', async () => {
    const history = async (seed: number): Promise<string> => {
      const world = tinyWorld(seed);
      await makeSet(world);
      return JSON.stringify(world.kubernetes.commits.map(({ at, actor, after }) => [at, actor, after]));
    };
    const [first, second, other] = [await history(1), await history(1), await history(2)];
    expect(second).toBe(first);
    expect(other).not.toBe(first);
  });

  test('what is stored never changes', async () => {
    const world = tinyWorld(1);
    const texts = new Map<KubeObject, string>();
    world.kubernetes.onCommit(({ after }) => {
      if (after !== undefined) texts.set(after, JSON.stringify(after));
    });
    await makeSet(world);
    await world.run(world.kubernetes.deletePod(namespace, 'db-1'));
    await world.time.advance(30_000);
    expect(texts.size).toBeGreaterThan(40);
    for (const [object, text] of texts) expect(JSON.stringify(object)).toBe(text);
  });
});

describe('the wire', () => {
  test('a request that is given up before it arrives has no effect, one given up after it has', async () => {
    const effects = new Set<boolean>();
    for (const ms of [0.2, 2.5]) {
      const world = tinyWorld(3);
      const giveUp = new AbortController();
      const reason = new Error('given up');
      const request = world.client.create(configMap('a'), { signal: giveUp.signal });
      world.time.after(ms, () => giveUp.abort(reason));
      const outcome = await world.run(
        request.then(
          () => 'done',
          (error) => error,
        ),
      );
      const exists = world.find('ConfigMap', 'a') !== undefined;
      if (!exists) expect(outcome).toBe(reason);
      effects.add(exists);
    }
    expect([...effects].sort()).toEqual([false, true]);
  });

  test('closing it cuts what is open and takes nothing more', async () => {
    const world = tinyWorld(1);
    const transport = world.kubernetes.transport('reader');
    const watch = await world.run(transport.stream({ method: 'GET', path, query: { watch: 'true' } }));
    const reading = (async () => {
      for await (const _ of watch.body);
    })();
    const request = transport.request({ method: 'GET', path });
    await transport.close();
    for (const open of [reading, request]) await expect(open).rejects.toMatchObject({ code: 'ApiUnreachable' });
    await expect(transport.request({ method: 'GET', path })).rejects.toMatchObject({ maybeSent: false });
  });

  test('bookmarks come about once a minute and say how far it is', async () => {
    const world = tinyWorld(1);
    const watch = await world.run(sceneIn(world).watch(path, { allowWatchBookmarks: 'true', resourceVersion: '1000' }));
    await world.run(world.client.create(configMap('a')));
    await world.time.advance(300_000);
    const bookmarks = watch.frames.filter(({ type }) => type === 'BOOKMARK');
    expect(bookmarks.length).toBeGreaterThanOrEqual(4);
    expect(bookmarks.length).toBeLessThanOrEqual(6);
    expect(bookmarks.at(-1)?.object.metadata.resourceVersion).toBe(String(world.kubernetes.version));
  });

  test('names that a server makes up are refused: they would not come up again in another run', async () => {
    const world = tinyWorld(1);
    const object = { ...configMap('a'), metadata: { generateName: 'a-', namespace } };
    const answer = await world.run(sceneIn(world).call('POST', path, { body: object }));
    expect(answer.status).toBe(422);
  });
});
