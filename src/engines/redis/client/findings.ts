/**
 * What a data node says about itself that no role and no readiness shows: it cannot persist, its disk is full, or it
 * refuses writes for want of replicas. Pure; the observer and the listener read the same words.
 *
 * `PING` is answered with MISCONF where the server refuses writes for its disk, with the operating system's words.
 */
import { shortened } from '../../../api/bounds.ts';
import type { DesiredCondition, Finding } from '../../../api/condition.ts';
import { isFenced, requiredReplicas, unassigned } from '../names.ts';
import type { RedisConnection } from './connection.ts';
import { RedisError } from './resp.ts';

export interface MemberFinding {
  readonly type: Exclude<
    Finding,
    | 'SettingsRefused'
    | 'CertificateHeldBack'
    | 'SpecWarning'
    | 'PasswordOverlap'
    | 'PortUnused'
    | 'UserRefused'
    | 'UserSecretMissing'
    | 'TemplateRefused'
    | 'VolumesTooSmall'
  >;
  /** In words that stay the same while it does. */
  readonly message: string;
  /** Data could be lost if anybody restarted now. */
  readonly holdsRestarts?: true;
}

/** Replicas relink within seconds after a failover. */
const linkLostSeconds = 10;

type Info = Readonly<Record<string, string>>;

/** `ping`: the answer to PING. `minReplicas`: what a primary needs to take writes. */
export function findingsOf(pod: string, info: Info, ping: string, minReplicas: number): MemberFinding[] {
  return [...diskFindings(pod, info, ping), ...replicationFindings(pod, info, minReplicas)];
}

function diskFindings(pod: string, info: Info, ping: string): MemberFinding[] {
  const found: MemberFinding[] = [];
  const isRefusing = ping.startsWith('MISCONF');
  if (isRefusing && /no space left|quota exceeded/i.test(ping)) {
    found.push({
      type: 'DiskFull',
      message: `the volume of ${pod} is full, and it refuses writes: ${shortened(ping, 200)}`,
      holdsRestarts: true,
    });
  }
  if (isRefusing || info.aof_last_write_status === 'err') {
    const answer = isRefusing ? `, and refuses writes: ${shortened(ping, 200)}` : '';
    const message = `${pod} cannot write its append-only file${answer}`;
    found.push({ type: 'PersistenceFailing', message, holdsRestarts: true });
  }
  // What is on the disk is whole; the file only grows, and a restart with more memory may be the way out.
  if (info.aof_last_bgrewrite_status === 'err') {
    found.push({ type: 'PersistenceFailing', message: `${pod} could not rewrite its append-only file` });
  }
  if (info.rdb_last_bgsave_status === 'err') {
    found.push({ type: 'PersistenceFailing', message: `${pod} could not save a snapshot` });
  }
  return found;
}

function replicationFindings(pod: string, info: Info, minReplicas: number): MemberFinding[] {
  if (info.role === 'master') {
    if (isFenced({ [requiredReplicas]: String(minReplicas) })) {
      const message = `${pod} refuses writes: it is cut off from the sentinels and replicas, or they have another primary (sentinel.fence)`;
      return [{ type: 'ReplicationBroken', message }];
    }
    const isShort = info.min_slaves_good_slaves !== undefined && Number(info.min_slaves_good_slaves) < minReplicas;
    return isShort
      ? [
          {
            type: 'ReplicationBroken',
            message: `${pod} refuses writes: fewer than ${minReplicas} replicas in sync (min-replicas-to-write)`,
          },
        ]
      : [];
  }
  return isLinkLost(info)
    ? [{ type: 'ReplicationBroken', message: `${pod} has lost the link to its primary and does not get it back` }]
    : [];
}

/** Assigned to a primary, copying nothing, and without a link for longer than a failover takes. */
function isLinkLost(info: Info): boolean {
  return (
    info.role === 'slave' &&
    info.master_port !== String(unassigned.port) &&
    info.master_sync_in_progress !== '1' &&
    isLinkDownForLong(info)
  );
}

export function isLinkDownForLong(info: Info): boolean {
  return info.master_link_status === 'down' && Number(info.master_link_down_since_seconds ?? 0) >= linkLostSeconds;
}

/** One condition a type, of what all members say. */
export function findingClaims(findings: readonly MemberFinding[]): DesiredCondition[] {
  const types = [...new Set(findings.map(({ type }) => type))];
  return types.map((type) => {
    const told = findings.filter((finding) => finding.type === type).map(({ message }) => message);
    return { type, status: 'True', reason: 'ReportedByMember', message: shortened(told.join('; ')) };
  });
}

/** The answer to PING, whatever it is: an error is an answer. */
export async function pingAnswer(connection: Pick<RedisConnection, 'command'>): Promise<string> {
  try {
    return String(await connection.command('PING'));
  } catch (error) {
    if (error instanceof RedisError) return error.message;
    throw error;
  }
}

/** What a primary with these settings needs to take writes. */
export function minReplicasIn(settings: Readonly<Record<string, string>>): number {
  return Number(settings[requiredReplicas] ?? 0);
}
