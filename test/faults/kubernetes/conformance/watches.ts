/** Watches: what is sent, in which order, from where, and when it ends. */
import { expect } from 'vitest';
import { type ConformanceCase, configMap, made, ours, pathIn, type Scene } from './conformance-case.ts';

function label(scene: Scene, name: string, value: string | null): Promise<unknown> {
  const body = { metadata: { labels: { x: value } } };
  return scene.call('PATCH', pathIn(scene, 'configmaps', name), { type: 'merge', body });
}

const initial = {
  sendInitialEvents: 'true',
  resourceVersionMatch: 'NotOlderThan',
  allowWatchBookmarks: 'true',
} as const;

export const watchCases: readonly ConformanceCase[] = [
  {
    story: 'every change of an object, in order, from a version on',
    async play(scene) {
      const first = await made(scene, 'configmaps', configMap('a'));
      const { resourceVersion = '' } = first.metadata;
      await label(scene, 'a', '1');
      const watch = await scene.watch(pathIn(scene, 'configmaps'), { resourceVersion, fieldSelector: ours });
      await label(scene, 'a', '2');
      await scene.call('DELETE', pathIn(scene, 'configmaps', 'a'));
      expect(await watch.seen(3)).toEqual(['MODIFIED a', 'MODIFIED a', 'DELETED a']);
      const versions = watch.frames.map(({ object }) => Number(object.metadata.resourceVersion));
      expect(versions).toEqual([...versions].sort((a, b) => a - b));
      expect(new Set(versions).size).toBe(3);
      watch.close();
    },
  },
  {
    story: 'the end of an object comes with its last state and a new version',
    async play(scene) {
      const first = await made(scene, 'configmaps', configMap('a'));
      const watch = await scene.watch(pathIn(scene, 'configmaps'), {
        resourceVersion: first.metadata.resourceVersion ?? '',
        fieldSelector: ours,
      });
      await scene.call('DELETE', pathIn(scene, 'configmaps', 'a'));
      await watch.seen(1);
      expect(watch.frames[0]?.object).toMatchObject({ data: { key: 'value' } });
      expect(Number(watch.frames[0]?.object.metadata.resourceVersion)).toBeGreaterThan(
        Number(first.metadata.resourceVersion),
      );
      watch.close();
    },
  },
  {
    story: 'what exists first, then a bookmark that says so, then what changes',
    async play(scene) {
      await made(scene, 'configmaps', configMap('b'));
      const last = await made(scene, 'configmaps', configMap('a'));
      const watch = await scene.watch(pathIn(scene, 'configmaps'), { ...initial, fieldSelector: ours });
      const end = await scene.until('the end of the initial events', () => {
        const bookmark = watch.frames.find(({ type }) => type === 'BOOKMARK');
        if (bookmark === undefined) throw new Error('no bookmark yet');
        return bookmark;
      });
      expect(end.object.metadata.annotations).toEqual({ 'k8s.io/initial-events-end': 'true' });
      expect(Number(end.object.metadata.resourceVersion)).toBeGreaterThanOrEqual(Number(last.metadata.resourceVersion));
      expect(watch.frames.indexOf(end)).toBe(2);
      await made(scene, 'configmaps', configMap('c'));
      expect(await watch.seen(3)).toEqual(['ADDED a', 'ADDED b', 'ADDED c']);
      watch.close();
    },
  },
  {
    story: 'initial events of nothing are a bookmark alone',
    async play(scene) {
      const watch = await scene.watch(pathIn(scene, 'configmaps'), { ...initial, labelSelector: 'none=here' });
      await scene.until('the bookmark', () => expect(watch.frames.map(({ type }) => type)).toEqual(['BOOKMARK']));
      watch.close();
    },
  },
  {
    story: 'initial events must be asked for as not older than',
    async play(scene) {
      const query = { sendInitialEvents: 'true', allowWatchBookmarks: 'true' };
      expect((await scene.watch(pathIn(scene, 'configmaps'), query)).status).toBe(422);
    },
  },
  {
    story: 'without a version, a watch begins with what exists',
    async play(scene) {
      await made(scene, 'configmaps', configMap('a'));
      const watch = await scene.watch(pathIn(scene, 'configmaps'), { fieldSelector: ours });
      expect(await watch.seen(1)).toEqual(['ADDED a']);
      watch.close();
    },
  },
  {
    story: 'an object that comes to fit a selector is added, one that ceases to is deleted as it was',
    async play(scene) {
      const watch = await scene.watch(pathIn(scene, 'configmaps'), { ...initial, labelSelector: 'x=1' });
      await made(scene, 'configmaps', configMap('a'));
      await label(scene, 'a', '1');
      await scene.call('PATCH', pathIn(scene, 'configmaps', 'a'), { type: 'merge', body: { data: { key: 'other' } } });
      await label(scene, 'a', '2');
      await label(scene, 'a', '3');
      await label(scene, 'a', '1');
      await scene.call('DELETE', pathIn(scene, 'configmaps', 'a'));
      expect(await watch.seen(5)).toEqual(['ADDED a', 'MODIFIED a', 'DELETED a', 'ADDED a', 'DELETED a']);
      const gone = watch.frames.filter(({ type }) => type === 'DELETED')[0]?.object;
      expect(gone?.metadata.labels).toEqual({ x: '1' });
      watch.close();
    },
  },
  {
    story: 'a watch ends in order when its time is over',
    async play(scene) {
      const watch = await scene.watch(pathIn(scene, 'configmaps'), { ...initial, timeoutSeconds: '1' });
      await scene.until('its end', () => expect(watch.hasEnded).toBe(true));
      expect(watch.frames.filter(({ type }) => type === 'ERROR')).toEqual([]);
    },
  },
];
