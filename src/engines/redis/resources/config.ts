/**
 * The files that Redis and Sentinel read, written by one serializer: one directive a line, every value quoted by the
 * server's own rules. A value with a control character is refused rather than escaped (safety rule on injection).
 */
import { createHash } from 'node:crypto';
import type { Cluster } from '../../../api/cluster.ts';
import { durationMs } from '../../../api/duration.ts';
import { type Directive, redisDirectives } from '../kind/directives.ts';
import type { RedisSpec } from '../kind/schema.ts';
import { dataPort, paths } from '../names.ts';
import {
  bufferLimits,
  dynamicSettings,
  replicaBuffer,
  restartSettings,
  type Settings,
  strictReplication,
} from './settings.ts';
import { clusterSettings } from './shards/settings.ts';

/**
 * What every data node needs, whatever a user sets.
 *
 * The append-only file is the persistence; snapshots by time are off, since they cost a fork and protect no more.
 * A replica is fed at once (`repl-diskless-sync-delay 0`): a cluster of a few nodes gains nothing by waiting for more
 * of them. `shutdown-timeout` lets a server that is stopped wait until its replicas have everything.
 */
const fixed: Readonly<Record<string, string>> = {
  port: String(dataPort),
  bind: '* -::*',
  'protected-mode': 'no',
  dir: paths.data,
  appendonly: 'yes',
  save: '',
  'aof-use-rdb-preamble': 'yes',
  'repl-diskless-sync': 'yes',
  'repl-diskless-sync-delay': '0',
  'shutdown-timeout': '10',
  ...strictReplication,
};

/** Throws on a control character: no such value can come from a valid spec. */
export function quote(value: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  if (/[\u0000-\u001f\u007f]/.test(value)) throw new Error('a redis.conf value must not hold control characters');
  return /^[A-Za-z0-9._/-]+$/.test(value) ? value : `"${value.replace(/["\\]/g, '\\$&')}"`;
}

function line([name, value]: readonly [string, string]): string {
  // These take several words, and their values are our own.
  return name === 'bind' || name === bufferLimits ? `${name} ${value}` : `${name} ${quote(value)}`;
}

/**
 * A server of another engine or version may start again by this file, for as long as its template waits for a maintenance window or the cluster
 * changes over. So what some server does not know is there only where somebody has set it. Otherwise it has the server's own default.
 */
function withoutOwnDefaults(settings: Settings, { config }: RedisSpec): Settings {
  const directives: Readonly<Record<string, Directive>> = redisDirectives;
  const isForAll = (name: string): boolean => directives[name]?.in === undefined || name in config;
  return Object.fromEntries(Object.entries(settings).filter(([name]) => isForAll(name)));
}

/** redis.conf, but for what a node adds when it starts: password, role, its own address. */
export function redisConf(cluster: Cluster<RedisSpec>): string {
  const buffer = { [bufferLimits]: replicaBuffer(cluster) };
  const ofMode = cluster.spec.mode === 'Cluster' ? clusterSettings : {};
  const settings = { ...restartSettings(cluster), ...dynamicSettings(cluster) };
  const all = { ...fixed, ...ofMode, ...withoutOwnDefaults(settings, cluster.spec), ...buffer };
  return `${Object.entries(all).map(line).join('\n')}\n`;
}

export interface SentinelSettings {
  readonly quorum: string;
  readonly 'down-after-milliseconds': string;
  readonly 'failover-timeout': string;
  readonly 'parallel-syncs': string;
}

/** As `SENTINEL SET` takes them and `SENTINEL MASTER` shows them. */
export function sentinelSettings(cluster: Cluster<RedisSpec>): SentinelSettings {
  const { quorum, downAfter, failoverTimeout } = cluster.spec.sentinel;
  return {
    quorum: String(quorum),
    'down-after-milliseconds': String(durationMs(downAfter)),
    'failover-timeout': String(durationMs(failoverTimeout)),
    // All replicas at once: with the backlog they resume rather than copy, and writes need one of them (R2).
    'parallel-syncs': String(Math.max(1, cluster.spec.replicas - 1)),
  };
}

/** The lines that follow `sentinel monitor`, which a sentinel writes when it has learned the primary's address. */
export function sentinelConf(cluster: Cluster<RedisSpec>): string {
  const { quorum: _, ...rest } = sentinelSettings(cluster);
  return Object.entries(rest)
    .map(([name, value]) => `sentinel ${name} ${cluster.metadata.name} ${value}\n`)
    .join('');
}

/** Equal exactly when no restart is due: the directives that a running server cannot change. */
export function restartHash(cluster: Cluster<RedisSpec>): string {
  return createHash('sha256')
    .update(JSON.stringify(restartSettings(cluster)))
    .digest('hex')
    .slice(0, 16);
}
