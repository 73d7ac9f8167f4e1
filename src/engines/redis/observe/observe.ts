/** What data nodes and sentinels are asked in modes Standalone and Sentinel. Reads only. */
import type { Cluster } from '../../../api/cluster.ts';
import type { EngineContext } from '../../../engine/engine-context.ts';
import type { Children } from '../../../resources/children.ts';
import type { RedisConnection } from '../client/connection.ts';
import { findingsOf, isLinkDownForLong, type MemberFinding, minReplicasIn, pingAnswer } from '../client/findings.ts';
import { infoFields, pairs, rows } from '../client/reply-fields.ts';
import { RedisError } from '../client/resp.ts';
import type { RedisSpec } from '../kind/schema.ts';
import { serverIn } from '../kind/server.ts';
import { importSource } from '../kind/source.ts';
import {
  paths,
  preferredPriority,
  sentinelPort,
  sentinelsCarrier,
  stagedCarrier,
  termCarrier,
  tlsPort,
  unassigned,
} from '../names.ts';
import { settingsToHold } from '../resources/settings.ts';
import { timingOf } from '../resources/timing.ts';
import { observeCertificates } from './certificates.ts';
import type { DataNode, RedisObserved, SentinelNode, SentinelView, ServerTls, VolumeTerm } from './observed.ts';
import { observePeers } from './peers.ts';
import { observeProcesses, type Place, type Told, type Unready } from './processes.ts';
import { withServedTls } from './served-tls.ts';
import { withShownCertificates } from './shown-certificate.ts';
import { importSeen, type ObservedSource, observeSource } from './source.ts';

export async function observeRedis(
  cluster: Cluster<RedisSpec>,
  children: Children,
  io: EngineContext,
): Promise<RedisObserved> {
  const directives = Object.keys(settingsToHold(cluster));
  const { missedMs } = timingOf(cluster);
  const elsewhere = cluster.status?.initialized === true ? undefined : importSource(cluster);
  const source = elsewhere === undefined ? undefined : await observeSource(elsewhere, io);
  const observed = await observeProcesses(cluster, children, io, {
    data: (connection, at, told) => askDataNode(connection, at, told, directives, source),
    sentinel: (connection, at, told) => askSentinel(connection, at, told, cluster.metadata.name, missedMs),
    more: async ({ tls, address }, credentials) =>
      cluster.spec.tls !== undefined || tls?.port !== tlsPort
        ? {}
        : { peers: await observePeers(address, tlsPort, credentials, io) },
  });
  const certificates = await observeCertificates(withServedTls(cluster, children), io);
  // A port that is to be closed is left alone: the operator would be one of its clients.
  const isAsked = cluster.spec.tls !== undefined && certificates?.copy !== undefined;
  const shown = isAsked ? await withShownCertificates(observed, certificates.copy, io) : observed;
  return {
    ...shown,
    ...(source === undefined ? {} : { source: source.seen }),
    ...(certificates === undefined ? {} : { certificates }),
  };
}

/** `directives`: the names of those that are asked for. */
export async function askDataNode(
  connection: RedisConnection,
  at: Place,
  { lacks, identity }: Told,
  directives: readonly string[],
  source?: ObservedSource,
): Promise<DataNode | Unready> {
  const asked = [
    'replica-priority',
    'masteruser',
    'masterauth',
    termCarrier,
    sentinelsCarrier,
    stagedCarrier,
    ...tlsDirectives,
  ];
  const [info, config, ping] = await Promise.all([
    connection.command('INFO'),
    connection.command('CONFIG', 'GET', ...directives, ...asked, ...(source === undefined ? [] : ['databases'])),
    pingAnswer(connection),
  ]);
  const fields = infoFields(String(info));
  // It answers INFO, but neither its role nor its keys mean anything before the dataset is in memory.
  if (fields.loading === '1') return { state: 'silent', ...at, why: 'it is loading its dataset' };
  const {
    masteruser,
    masterauth,
    databases,
    'tls-port': port,
    'tls-cert-file': file,
    'tls-auth-clients': asks,
    [stagedCarrier]: carried = '',
    ...settings
  } = pairs(config);
  const findings = findingsOf(at.pod, fields, ping, minReplicasIn(settings));
  const copiesAs = identity === undefined || (masteruser === identity.user && masterauth === identity.password);
  const lacking = copiesAs ? lacks : [...lacks, 'replication' as const];
  const login = { masteruser: masteruser ?? '', masterauth: masterauth ?? '', databases: databases ?? '' };
  return {
    ...dataNode(at, fields, settings, findings),
    ...(port === undefined ? {} : { tls: serverTls(port, asks === 'no' ? file : '', carried) }),
    ...(lacking.length === 0 ? {} : { lacks: lacking }),
    ...(source === undefined ? {} : { imports: importSeen(String(info), fields, login, source.login) }),
  };
}

const tlsDirectives = ['tls-port', 'tls-cert-file', 'tls-auth-clients'] as const;

/** One that asks clients for certificates is told all of it again: its files count for nothing. */
function serverTls(port: string, file: string | undefined, carried: string): ServerTls {
  const [, digest] = new RegExp(`^${paths.staged}/([0-9a-f]{16})/`).exec(file ?? '') ?? [];
  const [, staged] = /^certificate-([0-9a-f]{16})$/.exec(carried) ?? [];
  return {
    port: Number(port),
    ...(digest === undefined ? {} : { digest }),
    ...(staged === undefined ? {} : { staged }),
  };
}

/** Reads a node from its INFO and CONFIG GET: pure, so that every odd answer can be a test row. */
export function dataNode(
  at: Place,
  info: Readonly<Record<string, string>>,
  config: Readonly<Record<string, string>>,
  findings: readonly MemberFinding[] = [],
): DataNode {
  const isPrimary = info.role === 'master';
  const assigned = !isPrimary && info.master_port !== String(unassigned.port);
  const { 'replica-priority': priority, [termCarrier]: carried = '', [sentinelsCarrier]: told, ...settings } = config;
  const term = volumeTerm(carried);
  return {
    state: 'answering',
    ...at,
    version: serverIn((field) => info[field])?.version ?? '',
    role: isPrimary ? 'primary' : 'replica',
    ...(assigned ? { follows: info.master_host ?? '' } : {}),
    linkUp: isPrimary || info.master_link_status === 'up',
    // The server switches the file off before it loads a copy, and on again once it has.
    copyRefused: assigned && info.master_link_status !== 'up' && info.aof_enabled === '0',
    isStale: assigned && isLinkDownForLong(info),
    offset: Number(info[isPrimary ? 'master_repl_offset' : 'slave_repl_offset'] ?? 0),
    replicas: Object.entries(info).flatMap(([name, value]) => {
      const replica = /^slave\d+$/.test(name) ? /^ip=([^,]+),.*state=online/.exec(value) : null;
      return replica?.[1] === undefined ? [] : [replica[1]];
    }),
    fullSyncs: Number(info.sync_full ?? 0),
    failoverEligible: Number(priority ?? 0) > 0,
    ...(Number(priority) === preferredPriority ? { preferred: true as const } : {}),
    ...(isUnwritten(info) ? { unwritten: true } : {}),
    ...(term === undefined ? {} : { term }),
    ...(told === String(sentinelPort) ? { asksSentinels: true } : {}),
    empty: !Object.keys(info).some((name) => /^db\d+$/.test(name)),
    settings,
    usedMemory: Number(info.used_memory ?? 0),
    findings,
  };
}

function isUnwritten(info: Readonly<Record<string, string>>): boolean {
  return info.aof_enabled === '0' || info.aof_rewrite_in_progress === '1' || info.aof_rewrite_scheduled === '1';
}

/** Foreign text: whatever is no term is none. */
function volumeTerm(text: string): VolumeTerm | undefined {
  const [, role, number] = /^(primary|replica)-([1-9]\d{0,14})$/.exec(text) ?? [];
  return role === undefined ? undefined : { number: Number(number), wasPrimary: role === 'primary' };
}

async function askSentinel(
  connection: RedisConnection,
  place: Place,
  { lacks, identity }: Told,
  name: string,
  missedMs: number,
): Promise<SentinelNode> {
  // At once: what a sentinel sees grows old meanwhile.
  const [user, pass, view] = await Promise.all([
    connection.command('SENTINEL', 'CONFIG', 'GET', 'sentinel-user'),
    connection.command('SENTINEL', 'CONFIG', 'GET', 'sentinel-pass'),
    askView(connection, name, missedMs),
  ]);
  const { 'sentinel-user': peerUser, 'sentinel-pass': peerPassword } = { ...pairs(user), ...pairs(pass) };
  const meetsAs = identity === undefined || (peerUser === identity.user && peerPassword === identity.password);
  const lacking = meetsAs ? lacks : [...lacks, 'peers' as const];
  return {
    ...{ state: 'answering', ...place },
    ...(lacking.length === 0 ? {} : { lacks: lacking }),
    ...(view === undefined ? {} : { view }),
  };
}

/** Undefined where the sentinel watches nobody of this name. */
async function askView(connection: RedisConnection, name: string, missedMs: number): Promise<SentinelView | undefined> {
  try {
    const [primary, replicas, peers] = await Promise.all([
      connection.command('SENTINEL', 'MASTER', name),
      connection.command('SENTINEL', 'REPLICAS', name),
      connection.command('SENTINEL', 'SENTINELS', name),
    ]);
    return viewOf(pairs(primary), rows(replicas), rows(peers), missedMs);
  } catch (error) {
    if (error instanceof RedisError && isNoSuchPrimary(error)) return undefined;
    throw error;
  }
}

/** A sentinel watches nobody of this name. */
export const isNoSuchPrimary = ({ message }: RedisError): boolean => /No such master/.test(message);

type Row = Readonly<Record<string, string>>;

/** A sentinel pings every second. */
const answeredMs = 2000;

/** `missedMs`: without an answer for longer a sentinel has missed one, as in the scripts of the pods. */
export function viewOf(primary: Row, replicas: readonly Row[], peers: readonly Row[], missedMs: number): SentinelView {
  const flags = (row: Row): string[] => (row.flags ?? '').split(',');
  const down = (row: Row): boolean => flags(row).some((flag) => flag === 's_down' || flag === 'o_down');
  return {
    primary: primary.ip ?? '',
    epoch: Number(primary['config-epoch'] ?? 0),
    primaryDown: down(primary),
    seesPrimary:
      !down(primary) &&
      (primary.runid ?? '') !== '' &&
      Number(primary['last-ok-ping-reply'] ?? Number.POSITIVE_INFINITY) <= missedMs,
    authenticated: (primary.runid ?? '') !== '' || Number(primary['last-ping-reply'] ?? 0) > answeredMs,
    failingOver: flags(primary).includes('failover_in_progress') || flags(primary).includes('force_failover'),
    settings: primary,
    replicas: replicas.map((row) => ({
      address: row.ip ?? '',
      priority: Number(row['slave-priority'] ?? 0),
      down: down(row),
      unlinkedMs: Number(row['master-link-down-time'] ?? 0),
      ...(row.runid === '' ? { unheard: true } : {}),
    })),
    peers: peers.map((row) => ({ address: row.ip ?? '', down: down(row) })),
  };
}
