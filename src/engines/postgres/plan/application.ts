/** The first database and its owner, which a new cluster has and a password that was changed is brought to. */
import type { ActStep } from '../../../plan/plan.ts';
import type { PostgresAction } from '../action.ts';
import type { LiveMember } from '../observe/observed.ts';
import type { Situation } from '../observe/situation.ts';
import { awaitsCopy } from './logical-import.ts';

export function applicationSteps(situation: Situation, primary: LiveMember): ActStep<PostgresAction>[] {
  const { observed, spec } = situation;
  const { application } = observed;
  if (application?.state !== 'seen') return [];
  const { facts, isPasswordWrong } = application;
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
