/** Runs one action on slots. Every one may be repeated: it goes on from where the slots and keys are. */
import type { EngineContext } from '../../../../engine/engine-context.ts';
import type { SlotAction } from '../../action.ts';
import type { Credentials } from '../../client/session.ts';
import { closeSlot } from './close-slot.ts';
import { cancelMigrations, migrateSlots } from './migrate-slots.ts';
import { moveSlots } from './move-slots.ts';
import { returnKeys } from './return-keys.ts';

export function actSlots(action: SlotAction, credentials: Credentials, io: EngineContext): Promise<void> {
  switch (action.type) {
    case 'redis.moveSlots':
      return moveSlots(action, credentials, io);
    case 'redis.migrateSlots':
      return migrateSlots(action, credentials, io);
    case 'redis.cancelMigrations':
      return cancelMigrations(action, credentials, io);
    case 'redis.returnKeys':
      return returnKeys(action, credentials, io);
    case 'redis.closeSlot':
      return closeSlot(action, credentials, io);
    default:
      return action satisfies never;
  }
}
