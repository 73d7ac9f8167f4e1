/**
 * The ConfigMaps of Patroni: which of them the operator makes, of a new cluster or again.
 *
 * With all of them gone, a stale standby that starts first would take the lock and be promoted (run, Patroni 4.0.7). So the pods may
 * not make them, and an empty one is made again only where what is left keeps the wrong member from being promoted.
 */
import type { Desired } from '../../../plan/objects.ts';
import { postgresNames } from '../names.ts';
import { hasHeldData, type Situation } from '../observe/situation.ts';
import { newState } from '../resources/resources.ts';

/** Those that may be made now; of a new cluster all. */
export function stateToMake(situation: Situation): readonly Desired[] {
  const state = newState(situation.cluster, situation.primary?.pod);
  if (!hasHeldData(situation)) return state;
  return state.filter(({ object }) => mayMakeAgain(situation, object.metadata.name));
}

/** Names of those that are gone and that nobody can make again. */
export function lostState(situation: Situation): readonly string[] {
  if (!hasHeldData(situation)) return [];
  return situation.store.missing.filter((name) => !mayMakeAgain(situation, name));
}

/** All, for a cluster that goes on with one member: nobody else may be elected. */
export function stateFor({ cluster, live }: Situation, survivor: string): readonly Desired[] {
  const systemId = [...live.values()].find(({ pod }) => pod === survivor)?.systemId;
  return newState(cluster, survivor, systemId);
}

function mayMakeAgain(situation: Situation, name: string): boolean {
  const { cluster, store, primary } = situation;
  const { config, leader, failover, sync } = postgresNames(cluster.metadata.name).state;
  switch (name) {
    // A request for a switchover. The client that made it makes it again.
    case failover:
      return true;
    // Who may be elected is in the others.
    case leader:
      return !store.missing.includes(sync) && !store.missing.includes(config) && isLimited(situation);
    // The primary writes it anew.
    default:
      return primary !== undefined;
  }
}

/**
 * The synchronous state says who may be elected. While it names nobody, each member may be that the others know to have no more than it: all
 * of them have to be there, or one that has less than another that is away could take the lock.
 */
function isLimited({ store, roster, live }: Situation): boolean {
  if (store.sync !== undefined) return true;
  return roster.size > 0 && [...roster.keys()].every((index) => live.get(index)?.lsn !== undefined);
}
