/**
 * Takes the files of a PostgreSQL as a standby would get them. They are checked on the way against the server's own
 * manifest, as in the read-back later.
 */
import type { AgentContext } from '../../../engine/driver/agent-context.ts';
import { coalesced } from '../../../engine/driver/coalesce.ts';
import { placeOf } from '../../../engine/driver/connection.ts';
import type { Dump } from '../../../engine/driver/dump.ts';
import { Failure } from '../../../engine/driver/failure.ts';
import { secretLine, tlsFrom } from '../../../engine/driver/secret-files.ts';
import type { PostgresSource, PostgresState } from '../backup/schemas.ts';
import { formatLsn, segmentStart } from '../client/lsn.ts';
import { createSlot } from '../client/replication-commands.ts';
import { ServerError } from '../client/server-error.ts';
import { type BaseBackup, beginBaseBackup, Unsupported } from './base-backup.ts';
import { type BackupFacts, checkedBackup } from './checked-backup.ts';
import { openSession, type PostgresAccess, type PostgresSession, postgresFailure } from './session.ts';
import { describe, type Member, type Survey, surveyMembers } from './survey.ts';
import { NotTar } from './tar.ts';

export async function dumpPostgres(source: PostgresSource, context: AgentContext): Promise<Dump<PostgresState>> {
  const { user, passwordFile, systemId } = source;
  const password = passwordFile === undefined ? undefined : await secretLine(passwordFile, context);
  const access = { user, password, tls: await tlsFrom(source.tls), context };
  const survey = await surveyMembers(source.members, systemId, access);
  const { member, answered } = survey;
  if (member.role === 'standby') await moveRecoveryPoint(member, access);
  const session = await openSession(member.endpoint, access);
  try {
    requireSame(await describe(session, member.endpoint, context), member);
    await keepLog(session, context);
    const backup = await beginBaseBackup(session.connection);
    const { place } = session;
    context.log.info({ source: place, role: member.role, start: formatLsn(backup.start) }, 'the base backup begins');
    let facts: BackupFacts | undefined;
    const broken = (why: string): Failure =>
      new Failure('SourceBroken', `the base backup of ${place} is not whole: ${why}`);
    const checked = checkedBackup(coalesced(asFailures(backup, place, context)), broken, (found) => {
      facts = found;
    });
    return {
      engineVersion: member.version,
      topology: { members: answered, source: place, role: member.role },
      content: completed(checked, () => requireComplete(survey, backup, facts, broken)),
      state: () => stateOf(member, backup, facts),
      close: () => session.connection.close(),
    };
  } catch (error) {
    session.connection.close();
    throw failureOf(error, session.place, context);
  }
}

/** The next connection to the same address may lead to another process. */
function requireSame(now: Member, before: Member): void {
  if (now.systemId === before.systemId && now.role === before.role && now.timeline === before.timeline) return;
  throw new Failure('SourceBroken', `${placeOf(before.endpoint)} is not the ${before.role} any more that it was`);
}

/** The server would else remove the log that it is to send at the end. The slot goes with the connection. */
async function keepLog({ connection, place }: PostgresSession, { random, log }: AgentContext): Promise<void> {
  try {
    await createSlot(connection, `clusterwright_backup_${random(4).toString('hex')}`, 'temporary');
  } catch (error) {
    if (!(error instanceof ServerError) || error.severity !== 'ERROR') throw error;
    log.warn(
      { err: error, member: place },
      'no slot keeps the log: the backup fails if the server removes it meanwhile',
    );
  }
}

/**
 * The backup of a standby ends at its minimum recovery point. A restartpoint moves that to the end of the primary's last checkpoint, and where
 * nothing is written afterwards, it stays there, which may be a segment behind what was acknowledged. A restartpoint that finds nothing to do
 * moves it to all that was replayed (`CreateRestartPoint` in PostgreSQL's xlog.c). So a first backup is begun and given up: that of the second one
 * finds nothing to do. The server's log says that the connection was lost. Where that fails, the backup shows whether it is whole.
 */
async function moveRecoveryPoint({ endpoint }: Member, access: PostgresAccess): Promise<void> {
  const { signal, log } = access.context;
  try {
    const { connection } = await openSession(endpoint, access);
    await beginBaseBackup(connection).finally(() => connection.close());
  } catch (error) {
    signal.throwIfAborted();
    log.warn({ err: error, member: placeOf(endpoint) }, 'the minimum recovery point of the standby is not moved');
  }
}

async function* asFailures(
  { content }: BaseBackup,
  place: string,
  context: AgentContext,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield* content;
  } catch (error) {
    throw failureOf(error, place, context);
  }
}

function failureOf(error: unknown, place: string, context: AgentContext): unknown {
  if (error instanceof Unsupported) return new Failure('SourceRefused', `${place}: ${error.message}`);
  if (error instanceof NotTar) return new Failure('SourceBroken', `${place} sends what is no tar: ${error.message}`);
  return postgresFailure(error, place, context);
}

async function* completed(
  content: AsyncIterable<Uint8Array>,
  check: () => void,
): AsyncGenerator<Uint8Array, void, undefined> {
  yield* content;
  check();
}

/**
 * The log in the backup is that of the server when the backup ended. Of a standby, that is what it had replayed: one that
 * is told to stay behind has more of it, and has not put it there.
 */
function requireComplete(
  { member, acknowledged }: Survey,
  backup: BaseBackup,
  facts: BackupFacts | undefined,
  broken: (why: string) => Failure,
): void {
  const { segmentBytes = 0, systemId } = facts ?? {};
  if (systemId !== member.systemId) throw broken(`its files are of the database cluster ${systemId}`);
  const last = segmentStart(backup.end() - 1n, segmentBytes);
  if (segmentStart(acknowledged - 1n, segmentBytes) <= last) return;
  throw broken(
    `it ends at ${formatLsn(backup.end())}, and ${formatLsn(acknowledged)} was acknowledged before it began`,
  );
}

function stateOf(member: Member, backup: BaseBackup, facts: BackupFacts | undefined): PostgresState {
  if (facts === undefined) throw new Error('the backup has not been read to its end');
  return {
    engine: 'postgres',
    systemId: member.systemId,
    timeline: backup.timeline,
    startLsn: formatLsn(backup.start),
    endLsn: formatLsn(backup.end()),
    segmentBytes: facts.segmentBytes,
    files: facts.manifest.files.size,
    bytes: facts.bytes,
  };
}
