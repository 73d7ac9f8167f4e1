/**
 * The directives a cluster runs with, in the words of `CONFIG GET`: sizes in bytes, flags as yes and no.
 *
 * The table is complete for every directive a user may set, so taking one out of the spec puts its default back, and a
 * value changed by hand on a server is seen as drift.
 */
import type { Cluster } from '../../../api/cluster.ts';
import { unitsOf } from '../../../api/quantity.ts';
import { type Directive, isKnown, type RedisDirective, redisDirectives } from '../kind/directives.ts';
import type { RedisSpec } from '../kind/schema.ts';
import { memoryShares } from './memory-shares.ts';
import { serverDefaults } from './server-defaults.ts';
import { clusterSettings, ofShards } from './shards/settings.ts';

export type Settings = Readonly<Partial<Record<RedisDirective, string>>>;

function derived(cluster: Cluster<RedisSpec>, limit: number): Settings {
  const { mode, replicas } = cluster.spec;
  if (mode === 'Cluster') return { ...sharesOf(limit), ...ofShards(cluster.spec) };
  return {
    ...sharesOf(limit),
    // Two nodes would stop taking writes as soon as one is away; from three on, one that is cut off must stop (R2).
    ...(mode === 'Sentinel' && replicas >= 3 ? { 'min-replicas-to-write': '1' } : {}),
  };
}

function sharesOf(limit: number): Settings {
  const { 'client-output-buffer-limit': _, ...shares } = memoryShares(limit);
  return shares;
}

/** What a server makes of less; the wish must read the same, or it would be set again for ever. */
const floors: Settings = { 'repl-backlog-size': String(16 * 1024) };

function atLeastFloor(name: string, value: string): string {
  const floor = floors[name as RedisDirective];
  return floor !== undefined && Number(value) < Number(floor) ? floor : value;
}

const units: Readonly<Record<string, number>> = { kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3 };

function canonical(value: string | number | boolean): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  const size = typeof value === 'string' ? /^(\d+)(kb|mb|gb)$/.exec(value) : null;
  if (size !== null) return String(Number(size[1]) * (units[size[2] ?? ''] ?? 1));
  return String(value);
}

const directives = Object.entries(redisDirectives) as readonly (readonly [RedisDirective, Directive])[];

function settings(cluster: Cluster<RedisSpec>, apply: Directive['apply'], limit = specLimit(cluster)): Settings {
  const chosen = Object.fromEntries(
    Object.entries(cluster.spec.config ?? {}).map(([name, value]) => [name, atLeastFloor(name, canonical(value))]),
  );
  const all: Record<string, string> = { ...serverDefaults(cluster.spec), ...derived(cluster, limit), ...chosen };
  const known = directives.filter(([, directive]) => directive.apply === apply && isKnown(directive, cluster.spec));
  return Object.fromEntries(known.map(([name]) => [name, all[name] ?? '']));
}

function specLimit({ spec }: Cluster<RedisSpec>): number {
  return unitsOf(spec.resources.limits.memory);
}

/** What `CONFIG SET` can change on a running server. `limit`: memory in bytes, that of the spec when absent. */
export function dynamicSettings(cluster: Cluster<RedisSpec>, limit?: number): Settings {
  return settings(cluster, 'dynamic', limit);
}

/** Bounds what is kept for replicas that are behind: one line, and no directive that a user may set. */
export function replicaBuffer(cluster: Cluster<RedisSpec>, limit: number = specLimit(cluster)): string {
  return memoryShares(limit)['client-output-buffer-limit'];
}

/**
 * What a running node must have, whatever it was started with: without the append-only file a restart finds old data, a
 * snapshot looks like a copy that was not written down, and no node acknowledges what it cannot apply. What else decides which
 * data a node loads cannot change while it runs.
 */
export function settingsToHold(cluster: Cluster<RedisSpec>, limit?: number): Readonly<Record<string, string>> {
  return {
    ...(dynamicSettings(cluster, limit) as Readonly<Record<string, string>>),
    [bufferLimits]: replicaBuffer(cluster, limit),
    ...strictReplication,
    ...(cluster.spec.mode === 'Cluster' ? clusterSettings : {}),
    appendonly: 'yes',
    save: '',
  };
}

/**
 * A replica that cannot apply a command of its primary ends. It would go on without it and acknowledge it: one with fewer databases
 * takes what follows an unknown `SELECT` for its present database, and an older version leaves out commands that it does not know.
 */
export const strictReplication = { 'propagation-error-behavior': 'panic-on-replicas' } as const;

/** What only a restart changes. */
export function restartSettings(cluster: Cluster<RedisSpec>): Settings {
  return settings(cluster, 'restart');
}

export const bufferLimits = 'client-output-buffer-limit';

/** The server shows all classes of clients in one line, and calls replicas by their name of before. */
function sameBuffer(has: string, wanted: string): boolean {
  const words = (text: string): string => ` ${text} `.replace(' replica ', ' slave ');
  return words(has).includes(words(wanted));
}

/** What the letter `A` of notify-keyspace-events stands for. */
const allEvents = 'g$lshzxetd';

/**
 * Letters of notify-keyspace-events come back in the server's order, `A` stands for ten of them, and next to `A` the
 * server does not show `n`, though it has it.
 */
function sameEvents(has: string, wanted: string): boolean {
  const letters = (text: string): string => {
    const all = new Set(text.replaceAll('A', allEvents));
    if ([...allEvents].every((letter) => all.has(letter)) && !has.includes('n')) all.delete('n');
    return [...all].sort().join('');
  };
  return letters(has) === letters(wanted);
}

/** The settings among `wanted` that a server does not have; a directive that it does not know is left out. */
export function settingsToChange(wanted: Settings, actual: Readonly<Record<string, string>>): Settings {
  return Object.fromEntries(
    Object.entries(wanted).filter(([name, value]) => {
      const has = actual[name];
      if (has === undefined) return false;
      if (name === bufferLimits) return !sameBuffer(has, value);
      return name === 'notify-keyspace-events' ? !sameEvents(has, value) : has !== value;
    }),
  );
}
