/**
 * Opens slots again of which keys have moved. A server forgets open slots when its replica takes over, and a key that has moved then reads as missing at the
 * owner: clients are sent on only where the slot is open on both sides. So nothing is waited for before, such as a replica of the target.
 */
import { eachSlot, hasSlot } from '../../kind/slots.ts';
import type { MoveSlots } from './move-keys.ts';
import { openTarget, requireOwner } from './open-slot.ts';
import { type Sides, setSlot, type View } from './shard-session.ts';

export async function reopenSlots(sides: Sides, action: MoveSlots, from: View, to: View): Promise<void> {
  if (!action.isFinishing) return;
  const { source, target } = sides;
  for (const slot of eachSlot(action.slots)) {
    if (!hasSlot(from.myself.slots, slot) || hasSlot(to.myself.slots, slot)) continue;
    const isSent = from.myself.migrating.some((each) => each.slot === slot && each.to === target.primary.id);
    const isComing = to.myself.importing.some((each) => each.slot === slot && each.from === source.primary.id);
    if (isSent && isComing) continue;
    requireOwner(slot, action, from, to);
    await openTarget(sides, slot, to);
    await setSlot(source, slot, 'MIGRATING', target.primary.id);
  }
}
