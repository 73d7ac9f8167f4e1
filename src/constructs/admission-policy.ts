/** A ValidatingAdmissionPolicy with its binding: what it refuses is refused everywhere in the Kubernetes cluster. */
import type { Construct } from 'constructs';
import { operatorLabels } from './operator-identity.ts';
import { plainObject } from './plain-object.ts';

const api = 'admissionregistration.k8s.io/v1';

export interface AdmissionPolicy {
  readonly matchConstraints: object;
  /** CEL. A request that one of them is false for is not looked at. */
  readonly matchConditions: readonly { readonly name: string; readonly expression: string }[];
  readonly validations: readonly { readonly expression: string; readonly message: string; readonly reason: string }[];
}

/** `id`: of both constructs, and at the end of the name of both objects. */
export function admissionPolicy(scope: Construct, clusterScopedName: string, id: string, spec: AdmissionPolicy): void {
  const name = `${clusterScopedName}-${id}`;
  const metadata = { name, labels: operatorLabels };
  plainObject(scope, `${id}-policy`, {
    apiVersion: api,
    kind: 'ValidatingAdmissionPolicy',
    metadata,
    spec: { failurePolicy: 'Fail', ...spec },
  });
  plainObject(scope, `${id}-binding`, {
    apiVersion: api,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata,
    spec: { policyName: name, validationActions: ['Deny'] },
  });
}
