/** Services that a spec asks for in `access`: whether they can be made decides about the clients outside, and about no data. */
import type { KubeObject } from '../api/object.ts';
import { accessComponent } from '../resources/metadata.ts';
import type { Desired } from './objects.ts';
import type { MayFail } from './plan.ts';

export const accessMayFail = { optional: true, finding: 'AccessRefused' } as const satisfies MayFail;

export function accessChildren(services: readonly KubeObject[]): Desired[] {
  return services.map((object) => ({ object, mayFail: accessMayFail }));
}

/** Of an object of this component that the spec does not ask for any more. */
export function mayFailToGo(component: string): MayFail {
  return component === accessComponent ? accessMayFail : {};
}
