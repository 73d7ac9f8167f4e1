/** The epochs of a node of a Redis Cluster. Whoever has a newer one is believed about slots. */
import { infoFields } from '../../client/reply-fields.ts';
import type { ShardSession } from './shard-session.ts';

export interface Epochs {
  /** Its own; of a replica, that of its primary. */
  readonly own: number;
  /** The newest that it has heard of. Whoever is elected gets the next one. */
  readonly newest: number;
}

export async function epochsOf({ command, primary }: ShardSession): Promise<Epochs> {
  const info = infoFields(String(await command('CLUSTER', 'INFO')));
  const [own, newest] = [Number(info.cluster_my_epoch), Number(info.cluster_current_epoch)];
  if (!Number.isSafeInteger(own) || !Number.isSafeInteger(newest)) throw new Error(`${primary.pod} tells no epoch`);
  return { own, newest };
}
