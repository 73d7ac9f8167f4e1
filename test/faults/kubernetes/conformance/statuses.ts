/** The status of a custom resource: who writes it, who reads what where there is none. */
import { expect } from 'vitest';
import {
  accepted,
  type ConformanceCase,
  cluster,
  clusters,
  type Json,
  listed,
  made,
  pathIn,
  read,
  verdict,
} from './conformance-case.ts';

export const statusCases: readonly ConformanceCase[] = [
  {
    story: 'status and the rest are written apart',
    async play(scene) {
      const path = pathIn(scene, clusters, 'a');
      await made(scene, clusters, { ...cluster('a'), status: { phase: 'Ready' } });
      const unobserved = { observedGeneration: -1 };
      expect((await read(scene, clusters, 'a')).status).toEqual(unobserved);
      const both = { spec: { replicas: 5 }, status: { phase: 'Ready' } };
      const main = accepted(await scene.call('PATCH', path, { type: 'merge', body: both }));
      expect(main).toMatchObject({ spec: { replicas: 5 } });
      expect(main.status).toEqual(unobserved);
      const more = { metadata: { labels: { x: 'y' } }, spec: { replicas: 7 }, status: { phase: 'Ready' } };
      const status = accepted(await scene.call('PATCH', `${path}/status`, { type: 'merge', body: more }));
      expect(status).toMatchObject({ spec: { replicas: 5 }, status: { phase: 'Ready' } });
      expect(status.metadata.labels).toBeUndefined();
    },
  },
  {
    story: 'everybody reads the default of a status that is not there',
    async play(scene) {
      const path = pathIn(scene, clusters, 'a');
      const unobserved = { observedGeneration: -1 };
      const watch = await scene.watch(pathIn(scene, clusters), { watch: 'true' });
      const object = await made(scene, clusters, cluster('a'));
      expect(object.status).toEqual(unobserved);
      expect((await listed(scene, clusters))[0]?.status).toEqual(unobserved);
      await watch.seen(1);
      expect(watch.frames[0]?.object.status).toEqual(unobserved);
      watch.close();
      const status = async (...operations: readonly Json[]): Promise<unknown> =>
        accepted(await scene.call('PATCH', `${path}/status`, { type: 'json-patch', body: operations })).status;
      const told = { observedGeneration: 1, phase: 'Ready' };
      expect(await status({ op: 'add', path: '/status', value: told })).toEqual(told);
      expect(await status({ op: 'add', path: '/status', value: { phase: 'Ready' } })).toEqual({ phase: 'Ready' });
      expect(await status({ op: 'remove', path: '/status' })).toEqual(unobserved);
    },
  },
  {
    story: 'a status at an old version is refused, one of an object on its way out is not',
    async play(scene) {
      const finalizers = ['clusterwright.dev/conformance'];
      const first = await made(scene, clusters, cluster('a', {}, { finalizers }));
      const path = pathIn(scene, clusters, 'a');
      await scene.call('PATCH', path, { type: 'merge', body: { metadata: { labels: { x: 'y' } } } });
      const status = async (phase: string, metadata: object): Promise<string> =>
        verdict(await scene.call('PATCH', `${path}/status`, { type: 'merge', body: { metadata, status: { phase } } }));
      expect(await status('Ready', { resourceVersion: first.metadata.resourceVersion })).toBe('409 Conflict');
      await scene.call('DELETE', path);
      expect(await status('Deleting', {})).toBe('ok');
      const body = { metadata: { finalizers: null } };
      expect(verdict(await scene.call('PATCH', path, { type: 'merge', body }))).toBe('ok');
      expect(await status('Deleting', {})).toBe('404 NotFound');
    },
  },
];
