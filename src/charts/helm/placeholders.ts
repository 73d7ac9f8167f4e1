/**
 * The operator's settings as the chart gives them to the synth, and what a template has in the place of each. A
 * placeholder is recognized wherever it comes out, so no object is written twice.
 */
import type { OperatorProps } from '../../constructs/operator.ts';
import type { PodOptions } from '../../constructs/operator-deployment.ts';
import type { Guard, Template } from './template.ts';

/** Placeholders that are equal to no other text or number of the manifests. */
const given = {
  image: 'chart.image',
  imagePullPolicy: 'chart.imagePullPolicy',
  imagePullSecrets: [{ name: 'chart.imagePullSecrets' }],
  replicas: 900_001,
  namespace: 'chart-release-namespace',
  apiServerPorts: [900_002],
  // Within what the synth accepts.
  maxConcurrentRollouts: 9_973,
  resources: { cpu: 'chart.cpu', memory: 'chart.memory.request', memoryLimit: 'chart.memory.limit' },
  logLevel: 'chart.logLevel',
  nodeSelector: { 'chart.nodeSelector': '' },
  tolerations: [{ key: 'chart.tolerations' }],
  priorityClassName: 'chart.priorityClassName',
  labels: { 'chart.labels': '' },
  annotations: { 'chart.annotations': '' },
  clusterScopedName: 'chart-cluster-scoped-name',
};

const watchedNamespace = 'chart-watched-namespace';
const registry = 'chart.image-registry';
const selector = 'chart.resourceSelector';

/** Helm creates the namespace. The closed unions of two properties have no room for a placeholder. */
export const operatorProps: OperatorProps = {
  ...given,
  imagePullPolicy: given.imagePullPolicy as 'Always',
  logLevel: given.logLevel as 'info',
  createNamespace: false,
};

export const someResources = { resourceSelector: selector } as const;
export const ownRegistry = { imageRegistry: registry } as const;

export const namedNamespaces = { namespaces: [watchedNamespace] } as const;

export const checkOptions: PodOptions & { readonly namespace: string } = given;

/** Expressions of strings, in the places of their placeholders. */
const texts: Readonly<Record<string, string>> = {
  [given.image]: 'include "clusterwright.image" $',
  [selector]: '$.Values.resourceSelector',
  [registry]: '$.Values.imageRegistry',
  [given.imagePullPolicy]: '$.Values.image.pullPolicy',
  [given.namespace]: '$.Release.Namespace',
  [String(given.maxConcurrentRollouts)]: 'int $.Values.maxConcurrentRollouts',
  [given.resources.cpu]: '$.Values.resources.requests.cpu',
  [given.resources.memory]: '$.Values.resources.requests.memory',
  [given.resources.memoryLimit]: '$.Values.resources.limits.memory',
  [given.logLevel]: '$.Values.logLevel',
  [watchedNamespace]: 'include "clusterwright.namespaces" $',
  [given.clusterScopedName]: 'include "clusterwright.clusterScopedName" $',
};

const numbers: ReadonlyMap<number, string> = new Map([[given.replicas, '$.Values.replicas']]);

/** Optional fields whose whole content is a value. */
const contents: readonly { readonly placeholder: unknown; readonly template: Template }[] = [
  [given.imagePullSecrets, '$.Values.imagePullSecrets', 'toYaml'] as const,
  [given.nodeSelector, '$.Values.nodeSelector', 'toYaml'] as const,
  [given.tolerations, '$.Values.tolerations', 'toYaml'] as const,
  [given.priorityClassName, '$.Values.priorityClassName', 'quote'] as const,
].map(([placeholder, value, form]) => ({ placeholder, template: { type: 'value', value, form } }));

/** Keys that stand for further entries of their map. */
const others: Readonly<Record<string, string>> = {
  'chart.labels': '$.Values.labels',
  'chart.annotations': '$.Values.annotations',
};

/** An object in a watched namespace, and an entry with a port of the API server, stand for several. */
const ranges: readonly { readonly isOne: (value: Json) => boolean; readonly guard: Guard & { type: 'range' } }[] = [
  {
    isOne: (value) => isMap(value) && isMap(value.metadata) && value.metadata.namespace === watchedNamespace,
    guard: { type: 'range', variable: '$namespace', over: '(splitList "," (include "clusterwright.namespaces" $))' },
  },
  {
    isOne: (value) => isMap(value) && value.port === given.apiServerPorts[0],
    guard: { type: 'range', variable: '$port', over: '$.Values.apiServerPorts' },
  },
];

/** Within a range, a placeholder is its variable. */
const variables: Readonly<Record<string, string>> = {
  [watchedNamespace]: '$namespace',
  [String(given.apiServerPorts[0])]: '$port',
};

export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json | undefined };

const isMap = (value: Json | undefined): value is { readonly [key: string]: Json | undefined } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** @param isRange within one of {@link ranges} */
export function toTemplate(value: Json, isRange = false): Template {
  const content = contents.find(({ placeholder }) => JSON.stringify(placeholder) === JSON.stringify(value));
  if (content !== undefined) return content.template;
  if (typeof value === 'string') return toText(value, isRange);
  if (typeof value === 'number') return toNumber(value, isRange);
  if (value === null || typeof value === 'boolean') return { type: 'scalar', value };
  if (!isMap(value)) return { type: 'list', items: value.map((each) => toItem(each, isRange)) };
  const entries = Object.entries(value).flatMap(([key, each]) =>
    each === undefined || key in others ? [] : [{ key, guards: [], template: toTemplate(each, isRange) }],
  );
  const further = Object.keys(value).find((key) => key in others);
  return { type: 'map', entries, ...(further === undefined ? {} : { others: others[further] }) };
}

function toItem(value: Json, isRange: boolean) {
  const found = ranges.find(({ isOne }) => isOne(value));
  if (found === undefined) return { guards: [], template: toTemplate(value, isRange) };
  return { guards: [found.guard], template: toTemplate(value, true) };
}

function toText(value: string, isRange: boolean): Template {
  const expressions = isRange ? { ...texts, ...variables } : texts;
  const whole = expressions[value];
  if (whole !== undefined) return { type: 'action', text: `{{ ${whole} | quote }}` };
  const [part, expression] = Object.entries(expressions).find(([placeholder]) => value.includes(placeholder)) ?? [];
  if (part === undefined || expression === undefined) return { type: 'scalar', value };
  // Names alone have a part that varies: nothing in them needs quoting.
  return { type: 'action', text: `"${value.replace(part, `{{ ${expression} }}`)}"` };
}

function toNumber(value: number, isRange: boolean): Template {
  const expression = numbers.get(value) ?? (isRange ? variables[String(value)] : undefined);
  return expression === undefined ? { type: 'scalar', value } : { type: 'action', text: `{{ int ${expression} }}` };
}
