/** What the operator asks, answered by real servers; logins by certificate and by verifiers that we make. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EngineContext, TlsMaterial } from '../../../src/engine/engine-context.ts';
import type { PostgresConnection } from '../../../src/engines/postgres/client/connection.ts';
import type { Login } from '../../../src/engines/postgres/client/login.ts';
import { formatLsn, segmentName } from '../../../src/engines/postgres/client/lsn.ts';
import { ask, askOne } from '../../../src/engines/postgres/client/question.ts';
import { databasesQuestion, reorderedQuestion } from '../../../src/engines/postgres/client/questions/databases.ts';
import { recoveryQuestion } from '../../../src/engines/postgres/client/questions/recovery.ts';
import {
  followersQuestion,
  slotsQuestion,
  upstreamQuestion,
} from '../../../src/engines/postgres/client/questions/replication.ts';
import { serverQuestion } from '../../../src/engines/postgres/client/questions/server.ts';
import {
  createSlot,
  identifySystem,
  readSlot,
  segmentBytesOf,
} from '../../../src/engines/postgres/client/replication-commands.ts';
import { scramVerifier } from '../../../src/engines/postgres/client/scram-verifier.ts';
import { readOnly, withSession } from '../../../src/engines/postgres/client/session.ts';
import { sleep, systemClock } from '../../../src/system/clock.ts';
import { dialTcp } from '../../../src/system/dial.ts';
import { type Authority, openAuthority } from '../../support/etcd-certificates.ts';
import {
  initialise,
  openHome,
  type PostgresHome,
  type PostgresProcess,
  startPostgres,
  startStandby,
} from '../../support/postgres-process.ts';
import { postgresPrograms } from '../../support/postgres-program.ts';
import { until } from '../../support/until.ts';

const io: Pick<EngineContext, 'dial' | 'sleep'> = {
  dial: dialTcp,
  sleep: (ms, signal) => sleep(systemClock, ms, signal),
};

it.skipIf(postgresPrograms.size === 0)('the sandbox has made images of PostgreSQL, whose servers run here', () => {
  expect([...postgresPrograms.keys()].length).toBeGreaterThan(0);
});

describe.each([...postgresPrograms])('PostgreSQL %s', (major, program) => {
  let home: PostgresHome;
  let authority: Authority;
  let primary: PostgresProcess;
  let standby: PostgresProcess;
  let tls: TlsMaterial;

  beforeAll(async () => {
    home = openHome(program);
    authority = openAuthority();
    const certificates = authority.issue(['127.0.0.1']);
    tls = { ca: certificates['ca.crt'], cert: certificates['tls.crt'], key: certificates['tls.key'] };
    initialise(home, 'primary');
    const hba = [
      'hostssl all by_certificate 127.0.0.1/32 cert clientname=DN map=members',
      'hostssl replication by_certificate 127.0.0.1/32 cert clientname=DN map=members',
      'host all by_password 127.0.0.1/32 scram-sha-256',
      'host all nobody 127.0.0.1/32 reject',
    ];
    // The certificates of these tests have no common name.
    const identities = ['members "O=members" by_certificate'];
    primary = await startPostgres(home, 'primary', {
      ...{ certificates, hba, identities },
      config: ['max_prepared_transactions = 2'],
    });
    await primary.sql('CREATE ROLE by_certificate SUPERUSER LOGIN REPLICATION');
    standby = await startStandby(home, primary, 'standby', {
      config: ['ssl = off', 'max_prepared_transactions = 2'],
    });
  });
  afterAll(async () => {
    await Promise.all([primary?.stop(), standby?.stop()]);
    home?.remove();
    authority?.close();
  });

  const talkTo = <T>(
    server: PostgresProcess,
    talk: (connection: PostgresConnection) => Promise<T>,
    login: Login = { user: 'postgres', settings: readOnly },
    secured?: TlsMaterial,
  ): Promise<T> => {
    const target = { address: '127.0.0.1', port: server.port, login, timeoutMs: 5000 };
    return withSession(io, secured === undefined ? target : { ...target, tls: secured }, talk);
  };

  it('says who is primary, who follows, and how far they are', async () => {
    await primary.sql('CREATE TABLE t (n int); INSERT INTO t SELECT generate_series(1, 1000)');
    const written = await talkTo(primary, (it) => askOne(it, recoveryQuestion));
    expect(written).toMatchObject({
      inRecovery: false,
      checkpointTimeline: 1,
      writtenTimeline: 1,
      received: undefined,
    });
    const copied = async () => (await talkTo(standby, (it) => askOne(it, recoveryQuestion))).replayed ?? 0n;
    await expect.poll(async () => (await copied()) >= (written.flushed ?? 0n)).toBe(true);
    const followed = await talkTo(standby, (it) => askOne(it, recoveryQuestion));
    expect(followed).toMatchObject({ inRecovery: true, systemId: written.systemId, written: undefined });
    // Both sides say a moment later that it streams, and a copy that was just made may still be among the followers.
    await expect
      .poll(() => talkTo(primary, (it) => ask(it, followersQuestion)))
      .toMatchObject([{ name: 'standby', address: '127.0.0.1', state: 'streaming', syncState: 'async' }]);
    await expect
      .poll(() => talkTo(standby, (it) => ask(it, upstreamQuestion)))
      .toMatchObject([{ status: 'streaming', host: '127.0.0.1', port: primary.port, timeline: 1 }]);
    expect(await talkTo(primary, (it) => ask(it, upstreamQuestion))).toEqual([]);
  });

  it('names a position and its file as we do', async () => {
    const named = async () => {
      const [row] = await primary.sql('SELECT l, pg_walfile_name(l) FROM (SELECT pg_current_wal_lsn() AS l) AS x');
      const { written = 0n } = await talkTo(primary, (it) => askOne(it, recoveryQuestion));
      return { theirs: row, ours: [formatLsn(written), segmentName(1, written, 16 * 1024 * 1024)] };
    };
    // A server writes by itself, too, and that may be between the two questions.
    await until('both name one position', async () => {
      const { theirs, ours } = await named();
      expect(ours).toEqual(theirs);
    });
  });

  it('tells its identity, its slots, and the size of its segments', async () => {
    const login: Login = { user: 'postgres', replication: 'true' };
    await talkTo(
      primary,
      async (connection) => {
        const { systemid, timeline } = await identifySystem(connection);
        expect({ systemid: systemid.length > 15, timeline }).toEqual({ systemid: true, timeline: 1 });
        expect(await segmentBytesOf(connection)).toBe(16 * 1024 * 1024);
        expect(await readSlot(connection, 'archive')).toBeUndefined();
        await createSlot(connection, 'archive', 'permanent');
        expect(await readSlot(connection, 'archive')).toMatchObject({ timeline: 1 });
        await expect(createSlot(connection, 'archive', 'permanent')).rejects.toMatchObject({ code: '42710' });
        await createSlot(connection, 'while_we_read', 'temporary');
      },
      login,
    );
    await expect
      .poll(() => talkTo(primary, (it) => ask(it, slotsQuestion)))
      .toMatchObject([{ name: 'archive', type: 'physical', active: false, temporary: false, walStatus: 'reserved' }]);
    await expect(talkTo(primary, (it) => createSlot(it, "a'; DROP", 'temporary'), login)).rejects.toThrow(
      /no name of a slot/,
    );
  });

  it('lists its databases, with the versions of their collations', async () => {
    const databases = await talkTo(primary, (it) => ask(it, databasesQuestion));
    expect(databases.map(({ name }) => name)).toEqual(['postgres', 'template0', 'template1']);
    expect(databases[0]).toMatchObject({ owner: 'postgres', allowsConnections: true, provider: 'c', collation: 'C' });
    expect(databases[0]?.recordedVersion).toEqual(databases[0]?.actualVersion);
  });

  it('says in which databases it sorts in another way than their indexes do, and how many transactions are prepared', async () => {
    const reordered = () => talkTo(primary, (it) => askOne(it, reorderedQuestion));
    expect(await reordered()).toEqual({ reordered: undefined });
    await primary.sql(
      `CREATE DATABASE "Sorted" TEMPLATE template0 LOCALE 'C' LOCALE_PROVIDER icu ICU_LOCALE 'de-DE' ENCODING 'UTF8'`,
    );
    expect(await reordered()).toEqual({ reordered: undefined });
    // As one that another image has made.
    await primary.sql(`UPDATE pg_database SET datcollversion = '1' WHERE datname = 'Sorted'`);
    expect(await reordered()).toEqual({ reordered: '"Sorted"' });
    await primary.sql('DROP DATABASE "Sorted"');
    expect(await talkTo(primary, (it) => askOne(it, serverQuestion))).toMatchObject({ prepared: 0 });
    await primary.sql("BEGIN; SELECT pg_current_xact_id(); PREPARE TRANSACTION 'x'");
    expect(await talkTo(primary, (it) => askOne(it, serverQuestion))).toMatchObject({ prepared: 1 });
    await primary.sql("ROLLBACK PREPARED 'x'");
  });

  it('refuses to change anything for who only observes', async () => {
    const creating = talkTo(primary, (it) => it.query('CREATE TABLE no (n int)'));
    await expect(creating).rejects.toMatchObject({ code: '25006' });
  });

  it('gives up what nobody waits for any more', async () => {
    const target = { address: '127.0.0.1', port: primary.port, login: { user: 'postgres' }, timeoutMs: 300 };
    await expect(withSession(io, target, (it) => it.query('SELECT pg_sleep(60)'))).rejects.toThrow(/300 ms|timeout/);
    const asleep = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%'";
    await expect.poll(() => primary.sql(asleep)).toEqual([['0']]);
  });

  it('knows values that have line ends, quotes and everything else but NULs', async () => {
    const [[value] = []] = await primary.sql("SELECT E'a\\nb\\'\\\"\\\\ ü 🔑'");
    expect(value).toBe('a\nb\'"\\ ü 🔑');
  });

  it.each(['pencil', 'pässwörd', '🔑 = "key", \\', 'x'.repeat(500)])(
    'lets in by our verifier: %s',
    async (password) => {
      const verifier = await scramVerifier(password, randomBytes(16));
      await primary.sql(`DROP ROLE IF EXISTS by_password; CREATE ROLE by_password LOGIN PASSWORD '${verifier}'`);
      const [[kept] = []] = await primary.sql("SELECT rolpassword FROM pg_authid WHERE rolname = 'by_password'");
      expect(kept).toBe(verifier);
      const login = (own: string): Login => ({ user: 'by_password', database: 'postgres', password: own });
      const whoami = (it: PostgresConnection) => it.query('SELECT current_user');
      const [result] = await talkTo(primary, whoami, login(password));
      expect(result?.rows).toEqual([['by_password']]);
      const [secured] = await talkTo(primary, whoami, login(password), tls);
      expect(secured?.rows).toEqual([['by_password']]);
      await expect(talkTo(primary, whoami, login(`${password}!`))).rejects.toMatchObject({ code: '28P01' });
    },
  );

  it('makes the verifier that we make', async () => {
    await primary.sql("DROP ROLE IF EXISTS theirs; CREATE ROLE theirs PASSWORD 'pässwörd'");
    const [[theirs = ''] = []] = await primary.sql("SELECT rolpassword FROM pg_authid WHERE rolname = 'theirs'");
    const salt = /^SCRAM-SHA-256\$4096:([^$]+)/.exec(theirs ?? '')?.[1] ?? '';
    expect(await scramVerifier('pässwörd', Buffer.from(salt, 'base64'))).toBe(theirs);
  });

  it('lets in by certificate, and not without, and is not trusted with another CA', async () => {
    const whoami = (it: PostgresConnection) =>
      it.query('SELECT current_user, ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()');
    const login: Login = { user: 'by_certificate', database: 'postgres' };
    const [result] = await talkTo(primary, whoami, login, tls);
    expect(result?.rows).toEqual([['by_certificate', 't']]);
    const stranger = openAuthority();
    const own = stranger.issue(['127.0.0.1']);
    stranger.close();
    await expect(talkTo(primary, whoami, login, { ...tls, ca: own['ca.crt'] })).rejects.toThrow(/certificate|self/i);
    const foreign = { ca: tls.ca, cert: own['tls.crt'], key: own['tls.key'] };
    await expect(talkTo(primary, whoami, login, foreign)).rejects.toThrow(/ended|alert|unknown ca/i);
    await expect(talkTo(standby, whoami, login, tls)).rejects.toThrow(/offers no TLS/);
    await expect(talkTo(primary, whoami, { user: 'nobody' })).rejects.toMatchObject({
      code: '28000',
      severity: 'FATAL',
    });
    await expect(talkTo(primary, whoami, { user: 'postgres', password: 'x' })).rejects.toThrow(/without proving/);
  });

  it(`says that it is of version ${major}`, async () => {
    const version = await talkTo(standby, ({ parameters }) => Promise.resolve(parameters));
    expect(version.server_version).toMatch(new RegExp(`^${major}\\.`));
    expect(version.in_hot_standby).toBe('on');
  });
});
