/** Every status that operators write in a namespace of a real API server, and what of it contradicts itself. */
import type { Resource } from '../../src/api/object.ts';
import type { KubeClient } from '../../src/runtime/client.ts';
import { backupSchedules, backups, etcdClusters, postgresClusters, redisClusters } from './resources.ts';
import { statusContradictions } from './status-contradictions.ts';

export interface WatchedStatuses {
  /** Ends the watches; what they saw that contradicts itself, and which of them never began. */
  stop(): Promise<readonly string[]>;
}

/** A test may take the API server away for a while. */
const againMs = 500;

export function watchStatuses(client: Pick<KubeClient, 'watch'>, namespace: string): WatchedStatuses {
  const stopping = new AbortController();
  const { signal } = stopping;
  const found: string[] = [];
  const begun = new Set<string>();
  const failures = new Map<string, unknown>();

  async function follow(resource: Resource): Promise<void> {
    const events = await client.watch(resource, { namespace, timeoutSeconds: 3600, sendInitialEvents: true, signal });
    begun.add(resource.plural);
    for await (const event of events) {
      if (event.type !== 'ADDED' && event.type !== 'MODIFIED') continue;
      const { kind, metadata, status } = event.object;
      for (const words of statusContradictions({ kind, metadata, status })) {
        found.push(`${kind} ${metadata.name}: ${words}: ${JSON.stringify(status)}`);
      }
    }
  }

  async function keepFollowing(resource: Resource): Promise<void> {
    while (!signal.aborted) {
      await follow(resource).catch((error: unknown) => failures.set(resource.plural, error));
      if (!signal.aborted) await new Promise((resolve) => setTimeout(resolve, againMs));
    }
  }

  const watches = [redisClusters, etcdClusters, postgresClusters, backups, backupSchedules].map(keepFollowing);
  return {
    async stop() {
      stopping.abort();
      await Promise.all(watches);
      const never = [...failures].filter(([plural]) => !begun.has(plural));
      return [...found, ...never.map(([plural, error]) => `${plural} could not be watched: ${error}`)];
    },
  };
}
