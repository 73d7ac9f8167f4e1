/**
 * The Secret says a password that the servers do not know. They go on with the one that they were started with, Sentinel and
 * the operator with the identity of the cluster; whoever starts now would start with the other one. So until the two
 * agree nobody is restarted, no size changes and no template names another Secret.
 */
import { blocked, type Outcome } from '../../plan/plan.ts';
import { answering, hasAll, type SilentNode } from './observed.ts';
import { passwordSecret } from './password.ts';
import type { Situation } from './situation.ts';

/** Secrets are not watched. */
const recheckMs = 10_000;

/** Undefined where every process that can be asked knows the password. */
export function passwordTrouble({ cluster, observed }: Pick<Situation, 'cluster' | 'observed'>): string | undefined {
  const all = [...observed.data, ...observed.sentinels];
  const unknowing = answering([...observed.data]).filter((node) => !hasAll(node, 'password'));
  const sentinels = answering([...observed.sentinels]).filter((node) => !hasAll(node, 'password'));
  const names = [...unknowing, ...sentinels].map(({ pod }) => pod);
  const refusing = all.filter((node): node is SilentNode => 'refusal' in node && node.refusal !== undefined);
  const words = [
    ...(names.length === 0 ? [] : [`${names.join(', ')} would answer WRONGPASS to it`]),
    ...refusing.map(({ pod, refusal }) => `${pod} answers: ${refusal}`),
  ];
  if (words.length === 0) return undefined;
  return (
    `the password in Secret ${passwordSecret(cluster).name} is not the one that the servers have: ${words.join('; ')}. ` +
    'They keep theirs, and nothing is restarted; put the old password back into the Secret'
  );
}

export function passwordUnknown(message: string): Outcome {
  return blocked('PasswordUnknown', message, recheckMs);
}
