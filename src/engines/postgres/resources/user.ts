/** The Secret with the connection details of a PostgresUser. */
import type { Cluster } from '../../../api/cluster.ts';
import type { Desired } from '../../../plan/objects.ts';
import { unownedMetadata } from '../../../resources/metadata.ts';
import { bindingOf, generatedSecret } from '../../../resources/secret.ts';
import type { PostgresSpec } from '../kind/schema.ts';
import type { UserSpec } from '../kind/user.ts';
import { loginSecret, postgresNames, sharesLoginSecret, sqlPort } from '../names.ts';

const passwordLength = 32;
export const userName = 'postgresuser';

/** None where the user brings a Secret, or cannot log in. `target`: absent where only names count. */
export function userSecrets(
  resource: Cluster<UserSpec>,
  target: Cluster<PostgresSpec> | undefined,
): readonly Desired[] {
  const { metadata, spec } = resource;
  if (!spec.login || spec.passwordSecret !== undefined || sharesLoginSecret(metadata.name)) return [];
  const part = { engine: userName, component: 'login', version: target?.spec.version ?? '0' };
  const host = `${postgresNames(spec.cluster.name).primary}.${metadata.namespace}.svc`;
  const database = spec.database ?? spec.grants?.[0]?.database ?? target?.spec.initial.database ?? 'postgres';
  const [user, path] = [spec.name, database].map(encodeURIComponent);
  const values = {
    ...bindingOf('postgresql'),
    host,
    port: String(sqlPort),
    database,
    username: spec.name,
    uri: `postgresql://${user}:{password}@${host}:${sqlPort}/${path}?sslmode=require`,
    'jdbc-uri': `jdbc:postgresql://${host}:${sqlPort}/${path}?user=${user}&password={password}&sslmode=require`,
  };
  return [
    {
      object: generatedSecret(unownedMetadata(resource, loginSecret(metadata.name), part), values),
      generate: [{ key: 'password', length: passwordLength, isOursAlone: true }],
    },
  ];
}
