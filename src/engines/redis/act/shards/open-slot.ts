/** The target of a slot is told first that it comes: nobody is sent where nothing is known of it. */
import { hasSlot } from '../../kind/slots.ts';
import type { MoveSlots } from './move-keys.ts';
import { type Sides, setSlot, type View } from './shard-session.ts';

/**
 * Both sides say that the source has it. Where a replica of the source has been elected, the target may be the first to know. But a node never
 * learns who has a slot that is open there as one to come: then the word of the source counts, which has to reach a majority.
 */
export function requireOwner(slot: number, { source, target }: MoveSlots, from: View, to: View): void {
  const toldSource = to.nodes.find(({ id }) => id === source.id);
  if (!hasSlot(from.myself.slots, slot)) throw new Error(`${source.pod} does not have slot ${slot} any more`);
  const isComing = to.myself.importing.some((each) => each.slot === slot);
  if (toldSource === undefined || (!hasSlot(toldSource.slots, slot) && !isComing)) {
    throw new Error(`${target.pod} does not know that ${source.pod} has slot ${slot}`);
  }
  if (!from.nodes.some(({ id, role }) => id === target.id && role === 'primary')) {
    throw new Error(`${source.pod} does not know ${target.pod} as a primary`);
  }
}

/** @param to the view of the target */
export async function openTarget({ source, target }: Sides, slot: number, to: View): Promise<void> {
  // Redis keeps the owner of before of a slot that is open there. If that has failed, the target takes the whole cluster for down, and refuses keys.
  const isTold = to.nodes.some(({ id, slots }) => id === source.primary.id && hasSlot(slots, slot));
  if (!isTold) await setSlot(target, slot, 'NODE', source.primary.id);
  await setSlot(target, slot, 'IMPORTING', source.primary.id);
}
