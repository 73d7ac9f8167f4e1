/** As `relabel.py begin-anew`, before the Patroni of a member that forms a cluster: a database that was not finished is begun anew. */
import type { Participant } from './participant.ts';
import { StoreAway } from './store.ts';
import { discard } from './wal.ts';

const againMs = 500;

/** Does not resolve before the store has been asked. */
export async function beginAnew(member: Participant): Promise<void> {
  const { store, volume } = member.host;
  for (;;) {
    try {
      const { initialize, versions } = store.view();
      if (initialize !== '') return;
      const found = volume();
      if (found !== undefined) discard(found);
      if (await store.write('config', { initialize: null }, versions.config)) return;
    } catch (error) {
      if (!(error instanceof StoreAway)) throw error;
    }
    await member.pause(againMs);
  }
}
