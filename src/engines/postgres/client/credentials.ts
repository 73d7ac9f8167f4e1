/** How the operator connects to Patroni: with its certificate, and to members of this cluster alone. */
import type { Cluster } from '../../../api/cluster.ts';
import { leafKeys } from '../../../certificates/facts.ts';
import type { EngineContext, TlsMaterial } from '../../../engine/engine-context.ts';
import type { PostgresSpec } from '../kind/schema.ts';
import { podName, postgresNames } from '../names.ts';

/** A Secret, or a key of it, is not there: nobody can be asked. */
export class SecretUnusable extends Error {
  override readonly name = 'SecretUnusable';
}

export async function patroniTls({ metadata }: Cluster<PostgresSpec>, io: EngineContext): Promise<TlsMaterial> {
  const { certificates, members } = postgresNames(metadata.name);
  const values = await io.secret(certificates.patroniOperator, 'ours');
  const [ca, cert, key] = [leafKeys.trusted, leafKeys.certificate, leafKeys.key].map((name) => values?.[name]);
  if (ca === undefined || cert === undefined || key === undefined)
    throw new SecretUnusable(`Secret ${certificates.patroniOperator} has no certificate`);
  // All members show one certificate, for every name below the headless Service.
  return { ca, cert, key, servername: `${podName(metadata.name, 0)}.${members}.${metadata.namespace}.svc` };
}
