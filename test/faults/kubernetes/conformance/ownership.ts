/** Server-side apply: who owns which field, what goes when it is no longer applied, what counts as a conflict. */
import { expect } from 'vitest';
import type { KubeObject } from '../../../../src/api/object.ts';
import { takeOverPatch } from '../../../../src/runtime/ownership.ts';
import {
  type Answer,
  accepted,
  type ConformanceCase,
  cluster,
  clusters,
  configMap,
  type Json,
  made,
  pathIn,
  read,
  type Scene,
  statefulSet,
  statefulSets,
  verdict,
} from './conformance-case.ts';

interface Entry {
  readonly manager: string;
  readonly operation: string;
  readonly subresource?: string;
  readonly fieldsV1: Json;
}

const entriesOf = (object: KubeObject): readonly Entry[] =>
  (object.metadata as { managedFields?: readonly Entry[] }).managedFields ?? [];

function entryOf(object: KubeObject, manager: string, operation = 'Apply'): Entry | undefined {
  return entriesOf(object).find((entry) => entry.manager === manager && entry.operation === operation);
}

/** The set without the marks of maps that are members themselves, which depend on how a field came to be. */
function fieldsIn(set: unknown): unknown {
  if (typeof set !== 'object' || set === null) return set;
  return Object.fromEntries(
    Object.entries(set).flatMap(([key, below]) => (key === '.' ? [] : [[key, fieldsIn(below)]])),
  );
}

function apply(
  scene: Scene,
  collection: string,
  object: Json,
  manager = 'one',
  query: Record<string, string> = {},
): Promise<Answer> {
  const { name } = object.metadata as { name: string };
  return scene.call('PATCH', pathIn(scene, collection, name), {
    type: 'apply',
    body: object,
    query: { fieldManager: manager, ...query },
  });
}

const port = (number: number, more: Json = {}): Json => ({ port: number, name: `p${number}`, ...more });
const service = (ports: readonly Json[]): Json => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'a' },
  spec: { selector: { app: 'a' }, ports },
});

export const ownershipCases: readonly ConformanceCase[] = [
  {
    story: 'an apply makes an object, and names its fields',
    async play(scene) {
      const answer = await apply(scene, 'configmaps', configMap('a', { x: '1' }, { labels: { l: '1' } }));
      expect(answer.status).toBe(201);
      const entry = entryOf(accepted(answer), 'one');
      expect(fieldsIn(entry?.fieldsV1)).toEqual({
        'f:data': { 'f:x': {} },
        'f:metadata': { 'f:labels': { 'f:l': {} } },
      });
    },
  },
  {
    story: 'a field that is no longer applied goes, one of somebody else stays',
    async play(scene) {
      await apply(scene, 'configmaps', configMap('a', { mine: '1', gone: '1' }));
      const body = { data: { theirs: '2' } };
      await scene.call('PATCH', pathIn(scene, 'configmaps', 'a'), {
        type: 'merge',
        body,
        query: { fieldManager: 'two' },
      });
      const after = accepted(await apply(scene, 'configmaps', configMap('a', { mine: '1' })));
      expect(after.data).toEqual({ mine: '1', theirs: '2' });
      expect(fieldsIn(entryOf(after, 'two', 'Update')?.fieldsV1)).toEqual({ 'f:data': { 'f:theirs': {} } });
    },
  },
  {
    story: 'a label that is no longer applied goes',
    async play(scene) {
      await apply(
        scene,
        'configmaps',
        configMap('a', {}, { labels: { keep: '1', drop: '1' }, annotations: { drop: '1' } }),
      );
      const after = accepted(await apply(scene, 'configmaps', configMap('a', {}, { labels: { keep: '1' } })));
      expect(after.metadata.labels).toEqual({ keep: '1' });
      expect(after.metadata.annotations).toBeUndefined();
    },
  },
  {
    story: 'another value in a field of somebody else is a conflict, the same value is shared',
    async play(scene) {
      await apply(scene, 'configmaps', configMap('a', { x: '1' }), 'one');
      const other = await apply(scene, 'configmaps', configMap('a', { x: '2' }), 'two');
      expect(verdict(other)).toBe('409 Conflict');
      expect(JSON.stringify(other.body)).toContain('.data.x');
      expect(verdict(await apply(scene, 'configmaps', configMap('a', { x: '1' }), 'two'))).toBe('ok');
      // Shared: it stays when one of the two lets it go.
      const after = accepted(await apply(scene, 'configmaps', configMap('a', {}), 'one'));
      expect(after.data).toEqual({ x: '1' });
    },
  },
  {
    story: 'force takes a field over',
    async play(scene) {
      await apply(scene, 'configmaps', configMap('a', { x: '1', y: '1' }), 'one');
      const after = accepted(await apply(scene, 'configmaps', configMap('a', { x: '2' }), 'two', { force: 'true' }));
      expect(after.data).toEqual({ x: '2', y: '1' });
      expect(fieldsIn(entryOf(after, 'one')?.fieldsV1)).toEqual({ 'f:data': { 'f:y': {} } });
      expect(fieldsIn(entryOf(after, 'two')?.fieldsV1)).toEqual({ 'f:data': { 'f:x': {} } });
    },
  },
  {
    story: 'what a POST wrote is not what an apply of the same manager owns',
    async play(scene) {
      const query = { fieldManager: 'one' };
      await scene.call('POST', pathIn(scene, 'configmaps'), { body: configMap('a', { x: '1', y: '1' }), query });
      const after = accepted(await apply(scene, 'configmaps', configMap('a', { x: '1' })));
      expect(after.data).toEqual({ x: '1', y: '1' });
    },
  },
  {
    story: 'once the entry of the POST is turned into one of an apply, dropped fields go',
    async play(scene) {
      const query = { fieldManager: 'clusterwright' };
      const labels = { app: 'a', extra: 'x' };
      const set = statefulSet(scene, 'a', { replicas: 0 });
      const wanted = { ...set, metadata: { name: 'a', labels } };
      const live = accepted(await scene.call('POST', pathIn(scene, statefulSets), { body: wanted, query }));
      const path = pathIn(scene, statefulSets, 'a');
      // The StatefulSet controller writes a status meanwhile.
      const taken = await scene.until('the entry turned', async () => {
        const body = takeOverPatch(await read(scene, statefulSets, 'a')) ?? [];
        return accepted(await scene.call('PATCH', path, { type: 'json-patch', body, query }));
      });
      expect(entryOf(taken, 'clusterwright', 'Update')).toBeUndefined();
      const after = accepted(await apply(scene, statefulSets, set, 'clusterwright', { force: 'true' }));
      expect(after.metadata.labels).toEqual({ app: 'a' });
      expect(after.metadata.generation).toBe(live.metadata.generation);
      expect(after.spec).toEqual(live.spec);
    },
  },
  {
    story: 'the patch that takes fields over fails when the object has changed',
    async play(scene) {
      const query = { fieldManager: 'clusterwright' };
      const live = accepted(await scene.call('POST', pathIn(scene, 'configmaps'), { body: configMap('a'), query }));
      const path = pathIn(scene, 'configmaps', 'a');
      await scene.call('PATCH', path, { type: 'merge', body: { data: { other: '1' } } });
      const body = takeOverPatch(live) ?? [];
      expect(verdict(await scene.call('PATCH', path, { type: 'json-patch', body, query }))).toBe('422 Invalid');
    },
  },
  {
    story: 'items of a list with keys belong to those who applied them',
    async play(scene) {
      await apply(scene, 'services', service([port(1), port(2)]), 'one');
      const other = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'a' }, spec: { ports: [port(3)] } };
      await apply(scene, 'services', other, 'two');
      const after = accepted(await apply(scene, 'services', service([port(2)]), 'one'));
      expect((after.spec as { ports: readonly { port: number }[] }).ports.map((item) => item.port)).toEqual([2, 3]);
    },
  },
  {
    story: 'containers, their variables and their mounts are told apart by name',
    async play(scene) {
      const withEnv = (env: readonly Json[]): Json =>
        statefulSet(scene, 'a', { replicas: 0 }, { containers: [{ ...scene.container, env }] });
      await apply(
        scene,
        statefulSets,
        withEnv([
          { name: 'A', value: '1' },
          { name: 'B', value: '2' },
        ]),
      );
      const after = accepted(await apply(scene, statefulSets, withEnv([{ name: 'B', value: '3' }])));
      const { containers } = (after.spec as { template: { spec: { containers: readonly Json[] } } }).template.spec;
      expect(containers).toHaveLength(1);
      expect(containers[0]?.env).toEqual([{ name: 'B', value: '3' }]);
      expect(after.metadata.generation).toBe(2);
    },
  },
  {
    story: 'a list without keys is one value',
    async play(scene) {
      const tolerations = (keys: readonly string[]): Json =>
        cluster('a', { scheduling: { tolerations: keys.map((key) => ({ key, operator: 'Exists' })) } });
      await apply(scene, clusters, tolerations(['x', 'y']));
      const after = accepted(await apply(scene, clusters, tolerations(['y'])));
      expect(after.spec).toMatchObject({ scheduling: { tolerations: [{ key: 'y' }] } });
    },
  },
  {
    story: 'an apply that drops a field with a default brings the default back',
    async play(scene) {
      await apply(scene, clusters, cluster('a', { replicas: 5 }));
      const after = accepted(await apply(scene, clusters, cluster('a')));
      expect(after.spec).toMatchObject({ replicas: 3 });
    },
  },
  {
    story: 'an update takes the fields that it changes from their owner',
    async play(scene) {
      await apply(scene, 'configmaps', configMap('a', { x: '1', y: '1' }), 'one');
      const body = { data: { x: '2' } };
      const path = pathIn(scene, 'configmaps', 'a');
      const after = accepted(await scene.call('PATCH', path, { type: 'merge', body, query: { fieldManager: 'two' } }));
      expect(fieldsIn(entryOf(after, 'one')?.fieldsV1)).toEqual({ 'f:data': { 'f:y': {} } });
      expect(verdict(await apply(scene, 'configmaps', configMap('a', { x: '1', y: '1' }), 'one'))).toBe('409 Conflict');
    },
  },
  {
    story: 'the status has an account of its own',
    async play(scene) {
      await made(scene, clusters, cluster('a'));
      const path = pathIn(scene, clusters, 'a', 'status');
      const query = { fieldManager: 'one' };
      const after = accepted(
        await scene.call('PATCH', path, { type: 'merge', body: { status: { phase: 'Ready' } }, query }),
      );
      const entry = entriesOf(after).find(({ manager }) => manager === 'one');
      expect(entry).toMatchObject({ operation: 'Update', subresource: 'status' });
      expect(fieldsIn(entry?.fieldsV1)).toEqual({ 'f:status': { 'f:phase': {} } });
    },
  },
  {
    story: 'conditions of a status are merged by type',
    async play(scene) {
      await made(scene, clusters, cluster('a'));
      const condition = (type: string, manager: string): Promise<Answer> => {
        const status = {
          conditions: [{ type, status: 'True', reason: 'R', message: '', lastTransitionTime: '2030-01-01T00:00:00Z' }],
        };
        const { apiVersion, kind } = cluster('a');
        const body = { apiVersion, kind, metadata: { name: 'a' }, status };
        return scene.call('PATCH', pathIn(scene, clusters, 'a', 'status'), {
          type: 'apply',
          body,
          query: { fieldManager: manager },
        });
      };
      accepted(await condition('One', 'one'));
      accepted(await condition('Two', 'two'));
      const { conditions } = (await read(scene, clusters, 'a')).status as { conditions: readonly { type: string }[] };
      expect(conditions.map(({ type }) => type)).toEqual(expect.arrayContaining(['One', 'Two']));
    },
  },
  {
    story: 'an apply with a version or UID that is not there any more',
    async play(scene) {
      const first = accepted(await apply(scene, 'configmaps', configMap('a', { x: '1' })));
      const { resourceVersion } = first.metadata;
      expect(verdict(await apply(scene, 'configmaps', configMap('a', { x: '2' }, { resourceVersion })))).toBe('ok');
      expect(verdict(await apply(scene, 'configmaps', configMap('a', { x: '3' }, { resourceVersion })))).toBe(
        '409 Conflict',
      );
      const uid = '11111111-2222-4333-8444-555555555555';
      expect(verdict(await apply(scene, 'configmaps', configMap('none', {}, { uid })))).toBe('409 Conflict');
    },
  },
  {
    story: 'an apply needs a manager',
    async play(scene) {
      const path = pathIn(scene, 'configmaps', 'a');
      expect((await scene.call('PATCH', path, { type: 'apply', body: configMap('a') })).status).toBeGreaterThanOrEqual(
        400,
      );
    },
  },
];
