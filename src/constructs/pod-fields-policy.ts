/**
 * Who may change the labels, annotations and ServiceAccount of a database's pods, the annotations of its Services, its NetworkPolicy, and the
 * names for which cert-manager signs. By labels and annotations, network policies select a pod, and webhooks add sidecars to it, which can read
 * Secrets. Without a label, a policy of the platform no longer selects the pod. A ServiceAccount can have rights of its own. By an annotation, a
 * Service can claim the DNS name or the address of another team. A NetworkPolicy lets in clients that no other policy lets in. By a certificate,
 * a server can pretend to be another one. A user who may create pods, Services, NetworkPolicies or Certificates can do all of this anyway. A user
 * who may only change databases cannot, and this policy keeps it so.
 */
import type { Construct } from 'constructs';
import type { KindHandler } from '../engine/engine.ts';
import { admissionPolicy } from './admission-policy.ts';

const podFields: readonly Path[] = ['labels', 'annotations', 'serviceAccountName'].map((field) => ['pods', field]);

/** DNS names that somebody chooses, and the source of certificates that signs them with an issuer that others may trust. */
const names: Path = ['access', 'names'];
const issuer: Path = ['tls', 'client', 'certManager'];

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
  const guards: readonly Guard[] = [
    {
      isChanged: isAnyChanged(podFields.map((path) => [path])),
      resource: 'pods',
      fields: 'spec.pods: to set, change or remove labels, annotations or serviceAccountName',
    },
    {
      isChanged: isAnyChanged(annotationsOfServices(kinds).map((path) => [path])),
      resource: 'services',
      fields: 'spec.access: to set, change or remove annotations',
    },
    {
      isChanged: changesNetwork,
      resource: 'networkpolicies',
      group: 'networking.k8s.io',
      fields: 'spec.networkPolicy: to set, change or remove it',
    },
    {
      isChanged: isAnyChanged(kinds.some(hasNames) ? [[names, issuer]] : []),
      resource: 'certificates',
      group: 'cert-manager.io',
      fields: 'spec.access.names: to set, change or remove names in a certificate of tls.client.certManager',
    },
  ];
  admissionPolicy(scope, clusterScopedName, 'pod-fields', {
    matchConstraints: { resourceRules },
    matchConditions: [
      { name: 'sets-fields-of-pods', expression: guards.map(({ isChanged }) => isChanged).join(' || ') },
    ],
    validations: guards.map(({ isChanged, resource, group, fields }) => ({
      expression: `!${isChanged} || ${mayCreate(resource, group)}`,
      message: `${fields}, you need the permission to create ${resource}${group === 'cert-manager.io' ? ` of ${group}` : ''} in this namespace`,
      reason: 'Forbidden',
    })),
  });
}

interface Guard {
  /** Whether the request changes the fields, in CEL and in parentheses. */
  readonly isChanged: string;
  /** Who may create these may also change the fields. */
  readonly resource: string;
  readonly group?: string;
  readonly fields: string;
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

function hasNames({ schema }: KindHandler['kind']): boolean {
  return schema.properties?.spec?.properties?.access?.properties?.names !== undefined;
}

function mayCreate(resource: string, group = ''): string {
  return `authorizer.group('${group}').resource('${resource}').namespace(object.metadata.namespace).check('create').allowed()`;
}

/** Each entry: a field, and others without which it does nothing. */
function isAnyChanged(fields: readonly (readonly [Path, ...Path[]])[]): string {
  return fields.length === 0 ? '(false)' : `(${fields.map(isChanged).join(' || ')})`;
}

/** An empty map says nothing: it is the default of the annotations of a Service. */
function isChanged([path, ...others]: readonly [Path, ...Path[]]): string {
  const isSet = (root: string): string =>
    [
      ...[path, ...others].map((each) => hasAll([root, 'spec', ...each])),
      `size(${[root, 'spec', ...path].join('.')}) > 0`,
    ].join(' && ');
  const [now, before] = ['object', 'oldObject'].map((root) => [root, 'spec', ...path].join('.'));
  const wasSet = `oldObject != null && ${isSet('oldObject')}`;
  return `(${isSet('object')} ? !(${wasSet} && ${before} == ${now}) : ${wasSet})`;
}

function hasAll([root = '', ...path]: Path): string {
  return path.map((_, index) => `has(${[root, ...path.slice(0, index + 1)].join('.')})`).join(' && ');
}
