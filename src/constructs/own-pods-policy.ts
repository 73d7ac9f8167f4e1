/**
 * What pods of databases may not do with their own ServiceAccount. Patroni needs `patch` on pods to label them, and RBAC cannot limit a
 * patch to some fields: without this policy, a pod could change the image of other members, or take a pod from its owner.
 */
import type { Construct } from 'constructs';
import type { KindHandler } from '../engine/engine.ts';
import { managedBy, managedByLabel } from '../resources/metadata.ts';
import { admissionPolicy } from './admission-policy.ts';

const roleLabel = 'clusterwright.dev/role';

/** Only where pods of an engine have rights of their own. */
export function ownPodsPolicy(scope: Construct, clusterScopedName: string, handlers: readonly KindHandler[]): void {
  if (!handlers.some(makesAccounts)) return;
  admissionPolicy(scope, clusterScopedName, 'own-pods', {
    matchConstraints: {
      // Either of the old object and the new one has to match: a pod cannot leave by losing the label.
      objectSelector: { matchLabels: { [managedByLabel]: managedBy } },
      resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['UPDATE'], resources: ['pods'] }],
    },
    matchConditions: [{ name: 'own-account', expression: isOwnAccount }],
    validations: [
      denied('object.spec == oldObject.spec', 'its spec'),
      denied(haveSameLabels, `labels other than ${roleLabel}`),
      denied(sameList('ownerReferences'), 'its owner references'),
      denied(sameList('finalizers'), 'its finalizers'),
    ],
  });
}

function makesAccounts({ permissions }: KindHandler): boolean {
  return permissions.some(({ resources, verbs }) => resources.includes('serviceaccounts') && verbs.includes('create'));
}

const isOwnAccount =
  "request.userInfo.username == 'system:serviceaccount:' + oldObject.metadata.namespace + ':' + oldObject.spec.serviceAccountName";

const haveSameLabels = [
  'has(object.metadata.labels) && has(oldObject.metadata.labels)',
  `object.metadata.labels.all(key, key == '${roleLabel}' || (key in oldObject.metadata.labels && object.metadata.labels[key] == oldObject.metadata.labels[key]))`,
  `oldObject.metadata.labels.all(key, key == '${roleLabel}' || key in object.metadata.labels)`,
].join(' && ');

function sameList(field: string): string {
  const [now, before] = [`object.metadata.${field}`, `oldObject.metadata.${field}`];
  return `has(${now}) == has(${before}) && (!has(${now}) || ${now} == ${before})`;
}

function denied(expression: string, what: string) {
  return { expression, message: `a pod of a database may not change ${what}`, reason: 'Forbidden' };
}
