/** Whether members that do not run start again without a person: clients, the archive and poolers wait for them. */
import type { Situation } from '../observe/situation.ts';
import { isUnderway } from '../resources/upgrade-record.ts';

/**
 * The record of an upgrade that is cancelled stays for its reason, and that of one that finishes until it is done. With 0 instances, a person
 * has stopped the members: then they start with another CA at once, which is the way out where nobody can ask them.
 */
export function willResume({ upgrade, spec }: Situation): boolean {
  return upgrade !== undefined && (isUnderway(upgrade) || spec.instances > 0);
}
