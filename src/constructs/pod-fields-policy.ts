/**
 * Who may say what the pods of a database are called and run as, and what its Services tell other controllers. Labels and annotations
 * decide which policies select a pod and what webhooks add to it, such as a sidecar that reads Secrets; a ServiceAccount can have rights
 * elsewhere. An annotation of a Service can take the DNS name or the address of somebody else. Whoever may create pods, or Services, has
 * all of this anyway. Whoever may only change databases does not.
 */
import type { Construct } from 'constructs';
import type { KindHandler } from '../engine/engine.ts';
import { admissionPolicy } from './admission-policy.ts';

const podFields: readonly Path[] = ['labels', 'annotations', 'serviceAccountName'].map((field) => ['pods', field]);

/** Of a field of the spec. */
type Path = readonly string[];

/** For the kinds that have `spec.pods`. */
export function podFieldsPolicy(
  scope: Construct,
  clusterScopedName: string,
  handlers: readonly Pick<KindHandler, 'kind'>[],
): void {
  const kinds = handlers.map(({ kind }) => kind).filter(({ schema }) => schema.properties?.spec?.properties?.pods);
  if (kinds.length === 0) return;
  const groups = [...new Set(kinds.map(({ resource }) => resource.group))];
  const resourceRules = groups.map((group) => ({
    apiGroups: [group],
    apiVersions: ['*'],
    operations: ['CREATE', 'UPDATE'],
    resources: kinds.filter(({ resource }) => resource.group === group).map(({ resource }) => resource.plural),
  }));
  const setsPods = isAnySet(podFields);
  const setsServices = isAnySet(annotationsOfServices(kinds));
  admissionPolicy(scope, clusterScopedName, 'pod-fields', {
    matchConstraints: { resourceRules },
    matchConditions: [{ name: 'sets-fields-of-pods', expression: `${setsPods} || ${setsServices}` }],
    validations: [
      {
        expression: `!${setsPods} || ${mayCreate('pods')}`,
        message:
          'spec.pods: labels, annotations and serviceAccountName are for those who may create pods in this namespace',
        reason: 'Forbidden',
      },
      {
        expression: `!${setsServices} || ${mayCreate('services')}`,
        message: 'spec.access: annotations are for those who may create services in this namespace',
        reason: 'Forbidden',
      },
    ],
  });
}

function annotationsOfServices(kinds: readonly KindHandler['kind'][]): readonly Path[] {
  const services = kinds.flatMap(({ schema }) =>
    Object.entries(schema.properties?.spec?.properties?.access?.properties ?? {}),
  );
  const annotated = services.flatMap(([name, { properties }]) => (properties?.annotations === undefined ? [] : [name]));
  return [...new Set(annotated)].map((name) => ['access', name, 'annotations']);
}

function mayCreate(resource: string): string {
  return `authorizer.group('').resource('${resource}').namespace(object.metadata.namespace).check('create').allowed()`;
}

function isAnySet(paths: readonly Path[]): string {
  return paths.length === 0 ? '(false)' : `(${paths.map(isSet).join(' || ')})`;
}

/** What stays as it is may stay, whoever writes the resource. Annotations of a Service are an empty map by default. */
function isSet(path: Path): string {
  const [now, before] = [['object', 'spec', ...path].join('.'), ['oldObject', 'spec', ...path].join('.')];
  const had = `oldObject != null && ${hasAll(['oldObject', 'spec', ...path])}`;
  return `(${hasAll(['object', 'spec', ...path])} && size(${now}) > 0 && !(${had} && ${before} == ${now}))`;
}

function hasAll([root = '', ...path]: Path): string {
  return path.map((_, index) => `has(${[root, ...path.slice(0, index + 1)].join('.')})`).join(' && ');
}
