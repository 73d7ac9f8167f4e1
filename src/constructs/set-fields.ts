/** Fields of Kubernetes that a construct of cdk8s-plus has no property for, or writes otherwise than we want it. */
import { ApiObject, JsonPatch } from 'cdk8s';
import type { IConstruct } from 'constructs';

/**
 * Sets fields of the object behind a construct, and replaces what the construct writes there itself. The object is one of the plain
 * classes (`k8s.KubeDeployment`), so `Fields` is their type of the parent (`k8s.PodSpec`): with another one, numbers and quantities
 * would be lost, since these classes read them from `IntOrString` and `Quantity`.
 *
 * @param parent JSON pointer; empty for the object itself
 */
export function setFields<Fields extends object>(construct: IConstruct, parent: string, fields: Partial<Fields>): void {
  const patches = Object.entries(fields).map(([name, value]) => JsonPatch.add(`${parent}/${name}`, value));
  ApiObject.of(construct).addJsonPatch(...patches);
}
