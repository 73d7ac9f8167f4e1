/**
 * Why no password is changed, and no pod is restarted. Servers go on with what they know, and Sentinel and the operator with the identity of the
 * cluster.
 */
import { blocked, type Outcome } from '../../../plan/plan.ts';
import { passwordSecret } from '../client/password.ts';
import { answering, hasAll, type SilentNode } from '../observe/observed.ts';
import type { Situation } from '../observe/situation.ts';

type Seen = Pick<Situation, 'cluster' | 'observed'>;

/** Secrets are not watched. */
const recheckMs = 10_000;

/** Whether a process that answers does not accept a password of the Secret. A pod that starts now would start with that password. */
export function isAnyUntold({ observed }: Pick<Situation, 'observed'>): boolean {
  const asked = [...answering([...observed.data]), ...answering([...observed.sentinels])];
  return asked.some((node) => !hasAll(node, 'password')) || refusing(observed).length > 0;
}

function refusing({ data, sentinels }: Situation['observed']): SilentNode[] {
  return [...data, ...sentinels].filter((node): node is SilentNode => 'refusal' in node && node.refusal !== undefined);
}

export function passwordProblem(seen: Seen): Outcome | undefined {
  const { cluster, observed } = seen;
  const { name } = passwordSecret(cluster);
  const silent = refusing(observed);
  if (silent.length > 0) return blocked('PasswordUnknown', unknown(seen, silent), recheckMs);
  // Where the servers have that with which pods start, nobody needs to be told it.
  const isOfMatter = observed.hasUnusableOther === true || isAnyUntold(seen);
  if (observed.unusablePassword === undefined || !isOfMatter) return undefined;
  const message =
    `Secret ${name} names a password that is of no use: ${observed.unusablePassword}. No server is told, and nothing is restarted; ` +
    'the servers keep the passwords that they have';
  return blocked('PasswordUnusable', message, recheckMs);
}

function unknown({ cluster, observed }: Seen, silent: readonly SilentNode[]): string {
  const { name } = passwordSecret(cluster);
  const words = silent.map(({ pod, refusal }) => `${pod} answers: ${refusal}`).join('; ');
  // They started while the Secret said something else, and nobody has told them who the cluster is.
  if (silent.length < (observed.data.length + observed.sentinels.length) / 2) {
    const pods = silent.map(({ pod }) => pod).join(', ');
    const [which, begin] = silent.length === 1 ? ['the pod', 'it starts'] : ['the pods', 'they start'];
    return `most processes have the password in Secret ${name}, but ${words}: delete ${which} ${pods}, and ${begin} with it`;
  }
  return (
    `the password in Secret ${name} is not the one that the servers have: ${words}. ` +
    'They keep theirs, and nothing is restarted; put the old password back into the Secret'
  );
}
