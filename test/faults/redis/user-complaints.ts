/** Whether the data nodes have the ACL users of the spec, as the spec has them, and nobody that the operator has set and has to remove. */
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../../../src/api/object.ts';
import { hashOf } from '../../../src/engines/redis/client/identity.ts';
import { recordUser } from '../../../src/engines/redis/client/user-record.ts';
import { addressOf, podsOf } from '../readiness.ts';
import type { SimulatedWorld } from '../subject.ts';
import { type AclUser, changedUser } from './acl-user.ts';
import type { Users } from './users.ts';

interface WantedUser {
  readonly name: string;
  readonly secretRef: { readonly name: string };
  readonly rules: readonly string[];
}

export function userComplaints(
  world: SimulatedWorld,
  { spec }: KubeObject,
  usersAt: (address: string) => Users | undefined,
): string[] {
  const { users = [] } = (spec ?? {}) as { readonly users?: readonly WantedUser[] };
  const wanted = users.map((user) => ({ name: user.name, is: asWanted(world, user) }));
  return [...podsOf(world, 'data')].flatMap(([pod, object]) => {
    const found = usersAt(addressOf(object))?.named;
    if (found === undefined) return [];
    const others = [...found.keys()].filter((name) => name !== recordUser && !users.some((user) => user.name === name));
    return [
      ...wanted.flatMap(({ name, is }) =>
        isDeepStrictEqual(found.get(name), is) ? [] : [`${pod} does not have the user ${name} of the spec`],
      ),
      ...others.map((name) => `${pod} has the user ${name}, whom the spec does not name`),
      // Without it nobody could remove them.
      ...(found.has(recordUser) === users.length > 0 ? [] : [`${pod} has a wrong record of its users`]),
    ];
  });
}

function asWanted({ kubernetes }: SimulatedWorld, { secretRef, rules }: WantedUser): AclUser {
  const secret = kubernetes
    .objects()
    .find(({ kind, metadata }) => kind === 'Secret' && metadata.name === secretRef.name);
  const { password = '' } = (secret?.data ?? {}) as { readonly password?: string };
  const hash = hashOf(Buffer.from(password, 'base64').toString('utf8'));
  const user = changedUser(undefined, ['on', `#${hash}`, ...rules.flatMap((rule) => rule.split(' '))]);
  if ('refused' in user) throw new Error(`the scenario wants a user that no server takes: ${user.refused}`);
  return user;
}
