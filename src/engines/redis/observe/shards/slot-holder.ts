/** What the primary of a shard says about slots: which it has, which are open, and of which it has keys without having them. */
import type { Member, Target } from '../../action.ts';
import { type ClusterNode, clusterNodes, myselfIn } from '../../client/cluster-nodes.ts';
import { infoFields } from '../../client/reply-fields.ts';
import { RedisError } from '../../client/resp.ts';
import type { Session } from '../../client/session.ts';
import { migrationsOf, type SlotMigration } from '../../client/slot-migrations.ts';
import { countOf, type StrayKeys, straysOf } from '../../client/stray-keys.ts';
import { hasSlot, type SlotSet } from '../../kind/slots.ts';

export interface SlotHolder {
  /** Of the shard: the same whoever is its primary. */
  readonly shard: string;
  readonly primary: Member;
  /** Its shard has another primary. It has no replica, and is to become one. */
  readonly isSecond?: true;
  /** Of its server. Absent where nobody has looked. */
  readonly version?: string;
  /** In its own view, as everything here. */
  readonly slots: SlotSet;
  readonly migrating: ClusterNode['migrating'];
  readonly importing: ClusterNode['importing'];
  /** Keys of slots that it does not have. */
  readonly strays: readonly StrayKeys[];
  /** Of all slots. */
  readonly keys: number;
  /** What its keys take of its memory. */
  readonly dataBytes: number;
  /** Bytes that it has for more keys. Undefined where there is no limit, or where it makes room by itself. */
  readonly room?: number;
  /** It moves slots by itself when it is told to. */
  readonly isAtomic: boolean;
  readonly running: readonly SlotMigration[];
  /** Why the last of those failed. */
  readonly failure?: string;
  /** Of a slot that is being moved, where each of the next keys is larger than what is moved without a plan: the smallest. */
  readonly largeKey?: { readonly slot: number; readonly bytes: number };
}

/** Keys that are looked at together, and moved together. */
export const keysTogether = 100;

/** What is moved without being planned by itself. */
export const ordinaryKeyBytes = 4 * 1024 * 1024;

/** @throws where it is no primary, or does not answer everything */
export async function slotHolder(session: Session, shard: string, target: Target): Promise<SlotHolder> {
  const [nodes, size, memory, migrations] = await Promise.all([
    session.command('CLUSTER', 'NODES'),
    session.command('DBSIZE'),
    session.command('INFO', 'memory'),
    migrationsOf(session),
  ]);
  const myself = myselfIn(clusterNodes(nodes));
  if (myself.role !== 'primary') throw new Error(`${target.pod} is no primary`);
  const [latest] = migrations?.filter(({ state }) => state !== 'cancelled') ?? [];
  const largeKey = await largeKeyOf(session, myself);
  return {
    shard,
    primary: { ...target, id: myself.id },
    slots: myself.slots,
    migrating: myself.migrating,
    importing: myself.importing,
    strays: await straysOf(session, myself.slots),
    keys: countOf(size),
    ...memoryIn(String(memory)),
    isAtomic: migrations !== undefined,
    running: migrations?.filter(({ state }) => state === 'running') ?? [],
    ...(latest?.state === 'failed' ? { failure: latest.message } : {}),
    ...(largeKey === undefined ? {} : { largeKey }),
  };
}

/** A tenth stays for what is no key: clients and replicas of a server that takes in slots. */
function memoryIn(info: string): Pick<SlotHolder, 'dataBytes' | 'room'> {
  const fields = infoFields(info);
  const bytes = (name: string): number => Number(fields[name] ?? 0) || 0;
  const dataBytes = bytes('used_memory_dataset');
  const most = bytes('maxmemory');
  if (most === 0 || fields.maxmemory_policy !== 'noeviction') return { dataBytes };
  return { dataBytes, room: most * 0.9 - bytes('used_memory') };
}

export async function keysIn(session: Session, slot: number): Promise<number> {
  return countOf(await session.command('CLUSTER', 'COUNTKEYSINSLOT', String(slot)));
}

async function largeKeyOf(session: Session, { slots, migrating }: ClusterNode): Promise<SlotHolder['largeKey']> {
  for (const { slot } of migrating) {
    if (!hasSlot(slots, slot)) continue;
    const sizes = (await nextKeys(session, slot)).keys.map(({ bytes }) => bytes);
    const bytes = Math.min(...sizes);
    if (sizes.length > 0 && bytes > ordinaryKeyBytes) return { slot, bytes };
  }
  return undefined;
}

export interface FoundKey {
  readonly key: string;
  /** What it takes of the server's memory. */
  readonly bytes: number;
}

/** Some keys of a slot, always the same first. Those that are gone when their size is asked for are left out. */
export async function nextKeys(
  session: Session,
  slot: number,
): Promise<{ readonly isEmpty: boolean; readonly keys: readonly FoundKey[] }> {
  const reply = await session.command('CLUSTER', 'GETKEYSINSLOT', String(slot), String(keysTogether));
  if (!Array.isArray(reply)) throw new Error(`the keys of slot ${slot} are no list`);
  const keys = reply.map(String);
  const sizes = await Promise.all(keys.map((key) => memoryOf(session, key)));
  const found = keys.flatMap((key, i) => {
    const bytes = sizes[i];
    return bytes === undefined ? [] : [{ key, bytes }];
  });
  return { isEmpty: keys.length === 0, keys: found };
}

/** Undefined of a key that is not there any more: the server names the node that would have it. */
async function memoryOf(session: Session, key: string): Promise<number | undefined> {
  try {
    const reply = await session.command('MEMORY', 'USAGE', key);
    return typeof reply === 'number' ? reply : undefined;
  } catch (error) {
    if (error instanceof RedisError && error.code === 'ASK') return undefined;
    throw error;
  }
}
