/**
 * Who may say what the pods of a database are called and run as. Labels and annotations decide which policies select a pod and what webhooks
 * add to it, such as a sidecar that reads Secrets; a ServiceAccount can have rights elsewhere. Whoever may create pods has all of this
 * anyway. Whoever may only change databases does not.
 */
import type { Construct } from 'constructs';
import type { KindHandler } from '../engine/engine.ts';
import { admissionPolicy } from './admission-policy.ts';

const fields = ['labels', 'annotations', 'serviceAccountName'];

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
  admissionPolicy(scope, clusterScopedName, 'pod-fields', {
    matchConstraints: { resourceRules },
    matchConditions: [
      {
        name: 'sets-fields-of-pods',
        expression: `has(object.spec) && has(object.spec.pods) && (${fields.map(isSet).join(' || ')})`,
      },
    ],
    validations: [
      {
        expression:
          "authorizer.group('').resource('pods').namespace(object.metadata.namespace).check('create').allowed()",
        message:
          'spec.pods: labels, annotations and serviceAccountName are for those who may create pods in this namespace',
        reason: 'Forbidden',
      },
    ],
  });
}

/** What stays as it is may stay, whoever writes the resource. */
function isSet(field: string): string {
  const [now, before] = [`object.spec.pods.${field}`, `oldObject.spec.pods.${field}`];
  const had = `oldObject != null && has(oldObject.spec) && has(oldObject.spec.pods) && has(${before})`;
  return `(has(${now}) && !(${had} && ${before} == ${now}))`;
}
