/** The rights that an engine asks for, against what its managed resources and its kind need. */
import { apiVersionOf, type KubeObject, type Resource } from '../api/object.ts';
import {
  certificates,
  configMaps,
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
} from '../api/resource.ts';
import type { KindHandler } from '../engine/engine.ts';
import { isFilled } from '../plan/objects.ts';
import type { EngineCheck } from './check.ts';
import { fieldsIn, itemsIn } from './fields.ts';
import { claimTemplatesOf, type EngineSample, nameOf, objectsOf, podTemplateOf } from './sample.ts';

export const permissionChecks: readonly EngineCheck[] = [
  { name: 'managed resources are of kinds that the operator watches, Secrets are generated', problems: unwatched },
  { name: 'permissions have every verb that the managed resources and the kind need', problems: missing },
  { name: 'permissions name only managed resources, pods, and claims if there are any', problems: needless },
  { name: 'the ports that the operator may connect to are container ports', problems: closedPorts },
];

type Samples = readonly EngineSample[];

/** What `resources` may return, besides Secrets that are generated. */
const watched: readonly Resource[] = [
  services,
  configMaps,
  serviceAccounts,
  roles,
  roleBindings,
  statefulSets,
  networkPolicies,
  podDisruptionBudgets,
  certificates,
];

/** Undefined: none that an engine may have. */
function resourceFor({ apiVersion, kind }: KubeObject): Resource | undefined {
  return [...watched, secrets].find((each) => each.kind === kind && apiVersionOf(each) === apiVersion);
}

function unwatched(engine: KindHandler, samples: Samples): string[] {
  const desired = samples.flatMap(({ cluster }) => engine.resources(cluster));
  const wrong = desired.flatMap((child) => {
    const { object } = child;
    const resource = resourceFor(object);
    if (resource === undefined) return [`the operator does not watch ${object.apiVersion} ${nameOf(object)}`];
    return resource === secrets && !isFilled(child) ? [`${nameOf(object)} is not generated`] : [];
  });
  return [...new Set(wrong)];
}

interface Need {
  readonly resource: Resource;
  readonly verbs: readonly string[];
  readonly why: string;
}

const reading = ['get', 'list', 'watch'];

/** What its kinds make necessary. */
function needsOf(engine: KindHandler, samples: Samples): Need[] {
  const desired = samples.flatMap(({ cluster }) => engine.resources(cluster));
  const objects = objectsOf(desired);
  const hasSets = objects.some(({ kind }) => kind === 'StatefulSet');
  const hasClaims = objects.some((object) => claimTemplatesOf(object).length > 0);
  const hasPolicy = engine.kind.schema.properties?.spec?.properties?.deletionPolicy !== undefined;
  const removed = 'deletionPolicy';
  return [
    ...desired.flatMap(({ object }): Need[] => {
      const resource = resourceFor(object);
      const verbs = resource === secrets ? ['get', 'create'] : [...reading, 'create', 'patch'];
      return resource === undefined ? [] : [{ resource, verbs, why: '`resources` returns them' }];
    }),
    ...(hasSets ? [{ resource: pods, verbs: [...reading, 'delete'], why: 'StatefulSets have them' }] : []),
    ...(hasSets && hasPolicy ? [{ resource: statefulSets, verbs: ['delete'], why: removed }] : []),
    ...(hasClaims ? [{ resource: persistentVolumeClaims, verbs: [...reading, 'patch'], why: 'volumes grow' }] : []),
    ...(hasClaims && hasPolicy ? [{ resource: persistentVolumeClaims, verbs: ['delete'], why: removed }] : []),
    ...(hasPolicy && desired.some(isFilled) ? [{ resource: secrets, verbs: ['delete'], why: removed }] : []),
  ];
}

function verbsOn({ permissions }: KindHandler, { group, plural }: Resource): readonly string[] {
  return permissions
    .filter((rule) => rule.apiGroups.includes(group) && rule.resources.includes(plural))
    .flatMap(({ verbs }) => verbs);
}

function missing(engine: KindHandler, samples: Samples): string[] {
  const lines = needsOf(engine, samples).flatMap(({ resource, verbs, why }) =>
    verbs
      .filter((verb) => !verbsOn(engine, resource).includes(verb))
      .map((verb) => `no ${verb} on ${resource.plural} (${why})`),
  );
  return [...new Set(lines)];
}

function needless(engine: KindHandler, samples: Samples): string[] {
  const needed = needsOf(engine, samples).map(({ resource }) => resource);
  const rules = engine.permissions.flatMap(({ apiGroups, resources, verbs }) =>
    apiGroups.flatMap((group) => resources.flatMap((plural) => ({ group, plural, verbs }))),
  );
  const lines = rules.flatMap(({ group, plural, verbs }) => [
    ...(needed.some((each) => each.plural === plural && each.group === group)
      ? []
      : [`${plural} of the group "${group}" are in no sample: remove the rule, or add a sample that has them`]),
    ...(verbs.includes('*') ? [`every verb on ${plural}`] : []),
    ...(plural === secrets.plural && group === secrets.group
      ? verbs.filter((verb) => ['list', 'watch', 'deletecollection'].includes(verb)).map((verb) => `${verb} on secrets`)
      : []),
  ]);
  return [...new Set(lines)];
}

function closedPorts(engine: KindHandler, samples: Samples): string[] {
  const open = samples
    .flatMap(({ cluster }) => objectsOf(engine.resources(cluster)))
    .flatMap((object) => itemsIn(podTemplateOf(object)?.spec.containers))
    .flatMap((container) => itemsIn(fieldsIn(container).ports).map(({ containerPort }) => containerPort));
  return engine.ports.filter((port) => !open.includes(port)).map((port) => `no container has the port ${port}`);
}
