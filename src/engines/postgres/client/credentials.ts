/** How the operator connects: with a certificate of its own, to members of this cluster alone. */
import type { Cluster } from '../../../api/cluster.ts';
import { leafKeys } from '../../../certificates/facts.ts';
import type { EngineContext, TlsMaterial } from '../../../engine/engine-context.ts';
import type { PostgresSpec } from '../kind/schema.ts';
import { passwordChangedAnnotation, postgresNames, roles, sqlPort } from '../names.ts';
import { hasSource, serverCaSecret } from './server-ca.ts';
import type { SessionTarget } from './session.ts';

/** A Secret, or a key of it, is not there: nobody can be asked. */
export class SecretUnusable extends Error {
  override readonly name = 'SecretUnusable';
}

export async function patroniTls(cluster: Cluster<PostgresSpec>, io: EngineContext): Promise<TlsMaterial> {
  const { name, namespace } = cluster.metadata;
  const { certificates, members } = postgresNames(name);
  // All members show one certificate, for every name below the headless Service.
  return await material(cluster, certificates.patroniOperator, `patroni.${members}.${namespace}.svc`, io);
}

/** As the operator's role, in the database `postgres`. */
export async function operatorSession(
  cluster: Cluster<PostgresSpec>,
  address: string,
  io: EngineContext,
): Promise<SessionTarget> {
  const tls = { ...(await operatorTls(cluster, io)), ...(await shownBy(cluster, io)) };
  return { address, port: sqlPort, login: { user: roles.operator, database: 'postgres' }, tls };
}

/** The operator's certificate, and the CA of those that the operator issues to servers. */
export async function operatorTls(cluster: Cluster<PostgresSpec>, io: EngineContext): Promise<TlsMaterial> {
  return await material(cluster, postgresNames(cluster.metadata.name).certificates.operator, serverName(cluster), io);
}

/** Whose certificates members show, where that is not the operator's CA. Until there is a copy they show the operator's. */
async function shownBy(cluster: Cluster<PostgresSpec>, io: EngineContext): Promise<Partial<TlsMaterial>> {
  if (!hasSource(cluster)) return {};
  const ca = (await io.secret(serverCaSecret(cluster), { of: cluster.metadata.name }))?.[leafKeys.trusted];
  return ca === undefined ? {} : { ca, anyName: true };
}

/** As the owner of the first database; with its password, and without a certificate. */
export async function ownerSession(
  cluster: Cluster<PostgresSpec>,
  address: string,
  password: string,
  io: EngineContext,
): Promise<SessionTarget> {
  const { database, owner } = cluster.spec.initial;
  return await passwordSession(cluster, address, { user: owner, database, password }, io);
}

/** With a password, and without a certificate. */
export async function passwordSession(
  cluster: Cluster<PostgresSpec>,
  address: string,
  login: SessionTarget['login'],
  io: EngineContext,
): Promise<SessionTarget> {
  const { tls, ...target } = await operatorSession(cluster, address, io);
  const { ca = '', servername = serverName(cluster), anyName } = tls ?? {};
  return { ...target, tls: { ca, servername, ...(anyName === undefined ? {} : { anyName }) }, login };
}

/** The password of the owner, in the Secret for the application. */
export async function ownerPassword(cluster: Cluster<PostgresSpec>, io: EngineContext): Promise<string> {
  return await passwordIn(postgresNames(cluster.metadata.name).app, cluster, io);
}

/** A person may have changed the Secret, and have said so on the cluster. */
export async function passwordIn(
  secret: string,
  { metadata }: Cluster<PostgresSpec>,
  io: EngineContext,
): Promise<string> {
  const { password } = (await io.secret(secret, undefined, metadata.annotations?.[passwordChangedAnnotation])) ?? {};
  if (password === undefined) throw new SecretUnusable(`Secret ${secret} has no key password`);
  return password;
}

export function poolerServerName({ metadata }: Cluster<PostgresSpec>): string {
  return `${postgresNames(metadata.name).pooler}.${metadata.namespace}.svc`;
}

function serverName({ metadata }: Cluster<PostgresSpec>): string {
  return `${postgresNames(metadata.name).primary}.${metadata.namespace}.svc`;
}

async function material(
  { metadata }: Cluster,
  secret: string,
  servername: string,
  io: EngineContext,
): Promise<TlsMaterial> {
  const values = await io.secret(secret, { of: metadata.name });
  const [ca, cert, key] = [leafKeys.trusted, leafKeys.certificate, leafKeys.key].map((name) => values?.[name]);
  if (ca === undefined || cert === undefined || key === undefined)
    throw new SecretUnusable(`Secret ${secret} has no certificate`);
  return { ca, cert, key, servername };
}
