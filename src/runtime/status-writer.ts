/**
 * Writes a status when it says something new.
 *
 * A turn (phase, readiness, primary, generation) is written at once. Details that merely move along, such as a message
 * or a member's readiness, are gathered for a while, so that a cluster being created costs two writes, not ten.
 */
import { isDeepStrictEqual } from 'node:util';
import { fitted } from '../api/bounds.ts';
import type { Cluster } from '../api/cluster.ts';
import { mergeConditions } from '../api/condition.ts';
import type { KindDefinition } from '../api/kind.ts';
import type { ClusterStatus } from '../api/status.ts';
import type { StatusClaim } from '../engines/engine.ts';
import { ApiError, isNotFound } from './api-error.ts';
import type { Cache } from './cache.ts';
import type { ExactRef, KubeClient } from './client.ts';
import type { Clock } from './clock.ts';

/** For how long details are gathered. */
export const detailDelayMs = 10_000;

export interface StatusWriter {
  /** Resolves with the milliseconds after which to come back for details that were not written yet; 0 if none. */
  write(
    cluster: Cluster,
    kind: Pick<KindDefinition, 'resource' | 'schema'>,
    claim: StatusClaim,
    plan: ClusterStatus['plan'],
    signal: AbortSignal,
  ): Promise<number>;
  forget(uid: string): void;
}

export function createStatusWriter(options: {
  readonly client: Pick<KubeClient, 'get' | 'replaceStatus'>;
  readonly cache: Pick<Cache, 'observeWrite'>;
  readonly clock: Clock;
}): StatusWriter {
  const { client, cache, clock } = options;
  const writtenAt = new Map<string, number>();

  return {
    async write(cluster, { resource, schema }, claim, plan, signal) {
      const before = cluster.status ?? {};
      const now = new Date(clock.now()).toISOString().replace(/\.\d+Z$/, 'Z');
      const after = fitted(schema.properties?.status ?? {}, statusOf(cluster, claim, plan, now)) as ClusterStatus;
      if (isDeepStrictEqual(before, after)) return 0;
      const uid = cluster.metadata.uid ?? '';
      const since = clock.monotonic() - (writtenAt.get(uid) ?? Number.NEGATIVE_INFINITY);
      // Whole ones: a pass that comes back after less than a clock tells would come back at once, again and again.
      if (!isTurn(before, after) && since < detailDelayMs) return Math.ceil(detailDelayMs - since);
      const { name, namespace } = cluster.metadata;
      const ref = { resource, name, namespace, uid };
      try {
        cache.observeWrite(await client.replaceStatus(ref, after, { signal }));
        writtenAt.set(uid, clock.monotonic());
      } catch (error) {
        if (!(await isGone(ref, error, signal))) throw error;
      }
      return 0;
    },
    forget: (uid) => void writtenAt.delete(uid),
  };

  /**
   * Whether the write failed because the object is deleted, or another one has its name. The API server answers a failed
   * test of the UID and an invalid status alike, so the object is read to tell them apart.
   */
  async function isGone({ uid, ...ref }: ExactRef, error: unknown, signal: AbortSignal): Promise<boolean> {
    if (isNotFound(error)) return true;
    if (!(error instanceof ApiError) || error.status !== 422) return false;
    try {
      return (await client.get(ref, { signal })).metadata.uid !== uid;
    } catch (notRead) {
      return isNotFound(notRead);
    }
  }
}

function statusOf(cluster: Cluster, claim: StatusClaim, plan: ClusterStatus['plan'], now: string): ClusterStatus {
  const generation = cluster.metadata.generation ?? 0;
  const { conditions, ...rest } = claim;
  return {
    ...rest,
    observedGeneration: generation,
    conditions: mergeConditions(cluster.status?.conditions ?? [], conditions, generation, now),
    ...(plan === undefined || Object.keys(plan).length === 0 ? {} : { plan }),
  };
}

function isTurn(before: ClusterStatus, after: ClusterStatus): boolean {
  const states = (status: ClusterStatus): string[] => (status.conditions ?? []).map((c) => `${c.type}=${c.status}`);
  const turning = (status: ClusterStatus): unknown => [
    status.phase,
    status.primary,
    status.observedGeneration,
    status.initialized,
    states(status),
  ];
  return !isDeepStrictEqual(turning(before), turning(after));
}
