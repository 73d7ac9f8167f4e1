/**
 * Which shard of a Redis Cluster has which slots. All nodes that answer say the same, and the primary of each shard is among them: so nobody has been
 * elected in the place of one, or most primaries would say so. No slot is on its way, since the keys of such a slot are on two shards.
 */
import type { Endpoint } from '../../../../backup/members.ts';
import { placeOf } from '../../../../engine/driver/connection.ts';
import { Failure, wordsOf } from '../../../../engine/driver/failure.ts';
import { type ClusterNode, clusterNodes, longestViewBytes, myselfIn } from '../../client/cluster-nodes.ts';
import { infoFields } from '../../client/reply-fields.ts';
import { migrationsOf } from '../../client/slot-migrations.ts';
import { ownersText } from '../../client/slot-owners.ts';
import { straysOf } from '../../client/stray-keys.ts';
import { allSlots, countSlots, differenceOf, type SlotSet, slotCount, slotText, unionOf } from '../../kind/slots.ts';
import { inRedisSession, type RedisAccess } from '../session.ts';

export interface MappedShard {
  /** Of its primary. */
  readonly id: string;
  readonly endpoint: Endpoint;
  readonly slots: SlotSet;
  /** With which the primary has them. */
  readonly epoch: number;
}

export interface SlotMap {
  /** In the order in which they were asked for. */
  readonly shards: readonly MappedShard[];
  readonly answered: number;
}

interface Told {
  readonly shard: number;
  readonly endpoint: Endpoint;
  readonly view: readonly ClusterNode[];
  readonly self: ClusterNode;
  readonly isOk: boolean;
  /** Why its slots are not settled. */
  readonly unsettled?: string;
}

const broken = (why: string): Failure => new Failure('SourceBroken', why);

/** @throws Failure SourceBroken where there is no such map now, SourceUnreachable, SourceRefused */
export async function readSlotMap(
  shards: readonly { readonly members: readonly Endpoint[] }[],
  access: RedisAccess,
): Promise<SlotMap> {
  const { signal, log } = access.context;
  const asked = await Promise.allSettled(
    shards.flatMap(({ members }, shard) => members.map((endpoint) => ask(endpoint, shard, access))),
  );
  signal.throwIfAborted();
  const failures = asked.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []));
  for (const error of failures) log.info({ err: error }, 'a node is left out');
  // One that has not met the others yet is no member.
  const told = asked
    .flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
    .filter(({ view, self }) => view.length > 1 || self.slots.length > 0);
  const [first] = failures;
  if (told.length === 0 && first !== undefined) throw first;
  const owners = shards.map((_, shard) => ownerIn(told, shard, first));
  requireAgreement(told, owners);
  const unsettled = owners.find((owner) => owner.unsettled !== undefined);
  if (unsettled !== undefined) throw broken(`${placeOf(unsettled.endpoint)} ${unsettled.unsettled}`);
  return {
    shards: owners.map(({ endpoint, self: { id, slots, epoch } }) => ({ endpoint, id, slots, epoch })),
    answered: told.length,
  };
}

function ownerIn(told: readonly Told[], shard: number, failure: unknown): Told {
  const [owner, other] = told.filter((each) => each.shard === shard && isOwner(each));
  if (owner === undefined) {
    const why = failure === undefined ? '' : ` (${wordsOf(failure)})`;
    throw broken(`no primary of shard ${shard} answers${why}`);
  }
  if (other === undefined) return owner;
  throw broken(`${placeOf(owner.endpoint)} and ${placeOf(other.endpoint)} are of one shard, and both have slots`);
}

const isOwner = ({ self }: Told): boolean => self.role === 'primary' && self.slots.length > 0;

function requireAgreement(told: readonly Told[], owners: readonly Told[]): void {
  const down = told.find(({ isOk }) => !isOk);
  if (down !== undefined) throw broken(`${placeOf(down.endpoint)} says that the cluster is down`);
  const sets = owners.map(({ self }) => self.slots);
  const left = differenceOf(allSlots, unionOf(...sets));
  if (left.length > 0) throw broken(`no shard that is backed up has slots ${slotText(left)}`);
  if (sets.reduce((sum, set) => sum + countSlots(set), 0) > slotCount) throw broken('two shards have the same slot');
  const wanted = ownersText(owners.map(({ self }) => self));
  const differing = told.find(({ view }) => ownersText(view) !== wanted);
  if (differing !== undefined) throw broken(`${placeOf(differing.endpoint)} does not agree on who has which slots`);
}

function ask(endpoint: Endpoint, shard: number, access: RedisAccess): Promise<Told> {
  return inRedisSession(endpoint, { ...access, longest: longestViewBytes }, async ({ connection }) => {
    const view = clusterNodes(await connection.command('CLUSTER', 'NODES'));
    const self = myselfIn(view);
    const isOk = infoFields(String(await connection.command('CLUSTER', 'INFO'))).cluster_state === 'ok';
    const unsettled = self.role === 'primary' ? await whyUnsettled(self, connection) : undefined;
    return { shard, endpoint, view, self, isOk, ...(unsettled === undefined ? {} : { unsettled }) };
  });
}

async function whyUnsettled(
  { slots, migrating, importing }: ClusterNode,
  connection: Parameters<typeof migrationsOf>[0],
): Promise<string | undefined> {
  const [open] = [...migrating, ...importing];
  if (open !== undefined) return `is moving slot ${open.slot}`;
  const running = (await migrationsOf(connection))?.find(({ state }) => state === 'running');
  if (running !== undefined) return `is moving slots ${slotText(running.slots)}`;
  const [stray] = await straysOf(connection, slots);
  // A server that starts with them would take their slots.
  return stray === undefined ? undefined : `has keys of slot ${stray.slot}, which it does not have`;
}

/** Why data that was read between the two is not of one map; undefined where it is. */
export function mapChange(before: SlotMap, after: SlotMap): string | undefined {
  for (const [i, shard] of before.shards.entries()) {
    const now = after.shards[i];
    if (now === undefined || now.id !== shard.id) return `shard ${i} has another primary`;
    if (now.epoch !== shard.epoch) return `the primary of shard ${i} has another epoch`;
    if (slotText(now.slots) !== slotText(shard.slots)) return `shard ${i} has other slots`;
  }
  return undefined;
}
