/**
 * A replica that is elected gets the epoch after the newest that it has heard of. So before its primary takes the next one, a replica of another shard does, and this one
 * is told, and most primaries: what the primary takes then is no newer than what its replica has heard of, also if the primary is cut off. A replica that does not answer, and
 * comes back later, hears from most primaries that its own has failed, and with that of the epoch.
 *
 * `CLUSTER BUMPEPOCH` on the replica itself would do only once: the server answers `STILL` where it has the newest epoch, which may be from the time before it was a
 * replica, and which it tells nowhere else. Epochs of replicas are used for nothing, so nobody is harmed by another one. Two replicas may have the same one, and
 * neither takes another then, before a third node has.
 */
import type { EngineContext } from '../../../../engine/engine-context.ts';
import { clusterNodes, myselfIn } from '../../client/cluster-nodes.ts';
import { dataPort } from '../../names.ts';
import { epochsOf } from './epochs.ts';
import type { ShardSession } from './shard-session.ts';

/** One that is met hears of the epoch within milliseconds. */
const heardWithinMs = 2_000;
const pollMs = 20;

/** Who has to hear of an epoch. */
export interface Audience {
  readonly replicas: readonly ShardSession[];
  readonly voters: readonly ShardSession[];
  /** Whether enough of them know of it. */
  areTold(knows: (node: ShardSession) => Promise<boolean>): Promise<boolean>;
}

/** Has the audience hear of an epoch that is newer than `newest`, and none of its own. @throws where it has not */
export async function outbid(
  { replicas, voters, areTold }: Audience,
  others: readonly ShardSession[],
  newest: number,
  io: EngineContext,
): Promise<void> {
  const names = replicas.map(({ primary }) => primary.pod).join(', ') || 'a replica';
  const causes: unknown[] = [];
  let taken = newest;
  for (const other of others) {
    try {
      await requireReplica(other);
      // Whoever has yet to hear of an epoch takes the same one. Where all have the same one, none takes another.
      if (!(await knowsOf(other, taken))) continue;
      const { epoch } = await bump(other);
      if (epoch <= newest) continue;
      taken = epoch;
      for (const { primary } of [...replicas, ...voters]) {
        await other.command('CLUSTER', 'MEET', primary.address, String(dataPort));
      }
      if (await isTold((node) => knowsOf(node, epoch), { areTold, io })) return;
      causes.push(new Error(`not everybody has heard of epoch ${epoch} of ${other.primary.pod}`));
    } catch (error) {
      causes.push(error);
    }
  }
  // Others may all have the newest one. Once somebody has a newer one, the next attempt finds one of them able to take another.
  if (taken === newest) await Promise.allSettled(replicas.slice(0, 1).map((replica) => countOnFrom(replica, newest)));
  const message = `${names} has not heard, with most primaries, of a newer epoch than ${newest} that a replica of another shard has taken; if that stays so while all nodes reach each other, run CLUSTER BUMPEPOCH on a primary of another shard, as the identity of the cluster`;
  throw new Error(message, { cause: causes[0] });
}

/** Each is elected with an epoch that is newer than the one after `newest`. @throws where one does not answer */
export async function countOn(
  replicas: readonly ShardSession[],
  others: readonly ShardSession[],
  newest: number,
  io: EngineContext,
): Promise<void> {
  const raised = await Promise.allSettled(replicas.map(async (replica) => ({ replica, ...(await bump(replica)) })));
  const answers = raised.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  const same = answers.filter(({ isNew }) => !isNew);
  if (same.length > 0) {
    const still = same.map(({ replica }) => replica);
    const areTold: Audience['areTold'] = async (knows) => (await Promise.all(still.map(knows))).every(Boolean);
    const known = Math.max(newest, ...same.map(({ epoch }) => epoch));
    await outbid({ replicas: still, voters: [], areTold }, others, known, io);
  }
  const silent = raised.find((result) => result.status === 'rejected');
  if (silent !== undefined) throw silent.reason;
}

async function isTold(
  knows: (node: ShardSession) => Promise<boolean>,
  { areTold, io }: Pick<Audience, 'areTold'> & { readonly io: EngineContext },
): Promise<boolean> {
  const endsAt = io.now() + heardWithinMs;
  do {
    if (await areTold(knows)) return true;
    await io.sleep(pollMs);
  } while (io.now() < endsAt);
  return false;
}

async function knowsOf(node: ShardSession, epoch: number): Promise<boolean> {
  return (await epochsOf(node)).newest >= epoch;
}

interface OwnEpoch {
  readonly epoch: number;
  /** Otherwise it had the newest epoch already. */
  readonly isNew: boolean;
}

async function countOnFrom(node: ShardSession, newest: number): Promise<void> {
  if (await knowsOf(node, newest)) await bump(node);
}

async function bump({ command, primary }: ShardSession): Promise<OwnEpoch> {
  const [, word, epoch] = /^(BUMPED|STILL) (\d{1,15})$/.exec(String(await command('CLUSTER', 'BUMPEPOCH'))) ?? [];
  if (epoch === undefined) throw new Error(`${primary.pod} tells no epoch`);
  return { epoch: Number(epoch), isNew: word === 'BUMPED' };
}

/** A primary would make its own slots doubtful by that. */
async function requireReplica({ command, primary }: ShardSession): Promise<void> {
  const { id, role } = myselfIn(clusterNodes(await command('CLUSTER', 'NODES')));
  if (id !== primary.id || role !== 'replica')
    throw new Error(`${primary.pod} is no replica of another shard any more`);
}
