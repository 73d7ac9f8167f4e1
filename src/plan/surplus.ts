/** Objects of parts that a spec may leave out, and does not ask for any more. */
import type { Cluster } from '../api/cluster.ts';
import type { KubeObject } from '../api/object.ts';
import { configMaps, networkPolicies, podDisruptionBudgets, services, statefulSets } from '../api/resource.ts';
import type { Children } from '../resources/children.ts';
import { accessComponent, componentLabel, networkComponent } from '../resources/metadata.ts';
import { mayFailToGo } from './access.ts';
import { type Desired, ownerOf } from './objects.ts';
import type { ObjectStep } from './plan.ts';
import { refOf } from './ref.ts';

const kinds = [statefulSets, services, configMaps, networkPolicies, podDisruptionBudgets];

/** In every kind of cluster. A label makes nothing else one of them. */
const common: readonly string[] = [accessComponent, networkComponent];
const commonKinds: readonly string[] = [services.kind, networkPolicies.kind];

interface Surplus {
  readonly object: KubeObject;
  readonly step: ObjectStep;
}

/** `optional`: further components whose objects hold no data. `desired`: all children that the spec asks for. */
export function surplusSteps(...args: Parameters<typeof surplusIn>): ObjectStep[] {
  return surplusIn(...args).flatMap(({ object, step }) =>
    object.metadata.deletionTimestamp === undefined ? [step] : [],
  );
}

/** Those that go already are among them. */
export function surplusIn(
  cluster: Cluster,
  children: Children,
  desired: readonly Desired[],
  optional: readonly string[] = [],
): Surplus[] {
  const wanted = new Set(desired.map(({ object }) => `${object.kind}/${object.metadata.name}`));
  return children.objects.flatMap((object): Surplus[] => {
    const resource = kinds.find(({ kind }) => kind === object.kind);
    const isOurs = cluster.metadata.uid !== undefined && ownerOf(object) === cluster.metadata.uid;
    const component = object.metadata.labels?.[componentLabel] ?? '';
    const mayGo = common.includes(component) ? commonKinds.includes(object.kind) : optional.includes(component);
    if (resource === undefined || !isOurs || !mayGo) return [];
    if (wanted.has(`${object.kind}/${object.metadata.name}`)) return [];
    const ref = refOf(object, resource);
    const reason = 'the spec does not ask for it any more';
    return ref === undefined ? [] : [{ object, step: { type: 'delete', ref, reason, ...mayFailToGo(component) } }];
  });
}
