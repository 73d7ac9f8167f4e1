/** CPU and memory of the containers of pods and templates: what differs, and what Kubernetes may change in a running pod. */
import { isDeepStrictEqual } from 'node:util';
import { compareQuantities, QuantityError } from '../api/quantity.ts';
import type { ContainerOf, ContainerStatus, InitContainerOf, Pod, StatefulSet } from '../resources/children.ts';
import type { ContainerList, Requirements, ResizedContainer } from '../resources/resize.ts';
import type { FieldChange } from './plan.ts';

export type Template = NonNullable<NonNullable<StatefulSet['spec']>['template']>;

interface Resizable {
  readonly list: ContainerList;
  readonly index: number;
  readonly container: ContainerOf;
}

/** All containers but those that run to their end before the others start. */
function resizable(
  spec: { readonly containers?: readonly ContainerOf[]; readonly initContainers?: readonly InitContainerOf[] } = {},
): readonly Resizable[] {
  const of = (list: ContainerList, found: readonly InitContainerOf[] = []) =>
    found.map((container, index) => ({ list, index, container }));
  const sidecars = of('initContainers', spec.initContainers);
  return [
    ...sidecars.filter(({ container }) => container.restartPolicy === 'Always'),
    ...of('containers', spec.containers),
  ];
}

function counterpart({ list, container }: Resizable, others: readonly Resizable[]): Resizable | undefined {
  return others.find((one) => one.list === list && one.container.name === container.name);
}

const kinds = ['requests', 'limits'] as const;
const names = ['cpu', 'memory'] as const;
type Kind = (typeof kinds)[number];
type Amount = readonly [kind: Kind, name: (typeof names)[number], amount: string | number];

/** As a pod gets them from a template: where there is no request, the limit is the request, too. */
function amountsIn({ resources: { requests, limits = {} } = {} }: ContainerOf): Amount[] {
  return written({ requests: { ...limits, ...requests }, limits });
}

function written(resources: Requirements = {}): Amount[] {
  return kinds.flatMap((kind) =>
    names.flatMap((name): Amount[] => {
      const amount = resources[kind]?.[name];
      return amount === undefined ? [] : [[kind, name, amount]];
    }),
  );
}

function isSame(one: string | number | undefined, other: string | number): boolean {
  if (one === undefined || one === other) return one === other;
  try {
    return compareQuantities(one, other) === 0;
  } catch (error) {
    if (error instanceof QuantityError) return false;
    throw error;
  }
}

export interface MissingResources {
  readonly containers: readonly ResizedContainer[];
  readonly changes: readonly FieldChange[];
}

/**
 * What the pod does not have of what the template asks for; undefined where it does not have one of the containers. What each of the `former`
 * templates has asked for, too, is left as it is: a webhook may have given the pod something else, as it would a new one.
 */
export function missingResources(
  pod: Pod,
  template: Template,
  former: readonly Template[] = [],
): MissingResources | undefined {
  const has = resizable(pod.spec);
  const containers: ResizedContainer[] = [];
  const changes: FieldChange[] = [];
  for (const wanted of resizable(template.spec)) {
    const found = counterpart(wanted, has);
    if (found === undefined) return undefined;
    const { list, index } = found;
    const { name, resources = {} } = found.container;
    const missing = amountsIn(wanted.container).filter(
      (amount) => !isSame(resources[amount[0]]?.[amount[1]], amount[2]) && isNew(wanted, amount, former),
    );
    if (missing.length > 0) containers.push({ list, index, name, resources: withAmounts(resources, missing) });
    for (const [kind, of, to] of missing) {
      const from = resources[kind]?.[of];
      const path = `spec.${list}[${name}].resources.${kind}.${of}`;
      changes.push({ path, ...(from === undefined ? {} : { from }), to });
    }
  }
  return { containers, changes };
}

/** Where nobody knows what was asked for before, all of it is. */
function isNew(wanted: Resizable, [kind, name, amount]: Amount, former: readonly Template[]): boolean {
  const wasAsked = ({ spec }: Template): boolean => {
    const found = counterpart(wanted, resizable(spec));
    const amounts = found === undefined ? [] : amountsIn(found.container);
    return amounts.some((one) => one[0] === kind && one[1] === name && isSame(one[2], amount));
  };
  return former.length === 0 || !former.every(wasAsked);
}

function withAmounts(resources: Requirements, amounts: readonly Amount[]): Requirements {
  const changed = kinds.flatMap((kind) => {
    const given = amounts.filter((one) => one[0] === kind).map(([, name, amount]) => [name, amount]);
    return given.length === 0 ? [] : [[kind, { ...resources[kind], ...Object.fromEntries(given) }]];
  });
  return { ...resources, ...Object.fromEntries(changed) };
}

/** Of one amount, or of all of them where there were none. */
const resourcePath =
  /^spec\.template\.spec\.(containers|initContainers)\[[^\]]+\]\.resources\.(requests|limits)(\.(cpu|memory))?$/;

/** Of a change of a StatefulSet: whether it may reach pods without a restart. */
export function isResourcePath(path: string): boolean {
  return resourcePath.test(path);
}

/** The container that its kubelet restarts for these changes, without the order that a rollout has. */
export function restartedContainer(pod: Pod, changes: readonly FieldChange[]): string | undefined {
  return resizable(pod.spec).find(({ list, container: { name, resizePolicy = [] } }) =>
    resizePolicy.some(
      ({ resourceName, restartPolicy }) =>
        restartPolicy === 'RestartContainer' &&
        changes.some(({ path }) => path.startsWith(`spec.${list}[${name}].`) && path.endsWith(`.${resourceName}`)),
    ),
  )?.container.name;
}

/** The kubelet says that the containers of the template run with what the pod asks for. */
export function hasActuated({ spec, status }: Pod, template: Template): boolean {
  const statuses: Readonly<Record<ContainerList, readonly ContainerStatus[]>> = {
    containers: status?.containerStatuses ?? [],
    initContainers: status?.initContainerStatuses ?? [],
  };
  const asked = resizable(spec);
  return resizable(template.spec).every((one) => {
    const { list, container } = one;
    const has = statuses[list].find(({ name }) => name === container.name)?.resources ?? {};
    return written(counterpart(one, asked)?.container.resources).every(([kind, name, amount]) =>
      isSame(has[kind]?.[name], amount),
    );
  });
}

/** Nothing else differs, and no amount is taken away: Kubernetes takes none away from a running pod. */
export function differInResourcesAlone(before: Template, after: Template): boolean {
  return isDeepStrictEqual(withoutResources(before), withoutResources(after)) && keepsAmounts(before, after);
}

/** Each amount that a container has, it has after it, too, whatever its value. */
export function keepsAmounts(before: Template, after: Template): boolean {
  const now = resizable(after.spec);
  return resizable(before.spec).every((one) => {
    const left = counterpart(one, now);
    const kept = left === undefined ? [] : amountsIn(left.container);
    return amountsIn(one.container).every(([kind, name]) =>
      kept.some((amount) => amount[0] === kind && amount[1] === name),
    );
  });
}

function withoutResources(template: Template): unknown {
  // A revision is kept as a patch.
  const { $patch: _, ...content } = template as Template & { readonly $patch?: unknown };
  const { spec } = content;
  const found = new Set(resizable(spec).map(({ container }) => container));
  const strip = (container: ContainerOf): ContainerOf => (found.has(container) ? stripped(container) : container);
  const containers = spec?.containers === undefined ? {} : { containers: spec.containers.map(strip) };
  const first = spec?.initContainers === undefined ? {} : { initContainers: spec.initContainers.map(strip) };
  return withoutNulls({ ...content, spec: { ...spec, ...containers, ...first } });
}

function stripped({ resources = {}, ...container }: ContainerOf): ContainerOf {
  const others = Object.entries(resources).flatMap(([field, value]): [string, unknown][] => {
    if (field !== 'requests' && field !== 'limits') return [[field, value]];
    const { cpu: _cpu, memory: _memory, ...left } = value as NonNullable<Requirements[Kind]>;
    return Object.keys(left).length === 0 ? [] : [[field, left]];
  });
  return others.length === 0 ? container : { ...container, resources: Object.fromEntries(others) };
}

/** A field that is null says nothing: a revision has some that the API server leaves out. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, child]) => (child === null ? [] : [[key, withoutNulls(child)]])),
  );
}
