/** Reads a member from what its Patroni answers to `GET /patroni`: pure, so that every odd answer can be a row of a test. */
import type { Answer } from '../client/patroni.ts';
import { noLessThanPrimary } from '../resources/start-values.ts';
import { importSeen } from './import-seen.ts';
import type { LiveMember } from './observed.ts';

/** More than any cluster has. */
const mostStandbys = 32;

export function liveMember(pod: string, address: string, answer: Answer): LiveMember {
  const version = versionOf(answer.server_version);
  const role = answer.role === 'primary' || answer.role === 'replica' ? answer.role : undefined;
  const systemId = digits(answer.database_system_identifier);
  const timeline = number(answer.timeline);
  const lsn = lsnOf(answer.xlog);
  const imported = importSeen(answer.import);
  const reasons = answer.pending_restart_reason;
  const raised = changing(reasons, (old, next) => next > old);
  const lowered = changing(reasons, (old, next) => next < old);
  const isLoweredOnly =
    Object.keys(lowered).length > 0 && Object.keys(lowered).length === Object.keys(fields(reasons)).length;
  return {
    state: 'answering',
    pod,
    address,
    postgres: word(answer.state) ?? 'unknown',
    ...(role === undefined ? {} : { role }),
    ...(version === undefined ? {} : { version }),
    ...(systemId === undefined ? {} : { systemId }),
    ...(timeline === undefined ? {} : { timeline }),
    ...(lsn === undefined ? {} : { lsn }),
    isStreaming: answer.replication_state === 'streaming',
    isSynchronous: answer.quorum_standby === true || answer.sync_standby === true,
    restartPending: answer.pending_restart === true,
    awaitsPrimary: Object.keys(lowered).length > 0,
    ...(isLoweredOnly ? { lowered } : {}),
    ...(Object.keys(raised).length === 0 ? {} : { raised }),
    standbys: standbysOf(answer.replication),
    isUnlocked: answer.cluster_unlocked === true,
    failsafe: answer.failsafe_mode_is_active === true,
    isPaused: answer.pause === true,
    ...(imported === undefined ? {} : { imported }),
  };
}

/** `170012` is 17.12. */
function versionOf(value: unknown): string | undefined {
  const all = number(value);
  return all === undefined ? undefined : `${Math.floor(all / 10_000)}.${all % 10_000}`;
}

/** Present values of what a standby may have no less of than its primary. `reasons`: by the name of the setting, each with `old_value` and `new_value` as text. */
function changing(reasons: unknown, how: (old: number, next: number) => boolean): Readonly<Record<string, number>> {
  const all = fields(reasons);
  return Object.fromEntries(
    Object.keys(noLessThanPrimary).flatMap((name): [string, number][] => {
      const { old_value, new_value } = fields(all[name]);
      return how(Number(old_value), Number(new_value)) ? [[name, Number(old_value)]] : [];
    }),
  );
}

function fields(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

function lsnOf(xlog: unknown): number | undefined {
  const { location, received_location, replayed_location } = fields(xlog);
  const [received, replayed] = [number(received_location), number(replayed_location)];
  // A receiver that cannot reach its primary after a start is at the beginning of the segment, which may be before what was replayed.
  const own = received === undefined || replayed === undefined ? (received ?? replayed) : Math.max(received, replayed);
  return number(location) ?? own;
}

function standbysOf(replication: unknown): string[] {
  if (!Array.isArray(replication)) return [];
  return replication.slice(0, mostStandbys).flatMap((entry: unknown) => {
    const { application_name, state } = fields(entry);
    const name = word(application_name);
    return state === 'streaming' && name !== undefined ? [name] : [];
  });
}

function number(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

function digits(value: unknown): string | undefined {
  return typeof value === 'string' && /^\d{1,20}$/.test(value) ? value : undefined;
}

/** Text of a foreign process: short, in one line. */
function word(value: unknown): string | undefined {
  return typeof value === 'string' && /^[\w .:-]{1,63}$/.test(value) ? value : undefined;
}
