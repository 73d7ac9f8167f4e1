/**
 * A replica that is elected gets the epoch after the newest that it has heard of. So before its primary takes the next one, a replica of another shard does, and this one
 * is told: what the primary takes then is no newer than what its replica has heard of, also if the primary is cut off.
 *
 * `CLUSTER BUMPEPOCH` on the replica itself would do only once: the server answers `STILL` where it has the newest epoch, which may be from the time before it was a
 * replica, and which it tells nowhere else. Epochs of replicas are used for nothing, so nobody is harmed by another one.
 */
import type { EngineContext } from '../../../../engine/engine-context.ts';
import { clusterNodes, myselfIn } from '../../client/cluster-nodes.ts';
import { dataPort } from '../../names.ts';
import { epochsOf } from './epochs.ts';
import type { ShardSession } from './shard-session.ts';

/** One that is met hears of the epoch within milliseconds. */
const heardWithinMs = 2_000;
const pollMs = 20;

/** Has each of these replicas hear of an epoch that is newer than `newest`, and none of its own. @throws where one has not */
export async function outbid(
  replicas: readonly ShardSession[],
  others: readonly ShardSession[],
  newest: number,
  io: EngineContext,
): Promise<void> {
  if (replicas.length === 0) return;
  const names = replicas.map(({ primary }) => primary.pod).join(', ');
  const causes: unknown[] = [];
  for (const other of others) {
    try {
      await requireReplica(other);
      const epoch = await bump(other);
      // The next one hears of what this one has taken.
      if (epoch === undefined || epoch <= newest) continue;
      for (const { primary } of replicas) await other.command('CLUSTER', 'MEET', primary.address, String(dataPort));
      if (await haveHeard(replicas, epoch, io)) return;
      causes.push(new Error(`${names} has not heard of epoch ${epoch} of ${other.primary.pod}`));
    } catch (error) {
      causes.push(error);
    }
  }
  const message = `no replica of another shard has taken a newer epoch than ${newest} of which ${names} has heard`;
  throw new Error(message, { cause: causes[0] });
}

/** Each is elected with an epoch that is newer than the one after `newest`. */
export async function countOn(
  replicas: readonly ShardSession[],
  others: readonly ShardSession[],
  newest: number,
  io: EngineContext,
): Promise<void> {
  const raised = await Promise.allSettled(replicas.map(bump));
  const still = replicas.filter((_, i) => {
    const result = raised[i];
    return result?.status === 'fulfilled' && result.value === undefined;
  });
  await outbid(still, others, newest, io);
}

async function haveHeard(replicas: readonly ShardSession[], epoch: number, io: EngineContext): Promise<boolean> {
  const endsAt = io.now() + heardWithinMs;
  do {
    const told = await Promise.all(replicas.map(epochsOf));
    if (told.every(({ newest }) => newest >= epoch)) return true;
    await io.sleep(pollMs);
  } while (io.now() < endsAt);
  return false;
}

/** Undefined where it has the newest epoch already. */
async function bump({ command, primary }: ShardSession): Promise<number | undefined> {
  const [word, epoch] = String(await command('CLUSTER', 'BUMPEPOCH')).split(' ');
  if (word === 'STILL') return undefined;
  if (word !== 'BUMPED' || !Number.isSafeInteger(Number(epoch))) throw new Error(`${primary.pod} tells no epoch`);
  return Number(epoch);
}

/** A primary would make its own slots doubtful by that. */
async function requireReplica({ command, primary }: ShardSession): Promise<void> {
  const { id, role } = myselfIn(clusterNodes(await command('CLUSTER', 'NODES')));
  if (id !== primary.id || role !== 'replica')
    throw new Error(`${primary.pod} is no replica of another shard any more`);
}
