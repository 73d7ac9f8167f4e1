/**
 * A custom resource in a user's own cdk8s app, checked at synth by the same rules as in the API server. What is written to the
 * manifest is what the user wrote: defaults are the API server's to fill in.
 */
import type { ApiObject } from 'cdk8s';
import type { Construct } from 'constructs';
import type { KindDefinition } from '../api/kind.ts';
import { apiVersionOf, type KubeObject } from '../api/object.ts';
import { validateCluster } from '../api/validate.ts';
import { plainObject } from './plain-object.ts';

export interface ResourceMetadata {
  /** At most 40 characters: the names of managed resources derive from it. */
  readonly name: string;
  /** Default: that of the chart; without one, what kubectl or the GitOps tool chooses. */
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

export interface ResourceProps<Spec extends object> {
  readonly metadata: ResourceMetadata;
  readonly spec: Spec;
}

/** The child `Resource` of `scope`, whose synth fails if the object breaks a rule of its kind. */
export function checkedObject(
  scope: Construct,
  kind: KindDefinition,
  { metadata, spec }: ResourceProps<object>,
): ApiObject {
  const { resource } = kind;
  // The type says so, but tsx does not check types, and other constructs of cdk8s make a name themselves.
  if (typeof (metadata as Partial<ResourceMetadata> | undefined)?.name !== 'string') {
    throw new Error(`[${scope.node.path}] metadata.name: is required in a ${resource.kind}`);
  }
  const object: KubeObject = { apiVersion: apiVersionOf(resource), kind: resource.kind, metadata, spec };
  scope.node.addValidation({
    validate: () => {
      const verdict = validateCluster(kind, object);
      return verdict.ok ? [] : verdict.violations.map(({ path, message }) => `${path}: ${message}`);
    },
  });
  return plainObject(scope, 'Resource', object);
}
