/**
 * Names and settings of StatefulSets and their claims, by which code that knows no engine finds pods and volumes, lets them
 * grow and deletes them.
 */
import type { KubeObject } from '../api/object.ts';
import { canonicalQuantity } from '../api/quantity.ts';
import type { KindHandler } from '../engine/engine.ts';
import { claimTemplates } from '../plan/claimed.ts';
import { componentLabel, instanceLabel, managedByLabel, memberLabel, nameLabel } from '../resources/metadata.ts';
import type { SampleCheck } from './check.ts';
import { type Fields, fieldsIn } from './fields.ts';
import { claimTemplatesOf, type EngineSample, nameOf, objectsOf } from './sample.ts';

export const volumeChecks: readonly SampleCheck[] = [
  { name: 'StatefulSets have names by which their pods and volumes are found', problems: misnamed },
  { name: 'StatefulSets restart no pod by themselves', problems: rolling },
  { name: 'claims have the name, the labels and the form of size by which they are found and grow', problems: lost },
];

function setsOf(engine: KindHandler, { cluster }: EngineSample): KubeObject[] {
  return objectsOf(engine.resources(cluster)).filter(({ kind }) => kind === 'StatefulSet');
}

function misnamed(engine: KindHandler, sample: EngineSample): string[] {
  const { name: cluster } = sample.cluster.metadata;
  return setsOf(engine, sample).flatMap((set) => {
    const { name } = set.metadata;
    const suffix = name === cluster ? '' : name.startsWith(`${cluster}-`) ? name.slice(cluster.length + 1) : name;
    if (suffix === '') return [];
    if (claimTemplatesOf(set).length === 0) {
      return /^[a-z]+(-\d+)?$/.test(suffix) && suffix !== name
        ? []
        : [`${nameOf(set)} is not called CLUSTER, CLUSTER-WORD or CLUSTER-WORD-N`];
    }
    if (!/^\d+$/.test(suffix)) return [`${nameOf(set)} has volumes, and is not called CLUSTER or CLUSTER-NUMBER`];
    const isOfOne = Number(fieldsIn(set.spec).replicas) <= 1;
    return isOfOne ? [] : [`${nameOf(set)} is of one member by its name, and has more than one pod`];
  });
}

function rolling(engine: KindHandler, sample: EngineSample): string[] {
  return setsOf(engine, sample)
    .filter(({ spec }) => fieldsIn(fieldsIn(spec).updateStrategy).type !== 'OnDelete')
    .map((set) => `${nameOf(set)} does not have the update strategy OnDelete`);
}

function lost(engine: KindHandler, sample: EngineSample): string[] {
  return setsOf(engine, sample).flatMap((set) => {
    const templates = claimTemplatesOf(set);
    return [
      ...(templates.length > claimTemplates.length ? [`${nameOf(set)} has more than two claim templates`] : []),
      ...templates.flatMap((template, at) =>
        claimProblems(sample.cluster.metadata.name, set, template, claimTemplates[at] ?? ''),
      ),
    ];
  });
}

function claimProblems(cluster: string, set: KubeObject, template: Fields, called: string): string[] {
  const { name, labels } = fieldsIn(template.metadata);
  const wanted: Fields = {
    ...Object.fromEntries(
      [nameLabel, instanceLabel, componentLabel, managedByLabel].map((label) => [label, set.metadata.labels?.[label]]),
    ),
    ...(set.metadata.name === cluster ? {} : { [memberLabel]: set.metadata.name }),
  };
  const { storage } = fieldsIn(fieldsIn(fieldsIn(template.spec).resources).requests);
  const canonical = storage === undefined ? 'a size' : canonicalQuantity(storage as string | number);
  return [
    ...(name === called ? [] : [`a claim template of ${nameOf(set)} is called ${name} instead of ${called}`]),
    ...Object.entries(wanted)
      .filter(([label, value]) => fieldsIn(labels)[label] !== value)
      .map(([label, value]) => `claims of ${nameOf(set)} do not have the label ${label}: ${value}`),
    ...(storage === canonical ? [] : [`claims of ${nameOf(set)} ask for ${storage}; write it as ${canonical}`]),
  ];
}
