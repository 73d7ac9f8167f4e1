/** ACL users: each data node is brought in line by itself, since servers do not replicate users. */
import { shortened } from '../../../api/bounds.ts';
import type { DesiredCondition } from '../../../api/condition.ts';
import { type ActStep, type Outcome, wait } from '../../../plan/plan.ts';
import type { RedisAction } from '../action.ts';
import type { Situation } from '../observe/situation.ts';

type Act = ActStep<RedisAction>;

/** Removals first: they free a name for nobody, and a user who must not be there is the more urgent one. */
export function planUsers({ nodes }: Pick<Situation, 'nodes'>): Act[] {
  return nodes.flatMap(({ pod, address, users }): Act[] => {
    if (users === undefined || 'unknown' in users) return [];
    const node = { pod, address };
    const { due, byHand, former } = users;
    const removal: Act = {
      type: 'act',
      action: { type: 'redis.removeUsers', node, users: former },
      summary: `remove ${counted(former)} from ${pod}`,
      destructive: true,
    };
    const taken = byHand.length === 0 ? '' : `, in the place of ${byHand.join(', ')} that somebody else has made`;
    const setting: Act = {
      type: 'act',
      action: { type: 'redis.setUsers', node, users: due },
      summary: `set ${counted(due)} on ${pod}${taken}`,
      ...(byHand.length === 0 ? {} : { event: 'UserTakenOver' }),
    };
    return [...(former.length === 0 ? [] : [removal]), ...(due.length === 0 ? [] : [setting])];
  });
}

const counted = (names: readonly string[]): string => `${names.length === 1 ? 'user' : 'users'} ${names.join(', ')}`;

/** Secrets are not watched, and nobody tells when a server can be asked. */
const recheckMs = 10_000;

/** Not to know of a user is not to have none. */
export function usersUnknown({ nodes }: Pick<Situation, 'nodes'>): Outcome | undefined {
  const unknown = nodes.flatMap(({ pod, users }) =>
    users !== undefined && 'unknown' in users ? [`${pod}: ${users.unknown}`] : [],
  );
  if (unknown.length === 0) return undefined;
  return wait('UsersUnknown', shortened(`the users of data nodes cannot be read: ${unknown.join('; ')}`), recheckMs);
}

export function userClaims({ observed: { userProblems = [] } }: Pick<Situation, 'observed'>): DesiredCondition[] {
  if (userProblems.length === 0) return [];
  const message = shortened(userProblems.join('; '));
  return [{ type: 'UserSecretMissing', status: 'True', reason: 'SecretUnusable', message }];
}
