/** What the primary says of the role of a PostgresUser, and whether the password of its Secret lets it in. */
import type { Cluster } from '../../../api/cluster.ts';
import type { EngineContext } from '../../../engine/engine-context.ts';
import type { PasswordSource } from '../action.ts';
import { passwordSession } from '../client/credentials.ts';
import { ask, askOne } from '../client/question.ts';
import {
  type DefaultPrivileges,
  defaultPrivilegesQuestion,
  relationsQuestion,
  type SchemaPrivileges,
  schemaPrivilegesQuestion,
} from '../client/questions/privileges.ts';
import {
  type DatabasePrivileges,
  databasePrivilegesQuestion,
  type Membership,
  membershipsQuestion,
  type RoleFacts,
  roleFactsQuestion,
} from '../client/questions/role-facts.ts';
import { requireStable, UnstablePassword } from '../client/scram-verifier.ts';
import { ServerError } from '../client/server-error.ts';
import { withSession } from '../client/session.ts';
import type { PostgresSpec } from '../kind/schema.ts';
import { sequencePrivileges, tablePrivileges, type UserSpec } from '../kind/user.ts';
import { contentMarkPattern, loginSecret, passwordChangedAnnotation } from '../names.ts';
import { askPrimary, type Unreachable } from './content.ts';

/** What was given inside of one database. */
export interface InsidePrivileges extends DatabasePrivileges {
  readonly schemas: readonly SchemaPrivileges[];
  readonly defaults: readonly DefaultPrivileges[];
  /** Why nothing was learned inside. Its owner can close it to the operator, and must not keep rights elsewhere by that. */
  readonly problem?: string;
}

export type PasswordState =
  /** It has none, or it is not asked for: it has expired, or the role is not there. */
  | { readonly state: 'untried' }
  | { readonly state: 'right' }
  | { readonly state: 'wrong' }
  /** The Secret, or its key, is not there. */
  | { readonly state: 'missing' }
  | { readonly state: 'refused'; readonly why: string };

export interface UserSeen {
  readonly state: 'seen';
  readonly address: string;
  readonly role: RoleFacts;
  readonly memberships: readonly Membership[];
  readonly databases: readonly InsidePrivileges[];
  readonly password: PasswordState;
}

export type UserObserved = Unreachable | UserSeen;

/** Counting tables takes longer than a name. */
const insideTimeoutMs = 3000;
/** Databases that do not answer, each of which takes that time. */
const mostProblems = 3;
/** SQLSTATE of a login with a wrong password: PostgreSQL's documentation, Appendix A. */
const invalidPassword = '28P01';

export function passwordSource({ metadata, spec }: Cluster<UserSpec>): PasswordSource {
  const { name, key } = spec.passwordSecret ?? { name: loginSecret(metadata.name), key: 'password' };
  const told = metadata.annotations?.[passwordChangedAnnotation];
  return { name, key, ...(told === undefined ? {} : { told }) };
}

export async function observeUser(
  resource: Cluster<UserSpec>,
  target: Cluster<PostgresSpec>,
  io: EngineContext,
): Promise<UserObserved> {
  const { spec } = resource;
  return await askPrimary<UserSeen>(
    target,
    io,
    async (talk, address) => {
      const pattern = contentMarkPattern('PostgresUser');
      const named = spec.grants?.map(({ database }) => database) ?? [];
      const { role, memberships, databases } = await talk('postgres', async (connection) => ({
        role: await askOne(connection, roleFactsQuestion(spec.name, pattern)),
        memberships: await ask(connection, membershipsQuestion(spec.name, spec.memberOf)),
        databases: spec.grants === undefined ? [] : await ask(connection, databasePrivilegesQuestion(spec.name, named)),
      }));
      const inside: InsidePrivileges[] = [];
      for (const each of databases) {
        const isSeen = role.exists && each.exists && each.allowsConnections;
        const isTooMany = inside.filter(({ problem }) => problem !== undefined).length >= mostProblems;
        const look = () => talk(each.database, (connection) => observeInside(connection, resource, each.database));
        const found = !isSeen
          ? nothing
          : isTooMany
            ? { ...nothing, problem: 'it was not asked, after others did not answer' }
            : await look().catch((error: unknown) => {
                io.signal.throwIfAborted();
                return { ...nothing, problem: (error as Error).message };
              });
        inside.push({ ...each, ...found });
      }
      const isExpired = spec.validUntil !== undefined && Date.parse(spec.validUntil) <= io.now();
      const isTried = role.exists && role.login && !isExpired;
      const password: PasswordState = spec.login
        ? await observePassword(resource, target, address, isTried, io)
        : { state: 'untried' };
      return { state: 'seen', address, role, memberships, databases: inside, password };
    },
    insideTimeoutMs,
  );
}

const nothing = { schemas: [], defaults: [] } as const;

async function observeInside(
  connection: Parameters<typeof ask>[0],
  { spec: { name, grants = [] }, metadata }: Cluster<UserSpec>,
  database: string,
): Promise<Pick<InsidePrivileges, 'schemas' | 'defaults'>> {
  // Of a role that goes, nothing is wanted any more: what it has is counted as surplus.
  const isGoing = metadata.deletionTimestamp !== undefined;
  const wanted = grants.find((grant) => grant.database === database)?.schemas ?? [];
  const rows = await ask(
    connection,
    schemaPrivilegesQuestion(
      name,
      wanted.map((schema) => schema.name),
    ),
  );
  const schemas: SchemaPrivileges[] = [];
  for (const row of rows) {
    const found = isGoing ? undefined : wanted.find((schema) => schema.name === row.schema);
    const { tables = [], sequences = [] } = found ?? {};
    schemas.push({
      ...row,
      tables: await askOne(connection, relationsQuestion(name, row.schema, 'tables', tables, tablePrivileges)),
      sequences: await askOne(
        connection,
        relationsQuestion(name, row.schema, 'sequences', sequences, sequencePrivileges),
      ),
    });
  }
  return { schemas, defaults: await ask(connection, defaultPrivilegesQuestion(name)) };
}

async function observePassword(
  resource: Cluster<UserSpec>,
  target: Cluster<PostgresSpec>,
  address: string,
  isTried: boolean,
  io: EngineContext,
): Promise<PasswordState> {
  const { name, key, told } = passwordSource(resource);
  const read = async (): Promise<string | undefined> =>
    (await io.secret(name, resource.spec.passwordSecret === undefined ? 'ours' : undefined, told))?.[key];
  const password = await read();
  if (password === undefined) {
    io.secretRefused(name);
    return { state: 'missing' };
  }
  try {
    requireStable(password);
  } catch (error) {
    if (!(error instanceof UnstablePassword)) throw error;
    io.secretRefused(name);
    return { state: 'refused', why: `Secret ${name}: ${error.message}` };
  }
  if (!isTried) return { state: 'untried' };
  if (!(await isRefused(resource, target, address, password, io))) return { state: 'right' };
  // What is known of the Secret may be old.
  io.secretRefused(name);
  const current = await read();
  if (current === undefined) return { state: 'missing' };
  const isWrong = current === password || (await isRefused(resource, target, address, current, io));
  return { state: isWrong ? 'wrong' : 'right' };
}

/** Anything else that keeps the role out is for the user to decide: a limit of connections, for example. */
async function isRefused(
  { spec }: Cluster<UserSpec>,
  target: Cluster<PostgresSpec>,
  address: string,
  password: string,
  io: EngineContext,
): Promise<boolean> {
  const login = { user: spec.name, database: 'postgres', password };
  try {
    await withSession(io, await passwordSession(target, address, login, io), () => Promise.resolve());
    return false;
  } catch (error) {
    io.signal.throwIfAborted();
    if (!(error instanceof ServerError)) throw error;
    return error.code === invalidPassword;
  }
}

/** As if nothing were there. */
export const noUser: UserObserved = {
  state: 'seen',
  address: '',
  role: {
    exists: false,
    isSuperuser: false,
    login: false,
    createDatabase: false,
    inherit: true,
    connectionLimit: -1,
    validUntil: undefined,
    madeFor: undefined,
    mayActAs: false,
    power: undefined,
  },
  memberships: [],
  databases: [],
  password: { state: 'missing' },
};
