/** A plain Kubernetes object as a construct. */
import { ApiObject, type ApiObjectProps } from 'cdk8s';
import type { Construct } from 'constructs';
import type { KubeObject } from '../api/object.ts';

/** cdk8s's types want arrays that it could write to; it does not. */
export function plainObject(scope: Construct, id: string, object: KubeObject): ApiObject {
  return new ApiObject(scope, id, object as unknown as ApiObjectProps);
}
