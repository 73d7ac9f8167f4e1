/** The first database and its owner, which a new cluster has and a password that was changed is brought to. */
import { secretMissing } from '../../../engine/secret-missing.ts';
import { type Outcome, type Step, wait } from '../../../plan/plan.ts';
import type { PostgresAction } from '../action.ts';
import { dumpedSource } from '../kind/source.ts';
import { postgresNames } from '../names.ts';
import type { LiveMember } from '../observe/observed.ts';
import type { Situation } from '../observe/situation.ts';
import { applicationSecret } from '../resources/resources.ts';
import { awaitsCopy } from './logical-import.ts';
import { recheckMs } from './restart.ts';

export function applicationSteps(situation: Situation, primary: LiveMember): Step<PostgresAction>[] {
  const { observed, spec, cluster } = situation;
  const { application } = observed;
  if (application?.state !== 'seen') return [];
  const { facts, isPasswordWrong, lacks } = application;
  // With another password, which the next reconcile gives to the role.
  if (lacks === 'secret') {
    const { object, generate = [] } = applicationSecret(cluster);
    return [{ type: 'create', object, generate }];
  }
  if (lacks === 'key') return [];
  const { database, owner } = spec.initial;
  const isAwaited = awaitsCopy(situation);
  const what = !facts.hasOwner
    ? `make role ${owner}`
    : facts.owner === undefined && !isAwaited
      ? `make database ${database}`
      : isPasswordWrong
        ? `set the password of role ${owner} to that of its Secret`
        : undefined;
  if (what === undefined) return [];
  const { pod, address } = primary;
  return [
    {
      type: 'act',
      action: {
        type: 'postgres.makeApplication',
        via: { pod, address },
        hasOwner: facts.hasOwner,
        hasDatabase: facts.owner !== undefined || isAwaited,
      },
      summary: what,
    },
  ];
}

/** The operator has seen the first database once, after its import or `init.sql` where the spec has one. What its owner does with it later does not count. */
export function isFilled(situation: Situation): boolean {
  const { observed, spec, wasFilled } = situation;
  if (wasFilled === true) return true;
  const { application } = observed;
  if (application?.state !== 'seen' || application.facts.owner === undefined || awaitsCopy(situation)) return false;
  // The data of a restore or an import is no new database.
  return spec.bootstrap !== undefined || application.init === undefined || application.init === 'done';
}

/**
 * The cluster does not become Ready while the operator cannot ask for the first database and has never seen it filled. A cluster that is already
 * Ready stays so, because an earlier operator did not write to the roster what it had seen.
 */
export function unseenApplication(situation: Situation): Outcome | undefined {
  const { observed, cluster, primary, spec, wanted } = situation;
  const { application } = observed;
  if (application?.state !== 'unknown' || isFilled(situation)) return undefined;
  const isReady =
    cluster.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true;
  const isPlain = dumpedSource(wanted) === undefined && spec.init === undefined;
  // Its clients have taken all connections: they are in.
  const isFull = isPlain && primary?.server?.state === 'full';
  if (isReady || isFull) return undefined;
  const { database } = spec.initial;
  return wait('MembersNotReady', `whether database ${database} is there is not known (${application.why})`, recheckMs);
}

/** Somebody has changed the Secret so that nobody can log in with it. The operator does not overwrite what people have put there. */
export function unusableSecret({ observed: { application }, cluster }: Situation): Outcome | undefined {
  if (application?.state !== 'seen' || application.lacks !== 'key') return undefined;
  const { app } = postgresNames(cluster.metadata.name);
  return secretMissing(
    `Secret ${app} has no key password: set it, or delete the Secret, which is then made again with another password`,
  );
}
