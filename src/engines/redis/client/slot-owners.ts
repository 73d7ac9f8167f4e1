/** Who owns which slots, as one node says. */
import { slotText } from '../kind/slots.ts';
import type { ClusterNode } from './cluster-nodes.ts';

/** The same text where two nodes agree. A node in a handshake has an id that is made up. */
export function ownersText(view: readonly ClusterNode[]): string {
  return view
    .filter(({ slots, isHandshake }) => slots.length > 0 && !isHandshake)
    .map(({ id, slots }) => `${id} ${slotText(slots)}`)
    .sort()
    .join();
}
