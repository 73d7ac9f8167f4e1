/**
 * Takes the data of a Redis Cluster: a dump of each shard, one after the other, as of a single node. The shards are not of one instant. What holds
 * is that each had the same slots from before the first dump until after the last one, so every key is in the backup once.
 */
import type { Endpoint } from '../../../../backup/members.ts';
import type { AgentContext } from '../../../../engine/driver/agent-context.ts';
import { placeOf } from '../../../../engine/driver/connection.ts';
import type { Dump } from '../../../../engine/driver/dump.ts';
import { Failure } from '../../../../engine/driver/failure.ts';
import { tlsFrom } from '../../../../engine/driver/secret-files.ts';
import type { RedisShardsState, RedisSource, RedisState } from '../../backup/schemas.ts';
import { isTellable } from '../../client/restored-shard.ts';
import { atLeast, type Server, serverText } from '../../kind/server.ts';
import { slotText } from '../../kind/slots.ts';
import { loginsOf, type OpenDump, openDump } from '../dump.ts';
import type { RedisAccess } from '../session.ts';
import { type RedisNode, surveyRedis } from '../survey.ts';
import { type MappedShard, mapChange, readSlotMap, type SlotMap } from './slot-map.ts';

type ShardState = RedisShardsState['shards'][number];

export async function dumpShards(
  source: RedisSource,
  shards: NonNullable<RedisSource['shards']>,
  context: AgentContext,
): Promise<Dump<RedisState>> {
  const { own } = await loginsOf(source, context);
  if (own.length === 0) throw new Failure('SecretUnusable', 'there is no password of the identity of the cluster');
  // Nobody else: a node of another cluster may have an address of before, and the password of clients.
  const access: RedisAccess = { logins: { own, shared: [] }, tls: await tlsFrom(source.tls), context };
  const map = await readSlotMap(shards, access);
  requireTellable(map);
  const states: ShardState[] = [];
  const servers: Server[] = [];
  let open: OpenDump | undefined;

  const begin = async (index: number) => {
    const { members } = shards[index] ?? { members: [] };
    const mapped = map.shards[index] as MappedShard;
    const node = await sourceOf(members, mapped, index, access);
    servers.push(node.server);
    open = await openDump(node, access);
    return { node, content: told(open, node, mapped) };
  };
  async function* told(dump: OpenDump, node: RedisNode, { slots, epoch }: MappedShard): AsyncGenerator<Uint8Array> {
    yield* dump.content;
    const { role, endpoint } = node;
    states.push({ slots: slotText(slots), epoch, source: placeOf(endpoint), role, ...dump.state() });
  }
  async function* others(): AsyncGenerator<AsyncIterable<Uint8Array>> {
    for (let index = 1; index < shards.length; index++) yield (await begin(index)).content;
    const change = mapChange(map, await readSlotMap(shards, access));
    if (change === undefined) return;
    throw new Failure('SourceBroken', `the slots have not stayed where they were while they were read: ${change}`);
  }

  const { node, content } = await begin(0);
  return {
    get engineVersion() {
      return serverText(newestOf(servers));
    },
    topology: { members: map.answered, source: placeOf(node.endpoint), role: node.role },
    content,
    others: others(),
    state: () => ({ engine: 'redis', shards: states }),
    close: () => open?.close(),
  };
}

/** A replica that has what the primary had, or the primary, which is still the one with the slots. */
async function sourceOf(
  members: readonly Endpoint[],
  { endpoint }: MappedShard,
  index: number,
  access: RedisAccess,
): Promise<RedisNode> {
  const { node, primary } = await surveyRedis({ members }, access);
  if (placeOf(primary.endpoint) === placeOf(endpoint)) return node;
  throw new Failure('SourceBroken', `shard ${index} has another primary than a moment ago`);
}

/** What cannot be told of a volume cannot be restored: that is said now, and not then. @throws Failure SourceRefused */
function requireTellable({ shards }: SlotMap): void {
  const scattered = shards.findIndex(({ slots }) => !isTellable(slots));
  if (scattered < 0) return;
  const ranges = shards[scattered]?.slots.length;
  throw new Failure(
    'SourceRefused',
    `the slots of shard ${scattered} are in ${ranges} ranges, which no restore could put back`,
  );
}

/** Whoever restores all of it reads what the newest has written. */
function newestOf(servers: readonly Server[]): Server {
  return servers.reduce((newest, server) => (atLeast(server.version, newest.version) ? server : newest));
}
