/** What the actions ask of Patroni. Each may be repeated; one whose answer is lost is an error, and the next look shows what happened. */
import { randomBytes } from 'node:crypto';
import type { Cluster } from '../../../api/cluster.ts';
import type { EngineContext } from '../../../engine/engine-context.ts';
import type { Pause, PostgresAction } from '../action.ts';
import { filled, makeApplication, setPassword } from '../client/application.ts';
import { operatorSession, ownerPassword, passwordIn, patroniTls } from '../client/credentials.ts';
import { callPatroni, PatroniRefusal, switchoverTimeoutMs } from '../client/patroni.ts';
import { saltBytes, scramVerifier } from '../client/scram-verifier.ts';
import { withSession } from '../client/session.ts';
import { sourceSecrets } from '../client/source.ts';
import { changeStaging } from '../client/staging.ts';
import type { PostgresSpec } from '../kind/schema.ts';
import { resumed, whilePaused } from './pause.ts';

const changeTimeoutMs = 5000;
const restartTimeoutMs = 60_000;
/** A new database is a copy of a small one, and waits for a checkpoint. */
const databaseTimeoutMs = 30_000;

export async function actPostgres(
  action: PostgresAction,
  cluster: Cluster<PostgresSpec>,
  io: EngineContext,
): Promise<void> {
  const tls = await patroniTls(cluster, io);
  const interrupting = async (pause: Pause | undefined, call: () => Promise<unknown>): Promise<void> => {
    const work = async (): Promise<void> => void (await call());
    await (pause === undefined ? work() : whilePaused(pause, cluster, io, work));
  };
  switch (action.type) {
    case 'postgres.configure': {
      const call = { method: 'PATCH', path: '/config', body: action.patch, timeoutMs: changeTimeoutMs } as const;
      await callPatroni(io, action.via.address, call, tls);
      return;
    }
    case 'postgres.switchover': {
      const body = { leader: action.from, candidate: action.to };
      const call = { method: 'POST', path: '/switchover', body, timeoutMs: switchoverTimeoutMs } as const;
      await interrupting(action.pause, () => callPatroni(io, action.via.address, call, tls));
      return;
    }
    case 'postgres.makeApplication': {
      const { database, owner } = cluster.spec.initial;
      const verifier = await scramVerifier(await ownerPassword(cluster, io), randomBytes(saltBytes));
      const target = { ...(await operatorSession(cluster, action.via.address, io)), timeoutMs: databaseTimeoutMs };
      await withSession(io, target, (connection) =>
        makeApplication(connection, {
          database,
          owner,
          verifier,
          hasOwner: action.hasOwner,
          hasDatabase: action.hasDatabase,
        }),
      );
      return;
    }
    case 'postgres.stage': {
      const target = { ...(await operatorSession(cluster, action.via.address, io)), timeoutMs: databaseTimeoutMs };
      const { initial } = cluster.spec;
      await withSession(io, target, (connection) => changeStaging(connection, action.change, action.database, initial));
      return;
    }
    case 'postgres.markFilled': {
      const target = await operatorSession(cluster, action.via.address, io);
      await withSession(io, target, (connection) => connection.query(filled(cluster.spec.initial.owner)));
      return;
    }
    case 'postgres.restart': {
      // Without effect where nothing counts from a start on any more.
      const body = { restart_pending: true };
      const call = { method: 'POST', path: '/restart', body, timeoutMs: restartTimeoutMs } as const;
      await interrupting(action.pause, () =>
        callPatroni(io, action.member.address, call, tls).catch((error: unknown) => {
          if (!isNothingPending(error)) throw error;
        }),
      );
      return;
    }
    case 'postgres.resume':
      await Promise.all(action.poolers.map(({ address }) => resumed(cluster, address, io)));
      return;
    case 'postgres.setLogin': {
      const verifier = await scramVerifier(await passwordIn(action.secret, cluster, io), randomBytes(saltBytes));
      const target = await operatorSession(cluster, action.via.address, io);
      await withSession(io, target, (connection) => setPassword(connection, action.role, verifier));
      return;
    }
    case 'postgres.reload': {
      const call = { method: 'POST', path: '/reload', body: {}, timeoutMs: changeTimeoutMs } as const;
      await callPatroni(io, action.member.address, call, tls);
      return;
    }
    case 'postgres.reinitialize': {
      const call = { method: 'POST', path: '/reinitialize', body: {}, timeoutMs: changeTimeoutMs } as const;
      await callPatroni(io, action.member.address, call, tls);
      return;
    }
    case 'postgres.failover': {
      const body = { candidate: action.member.pod };
      const call = { method: 'POST', path: '/failover', body, timeoutMs: switchoverTimeoutMs } as const;
      await callPatroni(io, action.member.address, call, tls);
      return;
    }
    case 'postgres.import': {
      const body = await sourceSecrets(cluster, io);
      const call = { method: 'POST', path: '/import', body, timeoutMs: changeTimeoutMs } as const;
      await callPatroni(io, action.member.address, call, tls);
      return;
    }
    case 'postgres.cutOver': {
      const body = { value: action.request ?? null };
      const call = { method: 'POST', path: '/cut-over', body, timeoutMs: changeTimeoutMs } as const;
      await callPatroni(io, action.member.address, call, tls);
      return;
    }
    default:
      action satisfies never;
  }
}

/** Patroni 4 refuses a restart whose condition does not hold: somebody else has restarted it since it was looked at. */
function isNothingPending(error: unknown): boolean {
  return error instanceof PatroniRefusal && error.status === 503 && /conditions are not satisfied/.test(error.message);
}
