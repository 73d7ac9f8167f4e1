/**
 * From which member a backup is taken: a standby that has everything that the primary had when it was asked, so that the
 * primary is left to its work; else the primary.
 */
import type { Endpoint } from '../../../backup/members.ts';
import type { AgentContext } from '../../../engine/driver/agent-context.ts';
import { placeOf } from '../../../engine/driver/connection.ts';
import { Failure, wordsOf } from '../../../engine/driver/failure.ts';
import { sleep } from '../../../system/clock.ts';
import { formatLsn, type Lsn } from '../client/lsn.ts';
import { identifySystem } from '../client/replication-commands.ts';
import { openSession, type PostgresAccess, type PostgresSession, postgresFailure } from './session.ts';

export interface Member {
  readonly endpoint: Endpoint;
  readonly role: 'primary' | 'standby';
  readonly systemId: string;
  readonly timeline: number;
  /** Of its disk. */
  readonly position: Lsn;
  /** MAJOR.MINOR */
  readonly version: string;
}

/** What a member says of itself in a session. @throws Failure */
export async function describe(session: PostgresSession, endpoint: Endpoint, context: AgentContext): Promise<Member> {
  const { connection, place } = session;
  try {
    const { systemid, timeline, xlogpos } = await identifySystem(connection);
    const { server_version = '', in_hot_standby } = connection.parameters;
    const [, version] = /^(\d+\.\d+)/.exec(server_version) ?? [];
    if (version === undefined)
      throw new Failure('SourceRefused', `${place} is of version ${server_version.slice(0, 40)}`);
    if (Number.parseInt(version, 10) < 15)
      throw new Failure('SourceRefused', `${place} is of version ${version}: before 15`);
    const role = in_hot_standby === 'on' ? 'standby' : 'primary';
    return { endpoint, role, systemId: systemid, timeline, position: xlogpos, version };
  } catch (error) {
    throw postgresFailure(error, place, context);
  }
}

export interface Survey {
  readonly member: Member;
  readonly answered: number;
  /** What was on the primary's disk when the backup began: the backup holds at least that. */
  readonly acknowledged: Lsn;
}

/** A standby is given so long to catch up. */
const patienceMs = 2_000;
const betweenMs = 100;

/** @throws Failure */
export async function surveyMembers(
  members: readonly Endpoint[],
  systemId: string | undefined,
  access: PostgresAccess,
): Promise<Survey> {
  const { context } = access;
  const first = await askAll(members, access);
  const own = ownOf(first, systemId, context);
  const primary = primaryOf(own);
  const acknowledged = primary.position;
  const answered = own.length;
  const fits = ({ role, timeline, position }: Member): boolean =>
    role === 'standby' && timeline === primary.timeline && position >= acknowledged;
  const standbys = own.filter(({ role, timeline }) => role === 'standby' && timeline === primary.timeline);
  let asked = standbys;
  for (let waited = 0; asked.length > 0 && waited < patienceMs; waited += betweenMs) {
    const [best] = asked.filter(fits).sort(furthestFirst);
    if (best !== undefined) return { member: best, answered, acknowledged };
    await sleep(context.clock, betweenMs, context.signal);
    const again = await askAll(
      standbys.map(({ endpoint }) => endpoint),
      access,
    );
    asked = again.members.filter((member) => member.systemId === primary.systemId);
  }
  if (standbys.length > 0) {
    context.log.info({ position: formatLsn(acknowledged) }, 'no standby catches up: the primary is read');
  }
  return { member: primary, answered, acknowledged };
}

/** The one whose log is the database's. @throws Failure */
export async function findPrimary(
  members: readonly Endpoint[],
  systemId: string | undefined,
  access: PostgresAccess,
): Promise<Member> {
  return primaryOf(ownOf(await askAll(members, access), systemId, access.context));
}

/** Whether a standby of this timeline has the log up to a position on its disk. As soon as one has, the others are not waited for. */
export async function standbyHas(
  members: readonly Endpoint[],
  { systemId, timeline, upTo }: { readonly systemId: string; readonly timeline: number; readonly upTo: Lsn },
  access: PostgresAccess,
): Promise<boolean> {
  const asked = members.map(async (endpoint) => {
    const found = await ask(endpoint, access);
    const isIt = found.role === 'standby' && found.systemId === systemId && found.timeline === timeline;
    if (!isIt || found.position < upTo) throw new Error(`${placeOf(endpoint)} has it not`);
  });
  return await Promise.any(asked).then(
    () => true,
    () => false,
  );
}

async function ask(endpoint: Endpoint, access: PostgresAccess): Promise<Member> {
  const session = await openSession(endpoint, access);
  try {
    return await describe(session, endpoint, access.context);
  } finally {
    session.connection.close();
  }
}

interface Answers {
  readonly members: readonly Member[];
  readonly failures: readonly unknown[];
}

async function askAll(endpoints: readonly Endpoint[], access: PostgresAccess): Promise<Answers> {
  const { context } = access;
  const found = await Promise.allSettled(endpoints.map((endpoint) => ask(endpoint, access)));
  context.signal.throwIfAborted();
  const members = found.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  const failures = found.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []));
  for (const error of failures) context.log.info({ err: error }, 'a member is left out');
  return { members, failures };
}

/** Members of the one database cluster. An address that is used again leads to another's for a while. */
function ownOf({ members, failures }: Answers, systemId: string | undefined, { log }: AgentContext): readonly Member[] {
  const [first] = members;
  if (first === undefined) {
    const refusal = failures.find((error) => error instanceof Failure && error.reason === 'SourceRefused');
    throw refusal ?? new Failure('SourceUnreachable', `no member answers: ${wordsOf(failures[0])}`);
  }
  const foreign = members.find((member) => member.systemId !== (systemId ?? first.systemId));
  if (foreign === undefined) return members;
  const words = `${placeOf(foreign.endpoint)} is of the database cluster ${foreign.systemId}`;
  // Nothing here tells which of them is ours.
  if (systemId === undefined) {
    throw new Failure('SourceBroken', `${words}, and ${placeOf(first.endpoint)} of ${first.systemId}`);
  }
  log.info({ member: placeOf(foreign.endpoint) }, 'a process of another database cluster is left out');
  const own = members.filter((member) => member.systemId === systemId);
  if (own.length === 0) throw new Failure('SourceRefused', `${words}, and ${systemId} was expected`);
  return own;
}

/** A primary that has been replaced writes an earlier timeline. */
function primaryOf(members: readonly Member[]): Member {
  const [primary, other] = members.filter(({ role }) => role === 'primary').sort((a, b) => b.timeline - a.timeline);
  if (primary === undefined) {
    throw new Failure('SourceBroken', 'no primary answers: a standby may lack what was acknowledged');
  }
  const newest = members.find(({ timeline }) => timeline > primary.timeline);
  if (newest !== undefined) {
    const words = `${placeOf(newest.endpoint)} follows another primary than ${placeOf(primary.endpoint)}`;
    throw new Failure('SourceBroken', `${words}, which has been replaced`);
  }
  if (other !== undefined && other.timeline === primary.timeline) {
    const both = [primary, other].map(({ endpoint }) => placeOf(endpoint)).join(' and ');
    throw new Failure('SourceBroken', `${both} are both primary of timeline ${primary.timeline}`);
  }
  return primary;
}

function furthestFirst(a: Member, b: Member): number {
  return a.position === b.position ? 0 : a.position > b.position ? -1 : 1;
}
