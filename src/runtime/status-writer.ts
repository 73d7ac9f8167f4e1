/**
 * Writes a status when it says something new, in place of the one that the pass rested on and of no other: what a
 * process before this one has said, that the database was formed for example, is never lost because a watch is late.
 *
 * A turn (phase, readiness, primary, generation) is written at once. Details that merely move along, such as a message
 * or a member's readiness, are gathered for a while, so that a cluster being created costs two writes, not ten. So are the
 * turns of a cluster that goes on turning back and forth: what its processes say costs the others no connection.
 */
import { isDeepStrictEqual } from 'node:util';
import { fitted } from '../api/bounds.ts';
import type { Cluster } from '../api/cluster.ts';
import { mergeConditions } from '../api/condition.ts';
import type { KindDefinition } from '../api/kind.ts';
import type { KubeObject } from '../api/object.ts';
import { prune } from '../api/prune.ts';
import type { StructuralSchema } from '../api/schema.ts';
import type { ClusterStatus } from '../api/status.ts';
import type { StatusReport } from '../engine/engine.ts';
import type { Clock } from '../system/clock.ts';
import { ApiError, isNotFound } from './api-error.ts';
import type { Cache } from './cache.ts';
import type { ExactRef, KubeClient } from './client.ts';

/** For how long details are gathered. */
export const detailDelayMs = 10_000;

/** So many turns of one cluster are written at once, and then one in every `turnMs`. */
const mostTurns = 20;
const turnMs = 1_000;

/** After which a pass that rested on an old status comes back; the newest one is known by then. */
const overtakenMs = 100;

export interface StatusWriter {
  /** Resolves with the milliseconds after which to come back for what was not written yet; 0 if nothing. */
  write(
    cluster: Cluster,
    kind: Pick<KindDefinition, 'resource' | 'schema'>,
    claim: StatusReport,
    plan: ClusterStatus['plan'],
    signal: AbortSignal,
  ): Promise<number>;
  forget(uid: string): void;
}

interface Written {
  readonly at: number;
  /** How many turns could be written right after. */
  readonly turns: number;
}

export function createStatusWriter(options: {
  readonly client: Pick<KubeClient, 'get' | 'replaceStatus'>;
  readonly cache: Pick<Cache, 'entry' | 'observeRead' | 'observeWrite'>;
  readonly clock: Clock;
}): StatusWriter {
  const { client, cache, clock } = options;
  const written = new Map<string, Written>();

  return {
    async write(cluster, { resource, schema }, claim, plan, signal) {
      const before = cluster.status ?? {};
      const now = new Date(clock.now()).toISOString().replace(/\.\d+Z$/, 'Z');
      const shape = schema.properties?.status ?? {};
      const after = fitted(shape, statusOf(cluster, claim, plan, now)) as ClusterStatus;
      if (isDeepStrictEqual(before, after)) return 0;
      const uid = cluster.metadata.uid ?? '';
      const last = written.get(uid) ?? { at: Number.NEGATIVE_INFINITY, turns: mostTurns };
      const since = clock.monotonic() - last.at;
      const turns = Math.min(mostTurns, last.turns + since / turnMs);
      const waitsFor = isLasting(before, after)
        ? 0
        : isTurn(before, after)
          ? (1 - turns) * turnMs
          : detailDelayMs - since;
      // Whole ones: a pass that comes back after less than a clock tells would come back at once, again and again.
      if (waitsFor > 0) return Math.ceil(waitsFor);
      // Steps of this very pass may have changed the rest of the object.
      const held = cache.entry(cluster)?.object ?? cluster;
      if (!isDeepStrictEqual(knownStatus(shape, held), knownStatus(shape, cluster))) return overtakenMs;
      const { name, namespace } = cluster.metadata;
      const ref = { resource, name, namespace, uid };
      const { resourceVersion } = held.metadata;
      try {
        cache.observeWrite(await client.replaceStatus(ref, after, { resourceVersion, signal }));
        written.set(uid, { at: clock.monotonic(), turns: Math.max(0, turns - 1) });
        return 0;
      } catch (error) {
        return refused(ref, resourceVersion, error, signal);
      }
    },
    forget: (uid) => void written.delete(uid),
  };

  /**
   * The object is deleted, or another one has its name: nobody is told. It has changed since: the pass comes back. The
   * API server answers a failed test and an invalid status alike, so the object is read to tell them apart.
   */
  async function refused(
    { uid, ...ref }: ExactRef,
    resourceVersion: string | undefined,
    error: unknown,
    signal: AbortSignal,
  ): Promise<number> {
    if (isNotFound(error)) return 0;
    if (!(error instanceof ApiError) || error.status !== 422) throw error;
    let live: KubeObject;
    try {
      live = await client.get(ref, { signal });
    } catch (notRead) {
      if (isNotFound(notRead)) return 0;
      throw error;
    }
    if (live.metadata.uid !== uid) return 0;
    if (live.metadata.resourceVersion === resourceVersion) throw error;
    cache.observeRead(live);
    return overtakenMs;
  }
}

/** Without what another version of the operator has said. */
function knownStatus(shape: StructuralSchema, { status = {} }: KubeObject): unknown {
  return prune(shape, status).value;
}

function statusOf(cluster: Cluster, claim: StatusReport, plan: ClusterStatus['plan'], now: string): ClusterStatus {
  const generation = cluster.metadata.generation ?? 0;
  const { conditions, ...rest } = claim;
  return {
    ...rest,
    observedGeneration: generation,
    conditions: mergeConditions(cluster.status?.conditions ?? [], conditions, generation, now),
    ...(plan === undefined || Object.keys(plan).length === 0 ? {} : { plan }),
  };
}

/** It does not turn back, and others rest on it. */
function isLasting(before: ClusterStatus, after: ClusterStatus): boolean {
  return before.observedGeneration !== after.observedGeneration || before.initialized !== after.initialized;
}

function isTurn(before: ClusterStatus, after: ClusterStatus): boolean {
  const states = (status: ClusterStatus): string[] => (status.conditions ?? []).map((c) => `${c.type}=${c.status}`);
  const turning = (status: ClusterStatus): unknown => [status.phase, status.primary, states(status)];
  return !isDeepStrictEqual(turning(before), turning(after));
}
