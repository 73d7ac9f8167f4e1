/** Deleting: preconditions, finalizers, and what becomes of dependents. */
import { expect } from 'vitest';
import type { KubeObject } from '../../../../src/api/object.ts';
import {
  type Answer,
  accepted,
  type ConformanceCase,
  configMap,
  type Json,
  listed,
  made,
  metadataOf,
  namesOf,
  ours,
  pathIn,
  read,
  type Scene,
  verdict,
} from './conformance-case.ts';

const finalizer = 'clusterwright.dev/conformance';

function remove(scene: Scene, name: string, options: Json = {}): Promise<Answer> {
  return scene.call('DELETE', pathIn(scene, 'configmaps', name), {
    body: { apiVersion: 'v1', kind: 'DeleteOptions', ...options },
  });
}

function finalizers(scene: Scene, name: string, to: readonly string[] | null): Promise<Answer> {
  const body = { metadata: { finalizers: to } };
  return scene.call('PATCH', pathIn(scene, 'configmaps', name), { type: 'merge', body });
}

const ownedBy = (owner: KubeObject, more: Json = {}): Json => ({
  apiVersion: owner.apiVersion,
  kind: owner.kind,
  name: owner.metadata.name,
  uid: owner.metadata.uid,
  ...more,
});

async function names(scene: Scene): Promise<readonly string[]> {
  return namesOf(await listed(scene, 'configmaps', { fieldSelector: ours }));
}

export const deletionCases: readonly ConformanceCase[] = [
  {
    story: 'another UID, or another version, is somebody else',
    async play(scene) {
      const object = await made(scene, 'configmaps', configMap('a'));
      const uid = '11111111-2222-4333-8444-555555555555';
      const other = await remove(scene, 'a', { preconditions: { uid } });
      expect(verdict(other)).toBe('409 Conflict');
      expect(String(other.body.message)).toMatch(/UID in (the )?precondition/);
      expect(verdict(await remove(scene, 'a', { preconditions: { resourceVersion: '1' } }))).toBe('409 Conflict');
      const { uid: own, resourceVersion } = object.metadata;
      const answer = await remove(scene, 'a', { preconditions: { uid: own, resourceVersion } });
      expect(answer.body).toMatchObject({ kind: 'Status', status: 'Success' });
      expect(verdict(await scene.call('GET', pathIn(scene, 'configmaps', 'a')))).toBe('404 NotFound');
    },
  },
  {
    story: 'a finalizer holds an object until it is taken away',
    async play(scene) {
      await made(scene, 'configmaps', configMap('a', {}, { finalizers: [finalizer] }));
      const answer = await remove(scene, 'a');
      expect(answer.body).toMatchObject({ kind: 'ConfigMap' });
      expect(metadataOf(answer).deletionTimestamp).toBeDefined();
      const again = await remove(scene, 'a');
      expect(metadataOf(again).resourceVersion).toBe(metadataOf(answer).resourceVersion);
      expect(verdict(await scene.call('POST', pathIn(scene, 'configmaps'), { body: configMap('a') }))).toBe(
        '409 AlreadyExists',
      );
      const last = await finalizers(scene, 'a', null);
      expect(accepted(last).metadata.finalizers).toBeUndefined();
      expect(verdict(await scene.call('GET', pathIn(scene, 'configmaps', 'a')))).toBe('404 NotFound');
    },
  },
  {
    story: 'the end of a held object shows to a watch as one event, after its deletion',
    async play(scene) {
      const object = await made(scene, 'configmaps', configMap('a', {}, { finalizers: [finalizer] }));
      const watch = await scene.watch(pathIn(scene, 'configmaps'), {
        resourceVersion: object.metadata.resourceVersion ?? '',
        fieldSelector: ours,
      });
      await remove(scene, 'a');
      await finalizers(scene, 'a', []);
      expect(await watch.seen(2)).toEqual(['MODIFIED a', 'DELETED a']);
      watch.close();
    },
  },
  {
    story: 'nobody adds a finalizer to what is being deleted',
    async play(scene) {
      await made(scene, 'configmaps', configMap('a', {}, { finalizers: [finalizer] }));
      await remove(scene, 'a');
      expect(verdict(await finalizers(scene, 'a', [finalizer, 'clusterwright.dev/another']))).toBe('422 Invalid');
      await finalizers(scene, 'a', null);
    },
  },
  {
    story: 'a name that is free again is taken by another object',
    async play(scene) {
      const first = await made(scene, 'configmaps', configMap('a'));
      await remove(scene, 'a');
      const second = await made(scene, 'configmaps', configMap('a'));
      expect(second.metadata.uid).not.toBe(first.metadata.uid);
      expect(verdict(await remove(scene, 'a', { preconditions: { uid: first.metadata.uid } }))).toBe('409 Conflict');
    },
  },
  {
    story: 'dependents go with their owner',
    async play(scene) {
      const owner = await made(scene, 'configmaps', configMap('owner'));
      await made(
        scene,
        'configmaps',
        configMap('child', {}, { ownerReferences: [ownedBy(owner, { controller: true })] }),
      );
      await made(scene, 'configmaps', configMap('other'));
      await remove(scene, 'owner', { propagationPolicy: 'Background' });
      await scene.until('the child gone', async () => expect(await names(scene)).toEqual(['other']));
    },
  },
  {
    story: 'an owner of the same name and another UID is no owner',
    async play(scene) {
      const owner = await made(scene, 'configmaps', configMap('owner'));
      await remove(scene, 'owner');
      await made(scene, 'configmaps', configMap('owner'));
      await made(scene, 'configmaps', configMap('child', {}, { ownerReferences: [ownedBy(owner)] }));
      await scene.until('the child gone', async () => expect(await names(scene)).toEqual(['owner']));
    },
  },
  {
    story: 'a dependent of two owners outlives the first',
    async play(scene) {
      const one = await made(scene, 'configmaps', configMap('one'));
      const two = await made(scene, 'configmaps', configMap('two'));
      await made(scene, 'configmaps', configMap('child', {}, { ownerReferences: [ownedBy(one), ownedBy(two)] }));
      await remove(scene, 'one');
      await scene.until('one reference left', async () => {
        const { ownerReferences = [] } = (await read(scene, 'configmaps', 'child')).metadata;
        expect(ownerReferences.map(({ name }) => name)).toEqual(['two']);
      });
    },
  },
  {
    story: 'orphans stay, without their owner',
    async play(scene) {
      const owner = await made(scene, 'configmaps', configMap('owner'));
      await made(scene, 'configmaps', configMap('child', {}, { ownerReferences: [ownedBy(owner)] }));
      await remove(scene, 'owner', { propagationPolicy: 'Orphan' });
      await scene.until('the owner gone', async () => expect(await names(scene)).toEqual(['child']));
      expect((await read(scene, 'configmaps', 'child')).metadata.ownerReferences).toBeUndefined();
    },
  },
  {
    story: 'in the foreground, dependents go first',
    async play(scene) {
      const owner = await made(scene, 'configmaps', configMap('owner'));
      const reference = ownedBy(owner, { blockOwnerDeletion: true });
      await made(
        scene,
        'configmaps',
        configMap('child', {}, { ownerReferences: [reference], finalizers: [finalizer] }),
      );
      const answer = await remove(scene, 'owner', { propagationPolicy: 'Foreground' });
      expect(metadataOf(answer).finalizers).toEqual(['foregroundDeletion']);
      await scene.until('the child on its way', async () => {
        expect((await read(scene, 'configmaps', 'child')).metadata.deletionTimestamp).toBeDefined();
      });
      expect(await names(scene)).toEqual(['child', 'owner']);
      await finalizers(scene, 'child', null);
      await scene.until('both gone', async () => expect(await names(scene)).toEqual([]));
    },
  },
  {
    story: 'a deletion counts as a change of a custom resource',
    async play(scene) {
      const set = {
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: { name: 'a', finalizers: [finalizer] },
      };
      const collection = 'poddisruptionbudgets.policy/v1';
      await made(scene, collection, {
        ...set,
        spec: { maxUnavailable: 1, selector: { matchLabels: { app: 'none' } } },
      });
      const path = pathIn(scene, collection, 'a');
      expect(metadataOf(await scene.call('DELETE', path)).generation).toBe(2);
      await scene.call('PATCH', path, { type: 'merge', body: { metadata: { finalizers: null } } });
    },
  },
];
