/** What every controller of Kubernetes works with, and the few writes that all of them make. */
import type { KubeObject } from '../../../src/api/object.ts';
import type { Random } from '../../../src/system/clock.ts';
import type { VirtualTime } from '../world/time.ts';
import type { Fields } from './fields.ts';
import type { Registry } from './registry.ts';
import type { ServedResources } from './served.ts';
import type { Store } from './store.ts';

export interface ClusterState {
  readonly store: Store;
  readonly registry: Registry;
  readonly served: ServedResources;
  readonly time: VirtualTime;
  readonly random: Random;
}

/** The writes of one controller, under its name. They act at once: the lag is in when it looks. */
export interface Hand {
  create(object: KubeObject): KubeObject;
  update(before: KubeObject, next: KubeObject): KubeObject;
  /** Merged over the status that is there. */
  updateStatus(object: KubeObject, status: Fields): KubeObject;
  /** Spec and status together. */
  updateWhole(before: KubeObject, next: KubeObject): KubeObject;
  updateMetadata(object: KubeObject, metadata: Fields): KubeObject;
  remove(object: KubeObject, gracePeriodSeconds?: number): void;
}

export function handOf(state: ClusterState, actor: string): Hand {
  const { registry, served } = state;
  const resourceOf = (object: KubeObject) => {
    const found = served.of(object);
    if (found === undefined) throw new Error(`${object.apiVersion} ${object.kind} is not served`);
    return found;
  };
  const hand: Hand = {
    create: (object) => registry.create(resourceOf(object), object, { actor }),
    update: (before, next) => registry.update(resourceOf(before), before, next, { actor }),
    updateStatus: (object, status) =>
      registry.update(
        resourceOf(object),
        object,
        { ...object, status: { ...(object.status as Fields | undefined), ...status } },
        { actor, subresource: 'status' },
      ),
    updateWhole: (before, next) => registry.update(resourceOf(before), before, next, { actor, whole: true }),
    updateMetadata: (object, metadata) =>
      hand.update(object, { ...object, metadata: { ...object.metadata, ...metadata } }),
    remove(object, gracePeriodSeconds) {
      registry.remove(resourceOf(object), object, actor, { uid: object.metadata.uid, gracePeriodSeconds });
    },
  };
  return hand;
}

/** `NAMESPACE/NAME`. */
export const keyOf = ({ metadata }: KubeObject): string => `${metadata.namespace ?? ''}/${metadata.name}`;

export function splitKey(key: string): readonly [namespace: string, name: string] {
  const [namespace = '', name = ''] = key.split('/');
  return [namespace, name];
}
