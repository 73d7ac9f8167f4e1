/**
 * Who may set the labels, annotations and ServiceAccount of a database's pods, the annotations of its Services, and its NetworkPolicy. By
 * labels and annotations, network policies select a pod, and webhooks add sidecars to it, which can read Secrets. A ServiceAccount can have rights of
 * its own. By an annotation, a Service can claim the DNS name or the address of another team. A NetworkPolicy lets in clients that no other
 * policy lets in. A user who may create pods, Services or NetworkPolicies can do all of this anyway. A user who may only change databases
 * cannot, and this policy keeps it so.
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
    matchConditions: [
      { name: 'sets-fields-of-pods', expression: `${setsPods} || ${setsServices} || ${changesNetwork}` },
    ],
    validations: [
      {
        expression: `!${setsPods} || ${mayCreate('pods')}`,
        message:
          'spec.pods: to set labels, annotations or serviceAccountName, you need the permission to create pods in this namespace',
        reason: 'Forbidden',
      },
      {
        expression: `!${setsServices} || ${mayCreate('services')}`,
        message: 'spec.access: to set annotations, you need the permission to create services in this namespace',
        reason: 'Forbidden',
      },
      {
        expression: `!${changesNetwork} || ${mayCreate('networkpolicies', 'networking.k8s.io')}`,
        message:
          'spec.networkPolicy: to set, change or remove it, you need the permission to create networkpolicies in this namespace',
        reason: 'Forbidden',
      },
    ],
  });
}

/** Without it, everybody may connect whom no other NetworkPolicy keeps away. So removing it is a change as well. */
const changesNetwork =
  '(has(object.spec.networkPolicy) ? !(oldObject != null && has(oldObject.spec.networkPolicy) && oldObject.spec.networkPolicy == object.spec.networkPolicy) : oldObject != null && has(oldObject.spec.networkPolicy))';

function annotationsOfServices(kinds: readonly KindHandler['kind'][]): readonly Path[] {
  const services = kinds.flatMap(({ schema }) =>
    Object.entries(schema.properties?.spec?.properties?.access?.properties ?? {}),
  );
  const annotated = services.flatMap(([name, { properties }]) => (properties?.annotations === undefined ? [] : [name]));
  return [...new Set(annotated)].map((name) => ['access', name, 'annotations']);
}

function mayCreate(resource: string, group = ''): string {
  return `authorizer.group('${group}').resource('${resource}').namespace(object.metadata.namespace).check('create').allowed()`;
}

function isAnySet(paths: readonly Path[]): string {
  return paths.length === 0 ? '(false)' : `(${paths.map(isSet).join(' || ')})`;
}

/** True when the request sets the field to another value. An empty map sets nothing: it is the default of the annotations of a Service. */
function isSet(path: Path): string {
  const [now, before] = [['object', 'spec', ...path].join('.'), ['oldObject', 'spec', ...path].join('.')];
  const had = `oldObject != null && ${hasAll(['oldObject', 'spec', ...path])}`;
  return `(${hasAll(['object', 'spec', ...path])} && size(${now}) > 0 && !(${had} && ${before} == ${now}))`;
}

function hasAll([root = '', ...path]: Path): string {
  return path.map((_, index) => `has(${[root, ...path.slice(0, index + 1)].join('.')})`).join(' && ');
}
