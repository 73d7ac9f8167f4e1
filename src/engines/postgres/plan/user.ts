/** What a PostgresUser needs next: pure. */
import type { ContentSituation } from '../../../engine/content-kind.ts';
import { secretMissing } from '../../../engine/secret-missing.ts';
import type { Desired } from '../../../plan/objects.ts';
import { blocked, type ObjectStep, type Outcome, settled, wait } from '../../../plan/plan.ts';
import type { Membership } from '../client/questions/role-facts.ts';
import { literal, quoted } from '../client/quoting.ts';
import type { PostgresSpec } from '../kind/schema.ts';
import type { UserSpec } from '../kind/user.ts';
import { contentMark, loginSecret, postgresNames, sharesLoginSecret } from '../names.ts';
import { passwordSource, type UserObserved, type UserSeen } from '../observe/user.ts';
import { userSecrets } from '../resources/user.ts';
import {
  type ContentPlan,
  type ContentStep,
  notOurs,
  planWith,
  recheckMs,
  runStep,
  type Statement,
  unreachable,
} from './content.ts';
import { closedDatabase, foreignRelations, missingObjects, privilegeStatements, refusedOwner } from './privileges.ts';
import { powerWords, reservedName, tooPowerful } from './refused-role.ts';

export type UserSituation = ContentSituation<UserSpec, PostgresSpec, UserObserved>;

export function planUser(situation: UserSituation): ContentPlan {
  const { resource, target, observed } = situation;
  const { spec } = resource;
  const reserved = reservedIn(spec);
  if (reserved !== undefined) return { steps: [], outcome: reserved };
  const { name } = resource.metadata;
  if (spec.login && spec.passwordSecret === undefined && sharesLoginSecret(name)) {
    const message = `Secret ${loginSecret(name)} is that of the pooler or the exporters of a PostgresCluster: give the PostgresUser another name, or passwordSecret`;
    return { steps: [], outcome: blocked('NameReserved', message) };
  }
  const initial = target.spec.initial.owner;
  if (spec.name === initial) {
    const message = `role ${initial} is the initial owner of PostgresCluster ${target.metadata.name}, whose password is in Secret ${postgresNames(target.metadata.name).app}`;
    return { steps: [], outcome: blocked('NameReserved', message) };
  }
  if (observed.state === 'unreachable') return unreachable(observed.why);
  const { role, password, address } = observed;
  if (role.isSuperuser) {
    const message = `role ${spec.name} is a superuser, and the operator manages none`;
    return { steps: [], outcome: blocked('AlreadyExists', message, recheckMs * 2) };
  }
  const foreign = notOurs(`role ${spec.name}`, resource, { ...role, adopt: spec.adopt });
  if (foreign !== undefined) return { steps: [], outcome: blocked('AlreadyExists', foreign, recheckMs * 2) };
  if (spec.adopt && !role.exists) {
    const message = `there is no role ${spec.name} to adopt; without spec.adopt it is created`;
    return { steps: [], outcome: wait('NothingToAdopt', message, recheckMs * 2) };
  }
  if (spec.adopt && role.power !== undefined && !role.mayActAs) {
    const words = 'the operator does not adopt it, since whoever has the Secret could log in as this role';
    return { steps: [], outcome: tooPowerful('RoleRefused', spec.name, role.power, words) };
  }
  if (password.state === 'refused')
    return { steps: [], outcome: blocked('PasswordRefused', password.why, recheckMs * 2) };
  const secrets = password.state === 'missing' ? secretSteps(userSecrets(resource, target)) : [];
  if (password.state === 'missing' && secrets.length === 0) {
    const { name, key } = passwordSource(resource);
    return { steps: [], outcome: secretMissing(`Secret ${name} is not there, or has no key ${key}`) };
  }
  const statements = [...(role.exists ? attributes(spec, observed) : []), ...memberships(spec, observed)];
  const lacking = missingObjects(observed.databases, spec.grants ?? []) ?? missingRole(observed.memberships);
  const privileges =
    spec.grants === undefined || !role.exists ? [] : privilegeStatements(spec.name, observed.databases, spec.grants);
  const run = (each: Statement): ContentStep => runStep(address, each);
  const steps = [
    ...secrets,
    ...(role.exists ? [] : [creation(situation, observed)]),
    ...[...statements, ...privileges].map(run),
    // Made before and unknown to PostgreSQL: somebody has deleted the Secret.
    ...(role.exists && spec.login && (password.state === 'wrong' || secrets.length > 0)
      ? [passwordStep(situation, observed)]
      : []),
  ];
  const { databases } = observed;
  const refused = refusedMembership(observed.memberships) ?? refusedOwner(databases) ?? closedDatabase(databases);
  const lack = lacking === undefined ? settled : wait('ObjectMissing', lacking, recheckMs);
  return planWith(resource, steps, refused ?? lack);
}

function reservedIn({ name, memberOf, grants = [] }: UserSpec): Outcome | undefined {
  const creators = grants.flatMap(({ schemas }) => schemas.flatMap(({ createdBy }) => createdBy));
  return reservedName({ roles: [name, ...memberOf, ...creators] });
}

function refusedMembership(memberships: readonly Membership[]): Outcome | undefined {
  const refused = memberships.find(({ isMember, power }) => !isMember && power !== undefined);
  if (refused?.power === undefined) return undefined;
  const words = 'the operator makes nobody a member of it; a superuser can';
  return tooPowerful('MembershipRefused', refused.role, refused.power, words);
}

function secretSteps(desired: readonly Desired[]): ObjectStep[] {
  return desired.map(({ object, generate }) => ({
    type: 'create',
    object,
    ...(generate === undefined ? {} : { generate }),
  }));
}

function missingRole(memberships: readonly Membership[]): string | undefined {
  const missing = memberships.find(({ exists }) => !exists);
  return missing === undefined ? undefined : `there is no role ${missing.role}; a PostgresUser can create it`;
}

function optionsOf(spec: UserSpec): string {
  return [
    spec.login ? 'LOGIN' : 'NOLOGIN',
    spec.createDatabase ? 'CREATEDB' : 'NOCREATEDB',
    spec.inherit ? 'INHERIT' : 'NOINHERIT',
    `CONNECTION LIMIT ${spec.connectionLimit}`,
    `VALID UNTIL ${literal(spec.validUntil ?? 'infinity')}`,
  ].join(' ');
}

/** In one transaction with the mark. The operator becomes a member, since it has to act for the role where that owns something. */
function creation({ resource }: UserSituation, { address }: UserSeen): ContentStep {
  const { spec, metadata } = resource;
  const name = quoted(spec.name);
  const create = `CREATE ROLE ${name} ${optionsOf(spec)}`;
  const mark = literal(contentMark('PostgresUser', metadata.name));
  const after = `; COMMENT ON ROLE ${name} IS ${mark}; GRANT ${name} TO CURRENT_USER`;
  const summary = `create role ${spec.name}`;
  if (!spec.login) return runStep(address, { summary, database: 'postgres', sql: `${create}${after}` });
  const action = {
    type: 'postgres.setPassword',
    address,
    before: `${create} PASSWORD `,
    after,
    secret: passwordSource(resource),
  } as const;
  return { type: 'act', action, summary: `${summary}, with the password of Secret ${action.secret.name}` };
}

function passwordStep({ resource }: UserSituation, { address }: UserSeen): ContentStep {
  const secret = passwordSource(resource);
  const before = `ALTER ROLE ${quoted(resource.spec.name)} PASSWORD `;
  const summary = `set the password of role ${resource.spec.name} to that of Secret ${secret.name}`;
  return { type: 'act', action: { type: 'postgres.setPassword', address, before, after: '', secret }, summary };
}

function attributes(spec: UserSpec, { role }: UserSeen): Statement[] {
  const until = spec.validUntil === undefined ? undefined : Math.floor(Date.parse(spec.validUntil) / 1000);
  const changed = [
    ...(role.login === spec.login ? [] : ['LOGIN']),
    ...(role.createDatabase === spec.createDatabase ? [] : ['CREATEDB']),
    ...(role.inherit === spec.inherit ? [] : ['INHERIT']),
    ...(role.connectionLimit === spec.connectionLimit ? [] : ['CONNECTION LIMIT']),
    ...(role.validUntil === until ? [] : ['VALID UNTIL']),
  ];
  const name = quoted(spec.name);
  const statement = (summary: string, sql: string): Statement => ({ summary, database: 'postgres', sql });
  return [
    ...(changed.length === 0
      ? []
      : [statement(`change ${changed.join(', ')} of role ${spec.name}`, `ALTER ROLE ${name} ${optionsOf(spec)}`)]),
    ...(role.mayActAs
      ? []
      : [
          statement(
            `make the operator's role a member of role ${spec.name}, for which it acts`,
            `GRANT ${name} TO CURRENT_USER`,
          ),
        ]),
  ];
}

function memberships(spec: UserSpec, { memberships: found }: UserSeen): Statement[] {
  const to = quoted(spec.name);
  const statement = (summary: string, sql: string): Statement => ({ summary, database: 'postgres', sql });
  const wanted = spec.memberOf.map((role) => found.find((each) => each.role === role) ?? { ...unknown, role });
  return [
    ...wanted.flatMap(({ role, exists, isMember, isOurs, inherits, power }): Statement[] => {
      if (!exists || power !== undefined) return [];
      if (!isMember) return [statement(`make ${spec.name} a member of role ${role}`, `GRANT ${quoted(role)} TO ${to}`)];
      if (!isOurs || inherits === undefined || inherits === spec.inherit) return [];
      const option = spec.inherit ? 'TRUE' : 'FALSE';
      const summary = `change INHERIT of the membership of ${spec.name} in role ${role} to ${option}`;
      return [statement(summary, `GRANT ${quoted(role)} TO ${to} WITH INHERIT ${option}`)];
    }),
    ...found
      .filter(({ role, isOurs }) => isOurs && !spec.memberOf.includes(role))
      .map(({ role }) =>
        statement(`end the membership of ${spec.name} in role ${role}`, `REVOKE ${quoted(role)} FROM ${to}`),
      ),
  ];
}

/** Of an offline plan, where nothing was asked. */
const unknown: Membership = {
  role: '',
  exists: true,
  isMember: false,
  isOurs: false,
  inherits: undefined,
  power: undefined,
};

/** What differs and is not put right. */
export function userWarnings({ resource, observed }: UserSituation): readonly string[] {
  if (observed.state === 'unreachable') return [];
  const { spec } = resource;
  return [
    ...(observed.role.power === undefined
      ? []
      : [`${powerWords(spec.name, observed.role.power)}, which no PostgresUser gives: a superuser can take it away`]),
    ...foreignRelations(observed.databases),
  ];
}

export function planUserRemoval({ resource, observed }: UserSituation): ContentPlan {
  const { spec, metadata } = resource;
  if (reservedIn(spec) !== undefined) return { steps: [], outcome: settled };
  if (observed.state === 'unreachable') return unreachable(observed.why);
  const { role, address, databases } = observed;
  if (!role.exists || spec.adopt || role.madeFor !== metadata.name) return { steps: [], outcome: settled };
  const revoked = spec.grants === undefined ? [] : privilegeStatements(spec.name, databases, []);
  const drop = { summary: `drop role ${spec.name}`, database: 'postgres', sql: `DROP ROLE ${quoted(spec.name)}` };
  return {
    steps: [...revoked, drop].map((each) => runStep(address, each)),
    outcome: wait('Dropping', `role ${spec.name} is being dropped`, recheckMs),
  };
}
