/** Asks every process of a cluster at once, each within a second. Reads only. */
import type { Cluster } from '../../api/cluster.ts';
import type { RedisSpec } from '../../api/redis.ts';
import type { Children, Pod } from '../../resources/children.ts';
import type { EngineIO } from '../engine-io.ts';
import type { RedisConnection } from './connection.ts';
import { findingsOf, isLinkDownForLong, type MemberFinding, minReplicasIn, pingAnswer } from './findings.ts';
import { isSentinelPod } from './members.ts';
import { dataPort, sentinelPort, unassigned } from './names.ts';
import type { DataNode, RedisObserved, SentinelNode, SilentNode, Watch } from './observed.ts';
import { passwordSecret } from './password.ts';
import { RedisError, type Reply } from './resp.ts';
import { PasswordMissing, passwordOf, withSession } from './session.ts';
import { settingsToHold } from './settings.ts';
import { timingOf } from './timing.ts';

export async function observeRedis(
  cluster: Cluster<RedisSpec>,
  children: Children,
  io: EngineIO,
): Promise<RedisObserved> {
  const data = children.pods.filter((pod) => !isSentinelPod(pod));
  const sentinels = children.pods.filter(isSentinelPod);
  if (!children.pods.some(hasProcess)) {
    return { data: data.map(silentPod), sentinels: sentinels.map(silentPod) };
  }
  let password: string;
  try {
    password = await passwordOf(cluster, io);
  } catch (error) {
    if (!(error instanceof PasswordMissing)) throw error;
    return { data: data.map(silentPod), sentinels: sentinels.map(silentPod), unaskable: error.message };
  }
  const directives = Object.keys(settingsToHold(cluster));
  const { missedMs } = timingOf(cluster);
  const ask = <T>(port: number, talk: (connection: RedisConnection, at: Place) => Promise<T>) => {
    return async (pod: Pod): Promise<T | SilentNode> => {
      const address = pod.status?.podIP;
      if (address === undefined || !hasProcess(pod)) return silentPod(pod);
      try {
        const at = { pod: pod.metadata.name, address };
        return await withSession(io, { address, port, password }, (connection) => talk(connection, at));
      } catch (error) {
        if (error instanceof RedisError && error.code === 'WRONGPASS') io.secretRefused(passwordSecret(cluster).name);
        return { state: 'silent', pod: pod.metadata.name, address, why: (error as Error).message };
      }
    };
  };
  const [dataNodes, sentinelNodes] = await Promise.all([
    Promise.all(data.map(ask(dataPort, (connection, at) => askDataNode(connection, at, directives)))),
    Promise.all(
      sentinels.map(
        ask(sentinelPort, (connection, at) => askSentinel(connection, at, cluster.metadata.name, missedMs)),
      ),
    ),
  ]);
  return { data: dataNodes, sentinels: sentinelNodes };
}

interface Place {
  readonly pod: string;
  readonly address: string;
}

function hasProcess(pod: Pod): boolean {
  return pod.status?.podIP !== undefined && pod.status.phase === 'Running';
}

function silentPod(pod: Pod): SilentNode {
  const address = pod.status?.podIP;
  return {
    state: 'silent',
    pod: pod.metadata.name,
    ...(address === undefined ? {} : { address }),
    why: `the pod is ${pod.status?.phase ?? 'not scheduled'}`,
  };
}

async function askDataNode(
  connection: RedisConnection,
  at: Place,
  directives: readonly string[],
): Promise<DataNode | SilentNode> {
  const [info, config, ping] = await Promise.all([
    connection.command('INFO'),
    connection.command('CONFIG', 'GET', ...directives, 'replica-priority'),
    pingAnswer(connection),
  ]);
  const fields = infoFields(String(info));
  // It answers INFO, but neither its role nor its keys mean anything before the dataset is in memory.
  if (fields.loading === '1') return { state: 'silent', ...at, why: 'it is loading its dataset' };
  const settings = pairs(config);
  return dataNode(at, fields, settings, findingsOf(at.pod, fields, ping, minReplicasIn(settings)));
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
  const { 'replica-priority': priority, ...settings } = config;
  return {
    state: 'answering',
    ...at,
    version: info.redis_version ?? '',
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
    electable: Number(priority ?? 0) > 0,
    empty: !Object.keys(info).some((name) => /^db\d+$/.test(name)),
    settings,
    usedMemory: Number(info.used_memory ?? 0),
    findings,
  };
}

/** `name:value` lines; section headings and blank lines fall away. */
export function infoFields(text: string): Record<string, string> {
  const fields: Record<string, string> = {};
  for (const line of text.split('\r\n')) {
    const colon = line.indexOf(':');
    if (colon > 0 && line[0] !== '#') fields[line.slice(0, colon)] = line.slice(colon + 1);
  }
  return fields;
}

/** A flat list of names and values, as CONFIG GET and the SENTINEL commands answer. */
export function pairs(reply: Reply): Record<string, string> {
  const fields: Record<string, string> = {};
  if (!Array.isArray(reply)) return fields;
  for (let i = 0; i < reply.length; i += 2) fields[String(reply[i])] = String(reply[i + 1] ?? '');
  return fields;
}

async function askSentinel(
  connection: RedisConnection,
  at: Place,
  name: string,
  missedMs: number,
): Promise<SentinelNode> {
  try {
    const [primary, replicas, peers] = await Promise.all([
      connection.command('SENTINEL', 'MASTER', name),
      connection.command('SENTINEL', 'REPLICAS', name),
      connection.command('SENTINEL', 'SENTINELS', name),
    ]);
    return { state: 'answering', ...at, watches: watchOf(pairs(primary), rows(replicas), rows(peers), missedMs) };
  } catch (error) {
    if (error instanceof RedisError && /No such master/.test(error.message)) return { state: 'answering', ...at };
    throw error;
  }
}

function rows(reply: Reply): Record<string, string>[] {
  return Array.isArray(reply) ? reply.map(pairs) : [];
}

type Row = Readonly<Record<string, string>>;

/** A sentinel pings every second. */
const answeredMs = 2000;

/** `missedMs`: without an answer for longer a sentinel has missed one, as in the scripts of the pods. */
export function watchOf(primary: Row, replicas: readonly Row[], peers: readonly Row[], missedMs: number): Watch {
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
    acquainted: (primary.runid ?? '') !== '' || Number(primary['last-ping-reply'] ?? 0) > answeredMs,
    failingOver: flags(primary).includes('failover_in_progress') || flags(primary).includes('force_failover'),
    settings: primary,
    replicas: replicas.map((row) => ({
      address: row.ip ?? '',
      priority: Number(row['slave-priority'] ?? 0),
      down: down(row),
    })),
    peers: peers.map((row) => ({ address: row.ip ?? '', down: down(row) })),
  };
}
