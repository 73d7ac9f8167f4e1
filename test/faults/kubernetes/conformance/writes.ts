/** Creating and changing: who comes first, what counts as a change, what is nobody's business in which write. */
import { expect } from 'vitest';
import {
  type Answer,
  accepted,
  budgets,
  type ConformanceCase,
  cluster,
  clusters,
  configMap,
  type Json,
  leases,
  listed,
  made,
  metadataOf,
  namesOf,
  pathIn,
  read,
  statefulSet,
  statefulSets,
  verdict,
} from './conformance-case.ts';

export const writeCases: readonly ConformanceCase[] = [
  {
    story: 'a name is given once',
    async play(scene) {
      const first = await made(scene, 'configmaps', configMap('a'));
      expect(first.metadata).toMatchObject({ name: 'a', namespace: scene.namespace, uid: expect.any(String) });
      expect(first.metadata.creationTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
      const second = await scene.call('POST', pathIn(scene, 'configmaps'), { body: configMap('a') });
      expect(verdict(second)).toBe('409 AlreadyExists');
    },
  },
  {
    story: 'an object in a namespace that is not there',
    async play(scene) {
      const path = '/api/v1/namespaces/conformance-nowhere/configmaps';
      expect(verdict(await scene.call('POST', path, { body: configMap('a') }))).toBe('404 NotFound');
    },
  },
  {
    story: 'the namespace of the path and of the object must agree',
    async play(scene) {
      const body = configMap('a', {}, { namespace: 'other' });
      expect(verdict(await scene.call('POST', pathIn(scene, 'configmaps'), { body }))).toBe('400 BadRequest');
    },
  },
  {
    story: 'a create with a resourceVersion',
    async play(scene) {
      const body = configMap('a', {}, { resourceVersion: '1' });
      expect(verdict(await scene.call('POST', pathIn(scene, 'configmaps'), { body }))).toBe('500 undefined');
    },
  },
  {
    story: 'reading, patching and deleting what is not there',
    async play(scene) {
      const path = pathIn(scene, 'configmaps', 'none');
      expect(verdict(await scene.call('GET', path))).toBe('404 NotFound');
      expect(verdict(await scene.call('PATCH', path, { type: 'merge', body: {} }))).toBe('404 NotFound');
      expect(verdict(await scene.call('PUT', path, { body: configMap('none') }))).toBe('404 NotFound');
      expect(verdict(await scene.call('DELETE', pathIn(scene, 'configmaps', 'neither')))).toBe('404 NotFound');
    },
  },
  {
    story: 'a PUT at an old version is refused, and one at the version that was read is taken',
    async play(scene) {
      const first = await made(scene, 'configmaps', configMap('a'));
      const path = pathIn(scene, 'configmaps', 'a');
      const second = await scene.call('PUT', path, { body: { ...first, data: { key: 'second' } } });
      expect(verdict(second)).toBe('ok');
      expect(Number(metadataOf(second).resourceVersion)).toBeGreaterThan(Number(first.metadata.resourceVersion));
      expect(verdict(await scene.call('PUT', path, { body: { ...first, data: { key: 'third' } } }))).toBe(
        '409 Conflict',
      );
    },
  },
  {
    story: 'a PUT without a version: where it is allowed and where not',
    async play(scene) {
      await made(scene, 'configmaps', configMap('a'));
      await made(scene, clusters, cluster('a'));
      const put = async (collection: string, body: object): Promise<string> =>
        verdict(await scene.call('PUT', pathIn(scene, collection, 'a'), { body }));
      expect(await put('configmaps', configMap('a', { key: 'other' }))).toBe('ok');
      expect(await put(clusters, cluster('a', { replicas: 4 }))).toBe('422 Invalid');
    },
  },
  {
    story: 'a write that changes nothing makes no version',
    async play(scene) {
      const first = await made(scene, 'configmaps', configMap('a'));
      const path = pathIn(scene, 'configmaps', 'a');
      const version = first.metadata.resourceVersion;
      expect(metadataOf(await scene.call('PUT', path, { body: first })).resourceVersion).toBe(version);
      const patch = { data: { key: 'value' } };
      expect(metadataOf(await scene.call('PATCH', path, { type: 'merge', body: patch })).resourceVersion).toBe(version);
      const apply = { type: 'apply', query: { fieldManager: 'm' }, body: configMap('b') } as const;
      const applied = accepted(await scene.call('PATCH', pathIn(scene, 'configmaps', 'b'), apply));
      const again = accepted(await scene.call('PATCH', pathIn(scene, 'configmaps', 'b'), apply));
      expect(again.metadata.resourceVersion).toBe(applied.metadata.resourceVersion);
    },
  },
  {
    story: 'a merge patch at an old version, or for another UID, is refused',
    async play(scene) {
      const first = await made(scene, clusters, cluster('a'));
      const path = pathIn(scene, clusters, 'a');
      const patch = async (metadata: object): Promise<string> =>
        verdict(await scene.call('PATCH', path, { type: 'merge', body: { metadata } }));
      const { uid, resourceVersion } = first.metadata;
      expect(await patch({ uid, resourceVersion, labels: { one: '1' } })).toBe('ok');
      expect(await patch({ resourceVersion, labels: { two: '2' } })).toBe('409 Conflict');
      const other = '11111111-2222-4333-8444-555555555555';
      expect(await patch({ uid: other, labels: { two: '2' } })).toBe('422 Invalid');
      expect((await read(scene, clusters, 'a')).metadata.labels).toEqual({ one: '1' });
    },
  },
  {
    story: 'of built-in kinds too, a patch for another UID is invalid and a PUT is a conflict',
    async play(scene) {
      const first = await made(scene, 'configmaps', configMap('a'));
      const path = pathIn(scene, 'configmaps', 'a');
      const uid = '11111111-2222-4333-8444-555555555555';
      const body = { metadata: { uid }, data: { key: 'other' } };
      expect(verdict(await scene.call('PATCH', path, { type: 'merge', body }))).toBe('422 Invalid');
      const whole = { ...first, metadata: { ...first.metadata, uid }, data: { key: 'other' } };
      expect(verdict(await scene.call('PUT', path, { body: whole }))).toBe('409 Conflict');
      const applied = { ...configMap('a', { key: 'other' }, { uid }) };
      const query = { fieldManager: 'one', force: 'true' };
      expect(verdict(await scene.call('PATCH', path, { type: 'apply', body: applied, query }))).toBe('422 Invalid');
      expect((await read(scene, 'configmaps', 'a')).data).toEqual({ key: 'value' });
    },
  },
  {
    story: 'a merge patch takes away what is null',
    async play(scene) {
      await made(scene, 'configmaps', configMap('a', { one: '1', two: '2' }, { labels: { x: 'y' } }));
      const body = { data: { one: null, three: '3' }, metadata: { labels: { x: null } } };
      const after = accepted(await scene.call('PATCH', pathIn(scene, 'configmaps', 'a'), { type: 'merge', body }));
      expect(after.data).toEqual({ two: '2', three: '3' });
      expect(after.metadata.labels).toBeUndefined();
    },
  },
  {
    story: 'a JSON patch whose test fails changes nothing',
    async play(scene) {
      const first = await made(scene, 'configmaps', configMap('a'));
      const patch = (test: string | undefined) =>
        scene.call('PATCH', pathIn(scene, 'configmaps', 'a'), {
          type: 'json-patch',
          body: [
            { op: 'test', path: '/metadata/resourceVersion', value: test },
            { op: 'add', path: '/data/more', value: 'x' },
          ],
        });
      expect(verdict(await patch('1'))).toBe('422 Invalid');
      expect(accepted(await patch(first.metadata.resourceVersion)).data).toEqual({ key: 'value', more: 'x' });
    },
  },
  {
    story: 'a JSON patch replaces a whole status, of the object of that UID only',
    async play(scene) {
      const { metadata } = await made(scene, clusters, cluster('a'));
      const path = pathIn(scene, clusters, 'a', 'status');
      const replaced = (uid: string | undefined, status: object) =>
        scene.call('PATCH', path, {
          type: 'json-patch',
          body: [
            { op: 'test', path: '/metadata/uid', value: uid },
            { op: 'add', path: '/status', value: status },
          ],
        });
      const first = { phase: 'Updating', primary: 'a-0', plan: { next: 'x' } };
      expect(accepted(await replaced(metadata.uid, first)).status).toEqual(first);
      const second = { phase: 'Ready', plan: { waitingFor: 'y' } };
      expect(accepted(await replaced(metadata.uid, second)).status).toEqual(second);
      expect(verdict(await replaced('11111111-2222-4333-8444-555555555555', first))).toBe('422 Invalid');
      expect((await read(scene, clusters, 'a')).status).toEqual(second);
    },
  },
  {
    story: 'a dry run answers as if, and stores nothing',
    async play(scene) {
      const query = { dryRun: 'All' };
      const answer = await scene.call('POST', pathIn(scene, clusters), { body: cluster('a'), query });
      expect(accepted(answer).spec).toMatchObject({ replicas: 3, deletionPolicy: 'Retain' });
      expect(await listed(scene, clusters)).toEqual([]);
      const real = await made(scene, 'configmaps', configMap('b'));
      await scene.call('DELETE', pathIn(scene, 'configmaps', 'b'), { query });
      expect((await read(scene, 'configmaps', 'b')).metadata.uid).toBe(real.metadata.uid);
    },
  },
  {
    story: 'a dry run of a pod goes through admission first, and asks for its name last',
    async play(scene) {
      const priorityClassName = 'conformance-nobody';
      const judged = (spec: Json): Promise<Answer> =>
        scene.call('POST', pathIn(scene, 'pods'), {
          query: { dryRun: 'All' },
          body: {
            apiVersion: 'v1',
            kind: 'Pod',
            metadata: { name: 'a-0' },
            spec: { containers: [scene.container], ...spec },
          },
        });
      // A namespace gets its ServiceAccount a moment after it was made.
      await scene.until('a pod can be made', async () => expect(verdict(await judged({}))).toBe('ok'));
      const refused = await judged({ priorityClassName });
      expect(verdict(refused)).toBe('403 Forbidden');
      expect(refused.body.message).toBe(
        `pods "a-0" is forbidden: no PriorityClass with name ${priorityClassName} was found`,
      );
      expect(await listed(scene, 'pods')).toEqual([]);
      const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a-0' }, spec: { containers: [scene.container] } };
      await made(scene, 'pods', pod);
      expect(verdict(await judged({}))).toBe('409 AlreadyExists');
      expect(verdict(await judged({ priorityClassName }))).toBe('403 Forbidden');
    },
  },
  {
    story: 'a custom resource gets its defaults, and loses what its schema does not know',
    async play(scene) {
      const object = await made(scene, clusters, cluster('a', { nonsense: 1 }));
      expect(object.spec).toMatchObject({ replicas: 3, mode: 'Sentinel', paused: true });
      expect(object.spec).not.toHaveProperty('nonsense');
      const query = { fieldValidation: 'Strict' };
      const strict = await scene.call('POST', pathIn(scene, clusters), { body: cluster('b', { nonsense: 1 }), query });
      expect(verdict(strict)).toBe('400 BadRequest');
      const wrong = await scene.call('POST', pathIn(scene, clusters), { body: cluster('c', { replicas: 'many' }) });
      expect(verdict(wrong)).toBe('422 Invalid');
    },
  },
  {
    story: 'the generation counts changes of the spec and nothing else',
    async play(scene) {
      const path = pathIn(scene, clusters, 'a');
      expect((await made(scene, clusters, cluster('a'))).metadata.generation).toBe(1);
      const patched = async (body: object): Promise<number | undefined> =>
        metadataOf(await scene.call('PATCH', path, { type: 'merge', body })).generation;
      expect(await patched({ metadata: { labels: { x: 'y' } } })).toBe(1);
      expect(await patched({ spec: { replicas: 4 } })).toBe(2);
      expect(await patched({ spec: { replicas: 4 } })).toBe(2);
      expect(await patched({ metadata: { generation: 9 } })).toBe(2);
      const status = { status: { phase: 'Ready' } };
      const after = await scene.call('PATCH', `${path}/status`, { type: 'merge', body: status });
      expect(metadataOf(after).generation).toBe(2);
    },
  },
  {
    story: 'an event, and its series later',
    async play(scene) {
      const event = {
        apiVersion: 'events.k8s.io/v1',
        kind: 'Event',
        metadata: { name: 'a' },
        eventTime: '2030-01-01T00:00:00.000000Z',
        reportingController: 'clusterwright.dev/controller',
        reportingInstance: 'one',
        action: 'Test',
        reason: 'Tested',
        type: 'Normal',
        note: 'a note',
        regarding: { apiVersion: 'v1', kind: 'ConfigMap', namespace: scene.namespace, name: 'a' },
      };
      const collection = 'events.events.k8s.io/v1';
      await made(scene, collection, event);
      const body = { series: { count: 3, lastObservedTime: '2030-01-01T00:01:00.000000Z' } };
      const after = accepted(await scene.call('PATCH', pathIn(scene, collection, 'a'), { type: 'merge', body }));
      expect(after).toMatchObject({ ...body, note: 'a note' });
    },
  },
  {
    story: 'nothing is made in a namespace on its way out',
    async play(scene) {
      await made(scene, 'configmaps', configMap('held', {}, { finalizers: ['clusterwright.dev/conformance'] }));
      expect(verdict(await scene.call('DELETE', `/api/v1/namespaces/${scene.namespace}`))).toBe('ok');
      const answer = await scene.call('POST', pathIn(scene, 'configmaps'), { body: configMap('late') });
      expect(verdict(answer)).toBe('403 Forbidden');
      const body = { metadata: { finalizers: null } };
      await scene.call('PATCH', pathIn(scene, 'configmaps', 'held'), { type: 'merge', body });
    },
  },
  {
    story: 'what nobody may set is kept as it is',
    async play(scene) {
      const first = await made(scene, 'configmaps', configMap('a', {}, { uid: 'mine', generation: 7 }));
      expect(first.metadata.uid).not.toBe('mine');
      const creationTimestamp = '2001-01-01T00:00:00Z';
      const body = { ...first, metadata: { ...first.metadata, creationTimestamp } };
      const after = accepted(await scene.call('PUT', pathIn(scene, 'configmaps', 'a'), { body }));
      expect(after.metadata.creationTimestamp).toBe(first.metadata.creationTimestamp);
    },
  },
  {
    story: 'a StatefulSet changes in some fields only',
    async play(scene) {
      await made(scene, statefulSets, statefulSet(scene, 'a', { replicas: 0 }));
      const patch = async (spec: object): Promise<string> =>
        verdict(await scene.call('PATCH', pathIn(scene, statefulSets, 'a'), { type: 'merge', body: { spec } }));
      expect(await patch({ template: { metadata: { annotations: { x: 'y' } } }, minReadySeconds: 1 })).toBe('ok');
      expect(await patch({ serviceName: 'other' })).toBe('422 Invalid');
      expect(await patch({ selector: { matchLabels: { other: 'x' } } })).toBe('422 Invalid');
      expect(await patch({ podManagementPolicy: 'OrderedReady' })).toBe('422 Invalid');
      expect(await patch({ volumeClaimTemplates: [{ metadata: { name: 'x' }, spec: {} }] })).toBe('422 Invalid');
    },
  },
  {
    story: 'a StatefulSet must select its own pods',
    async play(scene) {
      const body = statefulSet(scene, 'a', { replicas: 0, selector: { matchLabels: { app: 'other' } } });
      expect(verdict(await scene.call('POST', pathIn(scene, statefulSets), { body }))).toBe('422 Invalid');
    },
  },
  {
    story: 'a Service gets an address once, and an update need not name it',
    async play(scene) {
      const service = (port: number) => ({
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: 'a' },
        spec: { selector: { app: 'a' }, ports: [{ port }] },
      });
      const first = await made(scene, 'services', service(80));
      const { clusterIP } = first.spec as { clusterIP: string };
      expect(clusterIP).toMatch(/^\d+\.\d+\.\d+\.\d+$/);
      const path = pathIn(scene, 'services', 'a');
      const second = accepted(await scene.call('PUT', path, { body: service(81) }));
      expect(second.spec).toMatchObject({
        clusterIP,
        type: 'ClusterIP',
        ports: [{ port: 81, protocol: 'TCP', targetPort: 81 }],
      });
      const moved = await scene.call('PATCH', path, { type: 'merge', body: { spec: { clusterIP: '10.96.200.200' } } });
      expect(verdict(moved)).toBe('422 Invalid');
    },
  },
  {
    story: 'the text of a Secret becomes data, and an immutable one stays as it is',
    async play(scene) {
      const secret = {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'a' },
        stringData: { password: 'x' },
        immutable: true,
      };
      const first = await made(scene, 'secrets', secret);
      expect(first).toMatchObject({ type: 'Opaque', data: { password: 'eA==' } });
      expect(first.stringData).toBeUndefined();
      const body = { data: { password: 'eQ==' } };
      expect(verdict(await scene.call('PATCH', pathIn(scene, 'secrets', 'a'), { type: 'merge', body }))).toBe(
        '422 Invalid',
      );
    },
  },
  {
    story: 'generations of built-in kinds',
    async play(scene) {
      expect((await made(scene, 'configmaps', configMap('a'))).metadata.generation).toBeUndefined();
      expect((await made(scene, statefulSets, statefulSet(scene, 'a', { replicas: 0 }))).metadata.generation).toBe(1);
      const budget = {
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: { name: 'a' },
        spec: { maxUnavailable: 1, selector: { matchLabels: { app: 'a' } } },
      };
      expect((await made(scene, budgets, budget)).metadata.generation).toBe(1);
      const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'a' }, spec: {} };
      expect((await made(scene, leases, lease)).metadata.generation).toBeUndefined();
    },
  },
  {
    story: 'lists select by labels and fields, in the order of names, page by page',
    async play(scene) {
      for (const name of ['c', 'a', 'b']) {
        await made(scene, 'configmaps', configMap(name, {}, { labels: { letter: name, set: 'abc' } }));
      }
      const names = async (query: Readonly<Record<string, string>>): Promise<readonly string[]> =>
        namesOf(await listed(scene, 'configmaps', query));
      expect(await names({ labelSelector: 'set=abc' })).toEqual(['a', 'b', 'c']);
      expect(await names({ labelSelector: 'letter in (a,c)' })).toEqual(['a', 'c']);
      expect(await names({ labelSelector: 'set,letter!=a' })).toEqual(['b', 'c']);
      expect(await names({ fieldSelector: 'metadata.name=b' })).toEqual(['b']);
      const page = await scene.call('GET', pathIn(scene, 'configmaps'), {
        query: { labelSelector: 'set', limit: '2' },
      });
      const { continue: token = '', resourceVersion } = page.body.metadata as {
        continue?: string;
        resourceVersion: string;
      };
      // What is made between two pages is in neither.
      await made(scene, 'configmaps', configMap('d', {}, { labels: { set: 'abc' } }));
      const rest = await scene.call('GET', pathIn(scene, 'configmaps'), {
        query: { labelSelector: 'set', limit: '2', continue: token },
      });
      expect(namesOf(rest.body.items as never)).toEqual(['c']);
      expect((rest.body.metadata as { resourceVersion: string }).resourceVersion).toBe(resourceVersion);
    },
  },
  {
    story: 'a version that is yet to come',
    async play(scene) {
      const query = { resourceVersion: '999999999', resourceVersionMatch: 'NotOlderThan' };
      const answer = await scene.call('GET', pathIn(scene, 'configmaps'), { query });
      expect(answer.status).toBe(504);
      expect(JSON.stringify(answer.body)).toContain('Too large resource version');
    },
  },
];
