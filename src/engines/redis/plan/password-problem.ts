/**
 * The Secret says a password that the servers do not know. They go on with the one that they were started with, Sentinel and
 * the operator with the identity of the cluster; whoever starts now would start with the other one. So until the two
 * agree nobody is restarted, no size changes and no template names another Secret.
 */
import { blocked, type Outcome } from '../../../plan/plan.ts';
import { passwordSecret } from '../client/password.ts';
import { answering, hasAll, type SilentNode } from '../observe/observed.ts';
import type { Situation } from '../observe/situation.ts';

/** Secrets are not watched. */
const recheckMs = 10_000;

/** Undefined where every process that can be asked knows the password. */
export function passwordProblem({ cluster, observed }: Pick<Situation, 'cluster' | 'observed'>): string | undefined {
  const all = [...observed.data, ...observed.sentinels];
  const asked = [...answering([...observed.data]), ...answering([...observed.sentinels])];
  const names = asked.filter((node) => !hasAll(node, 'password')).map(({ pod }) => pod);
  const refusing = all.filter((node): node is SilentNode => 'refusal' in node && node.refusal !== undefined);
  const words = [
    ...(names.length === 0 ? [] : [`${names.join(', ')} would answer WRONGPASS to it`]),
    ...refusing.map(({ pod, refusal }) => `${pod} answers: ${refusal}`),
  ];
  if (words.length === 0) return undefined;
  const { name } = passwordSecret(cluster);
  const unknowing = [...names, ...refusing.map(({ pod }) => pod)];
  // They started while the Secret said something else.
  if (unknowing.length < all.length / 2) {
    const [pods, begin] = unknowing.length === 1 ? ['the pod', 'it starts'] : ['the pods', 'they start'];
    return `most processes have the password in Secret ${name}, but ${words.join('; ')}: delete ${pods} ${unknowing.join(', ')}, and ${begin} with it`;
  }
  return (
    `the password in Secret ${name} is not the one that the servers have: ${words.join('; ')}. ` +
    'They keep theirs, and nothing is restarted; put the old password back into the Secret'
  );
}

export function passwordUnknown(message: string): Outcome {
  return blocked('PasswordUnknown', message, recheckMs);
}
