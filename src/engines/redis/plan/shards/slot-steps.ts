/** The next move of slots as a step of a plan, and what is told of it. */
import { type ActStep, blocked, type Outcome, wait } from '../../../../plan/plan.ts';
import type { SlotAction } from '../../action.ts';
import { countSlots, slotText } from '../../kind/slots.ts';
import { ordinaryKeyBytes, type SlotHolder } from '../../observe/shards/slot-holder.ts';
import { bystanders, type NextMove, nextMove, type Wanted } from './moves.ts';

export interface SlotPlan {
  readonly steps: readonly ActStep<SlotAction>[];
  readonly outcome: Outcome;
}

/** Servers are at it, and no watch tells. */
const recheckMs = 1_000;
/** A slot that is half moved costs clients a redirection: the next action follows at once. */
const nextMs = 50;

/** Undefined where every shard has what it should have, and no slot is open. */
export function planSlots(holders: readonly SlotHolder[], wanted: Wanted): SlotPlan | undefined {
  const next = nextMove(holders, wanted);
  switch (next.does) {
    case 'nothing':
      return undefined;
    case 'stop':
      return { steps: [], outcome: blocked(next.reason, next.message, recheckMs * 10) };
    case 'await':
      return { steps: [], outcome: wait('MovingSlots', next.message, recheckMs) };
    case 'cancel': {
      const { pod } = next.source.primary;
      const summary = `end the slot migrations of ${pod}: their slots are wanted where they are`;
      return doing({ type: 'redis.cancelMigrations', source: next.source.primary }, summary);
    }
    case 'close': {
      const { slot, owner, others } = next;
      const action: SlotAction = {
        type: 'redis.closeSlot',
        slot,
        owner: owner.primary,
        others: others.map(({ primary }) => primary),
      };
      return doing(action, `close slot ${slot} of ${owner.primary.pod}: its move has not begun, or is over`);
    }
    case 'move':
      return doing(actionOf(next, holders), summaryOf(next));
    default:
      return next satisfies never;
  }
}

function doing(action: SlotAction, summary: string): SlotPlan {
  // The same words come back for as long as slots move, and that is no action without effect.
  return {
    steps: [{ type: 'act', action, summary, unhurried: true }],
    outcome: wait('MovingSlots', summary, nextMs),
  };
}

type Move = Extract<NextMove, { does: 'move' }>;

function actionOf(move: Move, holders: readonly SlotHolder[]): SlotAction {
  const [source, target] = [move.source.primary, move.target.primary];
  const { slots, mostKeyBytes } = move;
  return move.isAtomic
    ? { type: 'redis.migrateSlots', source, target, slots }
    : { type: 'redis.moveSlots', source, target, others: bystanders(holders, move), slots, mostKeyBytes };
}

function summaryOf({ source, target, slots, mostKeyBytes, isFinishing, isAtomic }: Move): string {
  const between = `from ${source.primary.pod} to ${target.primary.pod}`;
  const size = Math.ceil(mostKeyBytes / 2 ** 20);
  const large =
    mostKeyBytes > ordinaryKeyBytes ? `, with a key of about ${size} MiB: while it moves, both answer nobody` : '';
  if (isFinishing) return `move what is left of slot ${slotText(slots)} ${between}${large}`;
  const before = isAtomic && source.failure !== undefined ? `; the last attempt failed: ${source.failure}` : '';
  return `move ${countSlots(slots)} slots ${between}${before}`;
}
