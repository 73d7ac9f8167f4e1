/**
 * What clients log in with, as the user `default`: the password in the Secret, and two more that the Secret may name so that clients can change
 * one after the other. Servers keep hashes.
 */
import type { Cluster } from '../../../api/cluster.ts';
import type { EngineContext } from '../../../engine/engine-context.ts';
import { isBindable } from '../../../resources/secret.ts';
import type { RedisSpec } from '../kind/schema.ts';
import { redisNames } from '../names.ts';
import { hashOf } from './identity.ts';

/** Name and key of the Secret that holds the password: the user's, or the one that is generated. */
export function passwordSecret(cluster: Cluster<RedisSpec>): { readonly name: string; readonly key: string } {
  return cluster.spec.auth?.secretRef ?? { name: redisNames(cluster.metadata.name).auth, key: 'password' };
}

/**
 * Secrets are not watched. An edit is seen within this time and the 12 seconds between two questions to a node: one GET of one Secret for each
 * cluster.
 */
export const secretAgeMs = 40_000;

/** Whether workloads can be bound by the Secret that is generated. One that is older, or that a person has made, may have a password alone. */
export async function isBindableBy(cluster: Cluster<RedisSpec>, io: Pick<EngineContext, 'secret'>): Promise<boolean> {
  return cluster.spec.auth?.secretRef === undefined && isBindable(await io.secret(passwordSecret(cluster).name));
}

export interface ClientPasswords {
  /** Of all that the Secret names. The first is that of the password with which pods start. */
  readonly hashes: readonly string[];
  /** Which of them no server is told, and why. Absent where all are of use. */
  readonly unusable?: string;
  /** One of these is named beside the first, for clients alone: nobody can start with it. */
  readonly hasUnusableOther?: true;
}

/** The pods read the first line only, so that a trailing newline in a Secret does no harm. */
export const firstLine = (value: string): string => value.split('\n', 1)[0] ?? '';

const mostBytes = 512;

/** The scripts of the pods read it by lines, and it stands in a configuration. */
function whyUnusable(password: string): string | undefined {
  if (password === '') return 'is empty';
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  if (/[\u0000-\u001f\u007f\ufffd]/.test(password)) return 'has a control character, or is not UTF-8';
  return Buffer.byteLength(password) > mostBytes ? `has more than ${mostBytes} bytes` : undefined;
}

/** @param key of the password, which is there and not empty */
export function clientPasswords(secret: Readonly<Record<string, string>>, key: string): ClientPasswords {
  const keys = [key, `${key}-next`, `${key}-previous`].filter((name) => secret[name] !== undefined);
  const named = keys.map((name) => ({ name, password: firstLine(secret[name] ?? '') }));
  const unusable = named.flatMap(({ name, password }) => {
    const why = whyUnusable(password);
    return why === undefined ? [] : [`key ${name} ${why}`];
  });
  const hashes = [...new Set(named.filter(({ password }) => password !== '').map(({ password }) => hashOf(password)))];
  if (unusable.length === 0) return { hashes };
  const isOther = named.some(({ name, password }) => name !== key && whyUnusable(password) !== undefined);
  return { hashes, unusable: unusable.join(', '), ...(isOther ? { hasUnusableOther: true } : {}) };
}
