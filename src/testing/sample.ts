/** What an engine shows of itself to the conformance suite. */
import type { Cluster } from '../api/cluster.ts';
import type { KubeObject } from '../api/object.ts';
import type { EngineContext } from '../engine/engine-context.ts';
import type { Desired } from '../plan/objects.ts';
import type { Children } from '../resources/children.ts';
import { type Fields, fieldsIn, itemsIn } from './fields.ts';

export interface EngineSample {
  /** What is special about its spec: `defaults`, `one member`. */
  readonly story: string;
  /** Valid, with its defaults and a UID, as `validateCluster` returns it. */
  readonly cluster: Cluster;
  /** Its managed resources and its processes when all is well. */
  readonly whole: { readonly children: Children; readonly io: EngineContext };
  /** Every secret text of the cluster. Default none. */
  readonly secrets?: readonly string[];
}

export const objectsOf = (desired: readonly Desired[]): KubeObject[] => desired.map(({ object }) => object);

/** `Service db`, for messages. */
export const nameOf = ({ kind, metadata }: KubeObject): string => `${kind} ${metadata.name}`;

/** What a StatefulSet makes pods of. */
export function podTemplateOf({ spec }: KubeObject): { readonly labels: Fields; readonly spec: Fields } | undefined {
  const template = fieldsIn(fieldsIn(spec).template);
  return template.spec === undefined
    ? undefined
    : { labels: fieldsIn(fieldsIn(template.metadata).labels), spec: fieldsIn(template.spec) };
}

export const claimTemplatesOf = ({ spec }: KubeObject): readonly Fields[] =>
  itemsIn(fieldsIn(spec).volumeClaimTemplates);

/** The label selector of an object that Kubernetes acts upon; undefined where it has none. */
export function selectorOf({ kind, spec }: KubeObject): Fields | undefined {
  const selector = fieldsIn(spec).selector;
  if (selector === undefined) return undefined;
  return kind === 'Service' ? fieldsIn(selector) : fieldsIn(fieldsIn(selector).matchLabels);
}

/** Whether an object with these labels is selected. */
export const isSelected = (labels: Fields, selector: Fields): boolean =>
  Object.entries(selector).every(([key, value]) => labels[key] === value);
