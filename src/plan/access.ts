/** What a spec says of who connects, in `access` and `networkPolicy`: whether it can be made decides about clients, and about no data. */
import type { KubeObject } from '../api/object.ts';
import { accessComponent, networkComponent } from '../resources/metadata.ts';
import type { Desired } from './objects.ts';
import type { MayFail } from './plan.ts';

export const accessMayFail = { optional: true, finding: 'AccessRefused' } as const satisfies MayFail;

/** Of Services and a NetworkPolicy. */
export function accessChildren(objects: readonly KubeObject[]): Desired[] {
  return objects.map((object) => ({ object, mayFail: accessMayFail }));
}

/** Of an object of this component that the spec does not ask for any more. */
export function mayFailToGo(component: string): MayFail {
  return component === accessComponent || component === networkComponent ? accessMayFail : {};
}
