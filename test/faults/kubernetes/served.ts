/** The resources of the simulated API server: what each may do, and where a path leads. */
import type { KindDefinition } from '../../../src/api/kind.ts';
import { apiVersionOf, type KubeObject, type Resource } from '../../../src/api/object.ts';
import {
  configMaps,
  controllerRevisions,
  cronJobs,
  events,
  jobs,
  leases,
  networkPolicies,
  persistentVolumeClaims,
  podDisruptionBudgets,
  pods,
  roleBindings,
  roles,
  secrets,
  serviceAccounts,
  services,
  statefulSets,
} from '../../../src/api/resource.ts';
import type { StructuralSchema } from '../../../src/api/schema.ts';
import { endpointSlices, namespaces, nodes, priorityClasses } from '../../support/resources.ts';
import { type FieldRule, fieldRuleOf } from './field-rules.ts';
import { fieldsIn, itemsIn } from './fields.ts';

export interface Served {
  readonly resource: Resource;
  readonly apiVersion: string;
  /** Plural name; no two of the served resources share one. */
  readonly plural: string;
  readonly kind: string;
  readonly hasStatus: boolean;
  readonly hasGeneration: boolean;
  /** Whether a PUT may come without a resourceVersion. */
  readonly unconditionalUpdate: boolean;
  readonly rule: FieldRule;
  /** Of a custom resource. */
  readonly custom: KindDefinition | undefined;
}

interface Traits {
  readonly status?: boolean;
  readonly generation?: boolean;
  readonly conditionalUpdate?: boolean;
}

const builtIn: readonly (readonly [Resource, Traits])[] = [
  [namespaces, { status: true }],
  [nodes, { status: true }],
  [priorityClasses, { generation: true }],
  [configMaps, {}],
  [secrets, {}],
  [serviceAccounts, {}],
  [roles, {}],
  [roleBindings, {}],
  [services, { status: true }],
  [endpointSlices, { generation: true }],
  [persistentVolumeClaims, { status: true }],
  [controllerRevisions, {}],
  [statefulSets, { status: true, generation: true }],
  [pods, { status: true, generation: true }],
  [jobs, { status: true, generation: true }],
  [cronJobs, { status: true, generation: true }],
  [networkPolicies, { generation: true }],
  [podDisruptionBudgets, { status: true, generation: true, conditionalUpdate: true }],
  [leases, { conditionalUpdate: true }],
  [events, {}],
];

export interface Location {
  readonly served: Served;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
}

export interface ServedResources {
  readonly all: readonly Served[];
  of(object: Pick<KubeObject, 'apiVersion' | 'kind'>): Served | undefined;
  named(plural: string): Served;
  /** Undefined where nothing is served. */
  locate(path: string): Location | undefined;
}

export function servedResources(crds: readonly KubeObject[]): ServedResources {
  const all: Served[] = builtIn.map(([resource, traits]) => ({
    resource,
    apiVersion: apiVersionOf(resource),
    plural: resource.plural,
    kind: resource.kind,
    hasStatus: traits.status === true,
    hasGeneration: traits.generation === true,
    unconditionalUpdate: traits.conditionalUpdate !== true,
    rule: fieldRuleOf(resource.kind),
    custom: undefined,
  }));
  for (const crd of crds) all.push(customResource(crd));
  const roots = new Map(all.map((served) => [`${rootOf(served.resource)}/${served.plural}`, served]));
  const kinds = new Map(all.map((served) => [`${served.apiVersion} ${served.kind}`, served]));
  const plurals = new Map(all.map((served) => [served.plural, served]));

  return {
    all,
    of: (object) => kinds.get(`${object.apiVersion} ${object.kind}`),
    named(plural) {
      const served = plurals.get(plural);
      if (served === undefined) throw new Error(`${plural} are not served`);
      return served;
    },
    locate(path) {
      const match =
        /^(\/api\/v1|\/apis\/[^/]+\/[^/]+)(?:\/namespaces\/([^/]+)(?=\/[a-z]+))?\/([a-z]+)(?:\/([^/]+))?(?:\/([a-z]+))?$/;
      const [, root = '', namespace, plural = '', name, subresource] = match.exec(path) ?? [];
      const decoded = name === undefined ? undefined : decodeURIComponent(name);
      if (root === '/api/v1' && namespace !== undefined && plural === 'status') {
        return locatedIn(roots, root, 'namespaces', undefined, namespace, plural);
      }
      return locatedIn(roots, root, plural, namespace, decoded, subresource);
    },
  };
}

function locatedIn(
  roots: ReadonlyMap<string, Served>,
  root: string,
  plural: string,
  namespace: string | undefined,
  name: string | undefined,
  subresource: string | undefined,
): Location | undefined {
  const served = roots.get(`${root}/${plural}`);
  if (served === undefined) return undefined;
  if (served.resource.namespaced && namespace === undefined && name !== undefined) return undefined;
  return { served, namespace, name, subresource };
}

function rootOf(resource: Resource): string {
  return `${resource.group === '' ? '/api' : '/apis'}/${apiVersionOf(resource)}`;
}

function customResource(crd: KubeObject): Served {
  const spec = fieldsIn(crd.spec);
  const names = fieldsIn(spec.names);
  const version = itemsIn(spec.versions).find((entry) => entry.storage === true) ?? {};
  const schema = fieldsIn(version.schema).openAPIV3Schema as StructuralSchema;
  const resource: Resource = {
    group: String(spec.group),
    version: String(version.name),
    kind: String(names.kind),
    plural: String(names.plural),
    namespaced: spec.scope !== 'Cluster',
  };
  return {
    resource,
    apiVersion: apiVersionOf(resource),
    plural: resource.plural,
    kind: resource.kind,
    hasStatus: fieldsIn(version.subresources).status !== undefined,
    hasGeneration: true,
    unconditionalUpdate: false,
    rule: fieldRuleOf(resource.kind, schema),
    custom: {
      resource,
      schema,
      singular: String(names.singular),
      shortNames: [],
      description: '',
      printerColumns: [],
      scale: { specReplicasPath: '', statusReplicasPath: '', labelSelectorPath: '' },
    },
  };
}
