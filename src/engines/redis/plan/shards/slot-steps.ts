/** The next move of slots as a step of a plan, and what is told of it. */
import { type ActStep, blocked, type Outcome, wait } from '../../../../plan/plan.ts';
import type { Member, SlotAction } from '../../action.ts';
import { countSlots, slotText } from '../../kind/slots.ts';
import { ordinaryKeyBytes, type SlotHolder } from '../../observe/shards/slot-holder.ts';
import { bystanders, type NextMove, nextMove, type Wanted } from './moves.ts';

export interface SlotPlan {
  readonly steps: readonly ActStep<SlotAction>[];
  readonly outcome: Outcome;
  /** Pod of the primary whose shard has to restart with the new template before anything moves. */
  readonly renews?: string;
}

/** Servers are at it, and no watch tells. */
const recheckMs = 1_000;
/** A slot that is half moved costs clients a redirection: the next action follows at once. */
const nextMs = 50;
/** Each attempt of a server to move slots by itself takes a copy of them. What made the last one fail is likely to be there still. */
const failedMs = 10_000;

/** Undefined where every shard has what it should have, and no slot is open. */
export function planSlots(holders: readonly SlotHolder[], wanted: Wanted): SlotPlan | undefined {
  const next = nextMove(holders, wanted);
  switch (next.does) {
    case 'nothing':
      return undefined;
    case 'stop':
      return { steps: [], outcome: blocked(next.reason, next.message, recheckMs * 10) };
    case 'renew':
      return {
        ...{ steps: [], outcome: wait('MovingSlots', next.message, recheckMs) },
        renews: next.target.primary.pod,
      };
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
        voters: bystanders(holders, owner),
        ...replicasFor(owner, wanted),
        nodeTimeoutMs: wanted.nodeTimeoutMs,
      };
      return doing(action, `close slot ${slot} of ${owner.primary.pod}: its move has not begun, or is over`);
    }
    case 'return': {
      const [from, owner] = [next.from.primary, next.owner.primary];
      const { mostKeyBytes, nodeTimeoutMs } = wanted;
      const action: SlotAction = {
        type: 'redis.returnKeys',
        slot: next.slot,
        from,
        owner,
        mostKeyBytes,
        nodeTimeoutMs,
      };
      return doing(action, `send what ${from.pod} has of slot ${next.slot} to ${owner.pod}, which serves it`);
    }
    case 'move':
      return next.isAtomic && next.source.failure !== undefined
        ? doing(actionOf(next, holders, wanted), summaryOf(next), failedMs)
        : doing(actionOf(next, holders, wanted), summaryOf(next));
    default:
      return next satisfies never;
  }
}

function doing(action: SlotAction, summary: string, ms = nextMs): SlotPlan {
  // The same words come back for as long as slots move, and that is no action without effect.
  const pace = ms === nextMs ? ({ unhurried: true } as const) : {};
  return { steps: [{ type: 'act', action, summary, ...pace }], outcome: wait('MovingSlots', summary, ms) };
}

type Move = Extract<NextMove, { does: 'move' }>;

function actionOf(move: Move, holders: readonly SlotHolder[], wanted: Wanted): SlotAction {
  const between = { source: move.source.primary, target: move.target.primary, slots: move.slots };
  const { mostKeyBytes, isFinishing } = move;
  const { isReplicated, unreplicated, nodeTimeoutMs } = wanted;
  const mayWait = isReplicated && move.target.isSecond !== true && unreplicated?.has(move.target.shard) !== true;
  const others = bystanders(holders, move.source, move.target);
  const known = { others, ...replicasFor(move.target, wanted), nodeTimeoutMs };
  return move.isAtomic
    ? { type: 'redis.migrateSlots', ...between, ...known }
    : { type: 'redis.moveSlots', ...between, ...known, isFinishing, mostKeyBytes, isReplicated: mayWait };
}

/** One of them may be away, and one may have the newest epoch itself. */
const mostOtherReplicas = 4;

function replicasFor(
  { primary }: SlotHolder,
  { followers = new Map() }: Wanted,
): { readonly followers: readonly Member[]; readonly otherReplicas: readonly Member[] } {
  const others = [...followers].filter(([id]) => id !== primary.id).flatMap(([, replicas]) => replicas);
  return { followers: followers.get(primary.id) ?? [], otherReplicas: others.slice(0, mostOtherReplicas) };
}

function summaryOf({ source, target, slots, mostKeyBytes, isFinishing, isAtomic }: Move): string {
  const between = `from ${source.primary.pod} to ${target.primary.pod}`;
  const size = Math.ceil(mostKeyBytes / 2 ** 20);
  const large =
    mostKeyBytes > ordinaryKeyBytes ? `, with a key of about ${size} MiB: while it moves, both answer nobody` : '';
  if (isFinishing) return `move what is left of slot ${slotText(slots)} ${between}${large}`;
  const before = isAtomic && source.failure !== undefined ? `; the last attempt failed: ${source.failure}` : '';
  const count = countSlots(slots);
  return `move ${count === 1 ? '1 slot' : `${count} slots`} ${between}${before}`;
}
