/**
 * O3: nothing is made twice, and nothing is deleted that the undisturbed run keeps.
 *
 * Objects that the operator itself makes and deletes are counted, by name; those of etcd's members, of whom nobody knows
 * beforehand which one goes, all together. A pod counts as deleted by whoever asked. Of backups there is one for each
 * `Backup`, and of a schedule as many as it keeps.
 */
import type { Oracle, RunRecord } from '../record.ts';

const operator = 'clusterwright';
const uncounted: ReadonlySet<string> = new Set(['events', 'leases']);

/** `create statefulsets/db` to how often. */
export function operatorCounts({ commits }: RunRecord): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { actor, verb, resource, before, after } of commits) {
    const object = after ?? before;
    if (actor !== operator || object === undefined || uncounted.has(resource)) continue;
    const begunDeletion =
      before?.metadata.deletionTimestamp === undefined && after?.metadata.deletionTimestamp !== undefined;
    const what = verb === 'update' && begunDeletion ? 'delete' : verb;
    if (what === 'update' || (what === 'delete' && before?.metadata.deletionTimestamp !== undefined)) continue;
    const isOfMember = object.metadata.labels?.['clusterwright.dev/member'] !== undefined;
    const name = isOfMember ? object.metadata.name.replace(/-\d+/, '-N') : object.metadata.name;
    const key = `${what} ${resource}/${name}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}

export const counts: Oracle = {
  id: 'O3',
  promise: 'every object is made and deleted as often as in the undisturbed run',
  check(run, reference) {
    const [found, wanted] = [operatorCounts(run), operatorCounts(reference)];
    const differing = [...new Set([...found.keys(), ...wanted.keys()])].flatMap((key) => {
      const [has, should] = [found.get(key) ?? 0, wanted.get(key) ?? 0];
      return has === should ? [] : [`${key}: ${has} times instead of ${should}`];
    });
    return [...differing, ...run.vault.uncounted];
  },
};
