/**
 * What the members of a cluster say about themselves. A member that does not answer is a value of its own: silence is never read as an
 * empty answer.
 */
import type { AuthoritySeen } from '../../../plan/issuance.ts';
import type { Side } from '../resources/certificates.ts';
import type { ApplicationSeen } from './application.ts';
import type { ImportSeen, SourceSeen } from './import-seen.ts';
import type { LoginSeen } from './logins.ts';
import type { PoolerSeen } from './poolers.ts';
import type { ServerSeen } from './server.ts';
import type { ShownSeen } from './shown-certificate.ts';
import type { StagingSeen } from './staging.ts';

export interface SilentMember {
  readonly state: 'silent';
  readonly pod: string;
  readonly why: string;
}

/** Where a member is in the log. */
export interface LogPosition {
  readonly timeline?: number;
  /** Bytes of WAL that it has on disk. */
  readonly lsn?: number;
}

export interface LiveMember extends LogPosition {
  readonly state: 'answering';
  readonly pod: string;
  readonly address: string;
  /** In Patroni's words: `running`, `starting`, `creating replica`, `stopped`, … */
  readonly postgres: string;
  /** What PostgreSQL itself says: whether it takes writes. Absent while it does not run. */
  readonly role?: 'primary' | 'replica';
  /** As `17.12`; absent while it does not run. */
  readonly version?: string;
  /** Of the data: absent on a blank volume. Decimal text, since it does not fit a double. */
  readonly systemId?: string;
  /** What it said a moment later: of a standby that looks lost, and of the primary then. See `second-look.ts`. */
  readonly later?: LogPosition | undefined;
  /** Whether it streams from the primary. */
  readonly isStreaming: boolean;
  /** Whether commits may wait for it. */
  readonly isSynchronous: boolean;
  /** PostgreSQL has settings that count from its next start on. */
  readonly restartPending: boolean;
  /** Among them one that a standby cannot have lower than the primary: it starts with the old value until the primary has the new one. */
  readonly awaitsPrimary: boolean;
  /** Present values of those, by name, where nothing else takes a restart. */
  readonly lowered?: Readonly<Record<string, number>>;
  /** Present values of those that no standby may have less of than the primary, and of which it gets more when it starts. By name. */
  readonly raised?: Readonly<Record<string, number>>;
  /** Names of the standbys that stream from it. */
  readonly standbys: readonly string[];
  /** Patroni knows no leader. */
  readonly isUnlocked: boolean;
  /** Patroni cannot reach the API server, and goes on since all members answer each other. */
  readonly failsafe: boolean;
  /** Automatic failover is switched off. */
  readonly isPaused: boolean;
  /** It has no Patroni yet: it copies a PostgreSQL that runs elsewhere. */
  readonly imported?: ImportSeen;
  /** By SQL; absent where PostgreSQL does not run. */
  readonly server?: ServerSeen;
}

export interface PostgresObserved {
  readonly members: readonly (SilentMember | LiveMember)[];
  /** When this was asked, in milliseconds. */
  readonly at: number;
  /** Asked of the primary; absent where there is none. */
  readonly application?: ApplicationSeen;
  /** Asked of the primary; absent where there is none. */
  readonly logins?: readonly LoginSeen[];
  /** Of the source of an import; only while a member imports. */
  readonly source?: SourceSeen;
  /** Of a logical import; asked of the primary. */
  readonly staging?: StagingSeen;
  /** Those that run. */
  readonly poolers?: readonly PoolerSeen[];
  /** Position at which the primary's log begins. Asked only where a standby does not stream. */
  readonly logBegins?: number;
  /** Patroni's shared configuration, as a member that answers has it. */
  readonly config?: Readonly<Record<string, unknown>>;
  readonly certificates?: Readonly<Record<Side, AuthoritySeen>>;
  /** Where the spec names the source of what members show. */
  readonly shown?: ShownSeen;
  /** Changes with whom members are to trust: on their pods. */
  readonly authorities?: string;
  /** Why nobody could be asked. */
  readonly credentialsProblem?: string;
}

export const nothingObserved: PostgresObserved = { members: [], at: 0 };

export function answering(members: PostgresObserved['members']): readonly LiveMember[] {
  return members.filter((member) => member.state === 'answering');
}
