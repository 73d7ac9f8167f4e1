/** What all other code relies on in the managed resources of a cluster. */
import type { Cluster } from '../api/cluster.ts';
import type { KubeObject } from '../api/object.ts';
import type { KindHandler } from '../engine/engine.ts';
import { difference, fingerprinted } from '../plan/difference.ts';
import { isFilled } from '../plan/objects.ts';
import {
  agentComponent,
  componentLabel,
  instanceLabel,
  managedBy,
  managedByLabel,
  nameLabel,
} from '../resources/metadata.ts';
import type { SampleCheck } from './check.ts';
import type { Fields } from './fields.ts';
import { restrictedBreaches } from './pod-security.ts';
import { type EngineSample, isSelected, nameOf, objectsOf, podTemplateOf, selectorOf } from './sample.ts';
import { stored } from './stored-object.ts';

const partOfLabel = 'app.kubernetes.io/part-of';
const versionLabel = 'app.kubernetes.io/version';
const roleLabel = 'clusterwright.dev/role';

export const resourceChecks: readonly SampleCheck[] = [
  { name: 'managed resources depend only on the name, the UID and the spec of the cluster', problems: changing },
  { name: 'each managed resource has a name of its own', problems: repeated },
  { name: 'managed resources have the common labels and the namespace of the cluster', problems: unlabelled },
  { name: 'managed resources are owned by the cluster, Secrets that are generated are not', problems: unowned },
  { name: 'selectors have only fixed labels, and select pods of this cluster', problems: misselecting },
  { name: 'pods satisfy the restricted Pod Security Standard', problems: insecure },
  { name: 'what the API server adds to a managed resource is no difference', problems: differing },
];

/** The same cluster with labels and annotations of a user. */
function dressed(cluster: Cluster): Cluster {
  const labels = { 'example.com/team': 'a', [nameLabel]: 'mine', [managedByLabel]: 'me' };
  return { ...cluster, metadata: { ...cluster.metadata, labels, annotations: { note: 'any text' } } };
}

function changing(engine: KindHandler, { cluster }: EngineSample): string[] {
  const once = JSON.stringify(engine.resources(cluster));
  const again = JSON.stringify(engine.resources(structuredClone(cluster)));
  const withLabels = JSON.stringify(engine.resources(dressed(cluster)));
  return [
    ...(again === once ? [] : ['two calls of `resources` with the same cluster return different objects']),
    ...(withLabels === again ? [] : ['labels or annotations of the cluster change what `resources` returns']),
  ];
}

function repeated(engine: KindHandler, { cluster }: EngineSample): string[] {
  const names = objectsOf(engine.resources(cluster)).map(nameOf);
  return names.filter((name, at) => names.indexOf(name) !== at).map((name) => `${name} is there twice`);
}

function unlabelled(engine: KindHandler, { cluster }: EngineSample): string[] {
  const { name, namespace } = cluster.metadata;
  const fixed = { [nameLabel]: engine.name, [instanceLabel]: name, [managedByLabel]: managedBy, [partOfLabel]: name };
  return objectsOf(engine.resources(cluster)).flatMap((object) => {
    const labels: Fields = object.metadata.labels ?? {};
    return [
      ...(object.metadata.namespace === namespace ? [] : [`${nameOf(object)} is not in the namespace of the cluster`]),
      ...Object.entries(fixed)
        .filter(([label, value]) => labels[label] !== value)
        .map(([label, value]) => `${nameOf(object)} has the label ${label}: ${labels[label]} instead of ${value}`),
      ...[componentLabel, versionLabel]
        .filter((label) => typeof labels[label] !== 'string')
        .map((label) => `${nameOf(object)} has no label ${label}`),
      ...(labels[componentLabel] === agentComponent
        ? [`${nameOf(object)} has the component ${agentComponent}, by which Jobs of backups are found`]
        : []),
    ];
  });
}

function unowned(engine: KindHandler, { cluster }: EngineSample): string[] {
  return engine.resources(cluster).flatMap((desired) => {
    const { object } = desired;
    const owners = object.metadata.ownerReferences ?? [];
    if (isFilled(desired)) {
      return owners.length === 0
        ? []
        : [`${nameOf(object)} has an owner, and would go with it whatever the policy says`];
    }
    if (isKeptByDatabase(object) && owners.length === 0) return [];
    const isOwned = owners.length === 1 && owners[0]?.uid === cluster.metadata.uid && owners[0]?.controller === true;
    return isOwned ? [] : [`${nameOf(object)} is not owned by the cluster alone, as its controller`];
  });
}

/** A ConfigMap that is made empty, for the database to write to: it is kept and deleted with the volumes. */
function isKeptByDatabase({ kind, data, binaryData }: KubeObject): boolean {
  return kind === 'ConfigMap' && data === undefined && binaryData === undefined;
}

function misselecting(engine: KindHandler, { cluster, whole }: EngineSample): string[] {
  const objects = objectsOf(engine.resources(cluster));
  const pods = whole.children.pods.map(({ metadata }): Fields => metadata.labels ?? {});
  const of = (object: KubeObject, selector: Fields): string[] => {
    const identity = { [instanceLabel]: cluster.metadata.name, [managedByLabel]: managedBy };
    const foreign = Object.keys(selector).filter((key) => !/^(app\.kubernetes\.io|clusterwright\.dev)\//.test(key));
    const labels = podTemplateOf(object)?.labels;
    return [
      ...(isSelected(selector, identity) ? [] : [`${nameOf(object)} selects pods of other clusters, too`]),
      ...[...foreign, ...(versionLabel in selector ? [versionLabel] : [])].map(
        (label) => `${nameOf(object)} selects by ${label}, which may change`,
      ),
      ...(labels === undefined || isSelected(labels, selector)
        ? []
        : [`${nameOf(object)} does not select its own pods`]),
      ...(labels !== undefined || pods.some((pod) => isSelected(pod, sought(selector, pods.length)))
        ? []
        : [`${nameOf(object)} selects none of the pods of \`whole\``]),
    ];
  };
  return objects.flatMap((object) => {
    const selector = selectorOf(object);
    return selector === undefined ? [] : of(object, selector);
  });
}

/** One pod alone has one role, and the Service of the other role leads nowhere until there are more. */
function sought({ [roleLabel]: role, ...others }: Fields, pods: number): Fields {
  return pods === 1 || role === undefined ? others : { ...others, [roleLabel]: role };
}

function insecure(engine: KindHandler, { cluster }: EngineSample): string[] {
  const templates = objectsOf(engine.resources(cluster)).flatMap((object) => {
    const template = podTemplateOf(object);
    return template === undefined ? [] : [{ object, template }];
  });
  if (templates.length === 0) return ['there is no StatefulSet'];
  return templates.flatMap(({ object, template }) =>
    restrictedBreaches(template.spec).map((breach) => `${nameOf(object)}: ${breach}`),
  );
}

function differing(engine: KindHandler, { cluster }: EngineSample): string[] {
  return engine.resources(cluster).flatMap((desired) => {
    if (isFilled(desired)) return [];
    const wanted = fingerprinted(desired.object);
    return difference(wanted, stored(wanted)).map(
      ({ path, from, to }) =>
        `${nameOf(desired.object)} would be applied again and again: ${path} is ${JSON.stringify(from)} and should be ${JSON.stringify(to)}`,
    );
  });
}
