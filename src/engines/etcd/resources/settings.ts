/**
 * The settings of a spec as etcd takes them, in environment variables: numbers, words of a closed list, nothing that a
 * user could write a second setting into. The pod's template carries them, so a change is a change of the template.
 */
import { durationMs } from '../../../api/duration.ts';
import { quotaOf, quotaVariable } from '../kind/quota.ts';
import type { EtcdSpec } from '../kind/schema.ts';
import { minorOf } from '../kind/versions.ts';
import { paths } from '../names.ts';

/** Members without a vote at one time: see `planAnother`. */
const maxLearners = 2;

/** `quota`: see `given-quota.ts`. */
export function settings(spec: EtcdSpec, quota = quotaOf(spec)): Record<string, string> {
  const { autoCompaction, snapshotCount, heartbeatInterval, electionTimeout } = spec.config;
  return {
    [quotaVariable]: String(quota),
    ETCD_AUTO_COMPACTION_MODE: autoCompaction.mode === 'Revision' ? 'revision' : 'periodic',
    ETCD_AUTO_COMPACTION_RETENTION: autoCompaction.mode === 'Off' ? '0' : autoCompaction.retention,
    ETCD_SNAPSHOT_COUNT: String(snapshotCount),
    ETCD_HEARTBEAT_INTERVAL: String(durationMs(heartbeatInterval)),
    ETCD_ELECTION_TIMEOUT: String(durationMs(electionTimeout)),
    // Every member has to count the same: it decides by itself whether one more is too many.
    [`ETCD_${experimental(spec.version)}MAX_LEARNERS`]: String(maxLearners),
    ...corruptionChecks(spec.version),
  };
}

/** The prefix that 3.5 has for what is settled in 3.6. */
function experimental(version: string): string {
  return minorOf(version) === '3.5' ? 'EXPERIMENTAL_' : '';
}

/** Members compare their data when they start and when they compact (safety rule E10). */
function corruptionChecks(version: string): Record<string, string> {
  if (minorOf(version) !== '3.5') return { ETCD_FEATURE_GATES: 'InitialCorruptCheck=true,CompactHashCheck=true' };
  return {
    ETCD_EXPERIMENTAL_INITIAL_CORRUPT_CHECK: 'true',
    ETCD_EXPERIMENTAL_COMPACT_HASH_CHECK_ENABLED: 'true',
  };
}

/**
 * etcd reads the files anew for each connection, so a renewed certificate needs no restart. `host`: the member's own name,
 * which every member's certificate is for, since the others reach it by that name.
 *
 * Clients are held to no name, though etcd could: with `client-cert-allowed-hostname` its gateway refuses itself (3.5.35
 * and 3.6.16), and with it the operator.
 */
export function tlsSettings({ tls, version }: EtcdSpec, host: string): Record<string, string> {
  const files = (prefix: string, directory: string): Record<string, string> => ({
    [`${prefix}CERT_FILE`]: `${directory}/tls.crt`,
    [`${prefix}KEY_FILE`]: `${directory}/tls.key`,
    [`${prefix}TRUSTED_CA_FILE`]: `${directory}/ca.crt`,
  });
  return {
    ...(tls.client === undefined ? {} : files('ETCD_', paths.clientTls)),
    ...(tls.client?.requireCertificate === true ? { ETCD_CLIENT_CERT_AUTH: 'true' } : {}),
    ...(tls.peer === undefined
      ? {}
      : {
          ...files('ETCD_PEER_', paths.peerTls),
          ETCD_PEER_CLIENT_CERT_AUTH: 'true',
          ...withoutReverseLookup(version),
          // An authority of the operator's making signs for these peers alone.
          ...(tls.peer.selfManaged === undefined ? { ETCD_PEER_CERT_ALLOWED_HOSTNAME: host } : {}),
        }),
  };
}

/** That a peer's address also has one of the names in its certificate only DNS could tell. */
function withoutReverseLookup(version: string): Record<string, string> {
  return { [`ETCD_${experimental(version)}PEER_SKIP_CLIENT_SAN_VERIFICATION`]: 'true' };
}
