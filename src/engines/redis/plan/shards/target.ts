/** A node as actions name it: not whoever has its address by now. */
import type { Member } from '../../action.ts';

export function member({ pod, address, id }: Member): Member {
  return { pod, address, id };
}
