/** What is needed to log in to the source of an import, besides what is in the spec. */
import { createHash } from 'node:crypto';
import type { Cluster } from '../../../api/cluster.ts';
import type { EngineContext } from '../../../engine/engine-context.ts';
import type { PostgresSpec } from '../kind/schema.ts';
import { SecretUnusable } from './credentials.ts';

export interface SourceSecrets {
  readonly password: string;
  /** PEM. */
  readonly ca?: string;
  /** Of both: the member says with which one it works. */
  readonly digest: string;
}

/** More is no password and no CA, and the member takes no more. */
const mostBytes = 64 * 1024;

/** Rejects with SecretUnusable. */
export async function sourceSecrets({ spec }: Cluster<PostgresSpec>, io: EngineContext): Promise<SourceSecrets> {
  const from = spec.bootstrap?.importFrom;
  if (from === undefined) throw new Error('the spec names no source');
  const read = async ({ name, key }: { readonly name: string; readonly key: string }): Promise<string> => {
    const value = (await io.secret(name))?.[key];
    if (value === undefined) throw new SecretUnusable(`Secret ${name} has no key ${key}`);
    if (value === '' || value.length > mostBytes)
      throw new SecretUnusable(`key ${key} of Secret ${name} is empty or too long`);
    return value;
  };
  const password = await read(from.password);
  if (/[\0\r\n]/.test(password))
    throw new SecretUnusable(`the password in Secret ${from.password.name} has a line break`);
  const ca = from.tls.ca === undefined ? undefined : await read(from.tls.ca);
  const digest = createHash('sha256')
    .update(JSON.stringify([password, ca]))
    .digest('hex')
    .slice(0, 32);
  return { password, ...(ca === undefined ? {} : { ca }), digest };
}
