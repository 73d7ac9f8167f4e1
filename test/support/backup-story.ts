/** Backups, their Jobs and what agents say, for stories about them. */
import type { Cluster } from '../../src/api/cluster.ts';
import type { KubeObject } from '../../src/api/object.ts';
import { validateCluster } from '../../src/api/validate.ts';
import type { AgentResult } from '../../src/backup/agent-result.ts';
import type { KindHandler } from '../../src/engine/engine.ts';
import type { EngineContext } from '../../src/engine/engine-context.ts';
import { agentComponent, componentLabel } from '../../src/resources/metadata.ts';
import type { ClaimReader } from '../../src/runtime/claim-use.ts';
import type { AccountReader } from '../../src/runtime/service-account.ts';
import { blankAccounts, blankClaims } from './blank-claims.ts';
import { handlers as engines } from './handlers.ts';
import { truthful } from './truthful-engine.ts';

export const target = { claim: { name: 'backups' } };
const apiVersion = 'clusterwright.dev/v1alpha1';

/** What it says is looked at for contradictions. */
export function engineOf(kind: string): KindHandler {
  const found = engines.find((engine) => engine.kind.resource.kind === kind);
  if (found === undefined) throw new Error(`no engine for ${kind}`);
  return truthful(found);
}

/** Valid, with defaults, a UID and the given status. */
export function resourceOf(kind: string, name: string, spec: object, status?: object): Cluster {
  const metadata = { name, namespace: 'apps', uid: `uid-of-${name}`, creationTimestamp: '2026-11-20T00:00:00Z' };
  const verdict = validateCluster(engineOf(kind).kind, { apiVersion, kind, metadata, spec });
  if (!verdict.ok) throw new Error(JSON.stringify(verdict.violations));
  return status === undefined ? verdict.cluster : { ...verdict.cluster, status };
}

export const db = resourceOf('RedisCluster', 'db', {});

export type JobEnd = 'running' | 'pending' | 'complete' | 'failed' | 'deadline';

/** A stored Job, and its pod with what the agent said. */
export function jobOf(
  wanted: KubeObject,
  end: JobEnd,
  said?: AgentResult | string,
  name = wanted.metadata.name,
): KubeObject[] {
  const uid = `uid-of-job-${name}`;
  const job: KubeObject = {
    ...wanted,
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { ...wanted.metadata, name, uid },
    status: { conditions: conditionsOf(end) },
  };
  const message = typeof said === 'object' ? JSON.stringify(said) : said;
  const isOver = end === 'complete' || end === 'failed';
  const pod: KubeObject = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `${name}-x7k2p`,
      namespace: 'apps',
      labels: { ...wanted.metadata.labels, [componentLabel]: agentComponent },
      ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name, uid, controller: true }],
    },
    status: {
      phase:
        end === 'pending' ? 'Pending' : end === 'running' ? 'Running' : end === 'complete' ? 'Succeeded' : 'Failed',
      containerStatuses: [
        {
          name: 'agent',
          state: isOver
            ? {
                terminated: {
                  exitCode: end === 'complete' ? 0 : 2,
                  reason: 'Error',
                  ...(message === undefined ? {} : { message }),
                },
              }
            : end === 'running'
              ? { running: {} }
              : { waiting: { reason: 'ImagePullBackOff', message: 'no such image' } },
        },
      ],
    },
  };
  // Of one that has ended well and told nothing, the pod is gone.
  return end === 'deadline' || (end === 'complete' && said === undefined) ? [job] : [job, pod];
}

function conditionsOf(end: JobEnd): readonly object[] {
  const at = { lastTransitionTime: '2026-11-21T03:00:10Z', status: 'True' };
  switch (end) {
    case 'complete':
      return [
        { type: 'SuccessCriteriaMet', ...at },
        { type: 'Complete', ...at },
      ];
    case 'failed':
      return [{ type: 'Failed', reason: 'PodFailurePolicy', ...at }];
    case 'deadline':
      return [{ type: 'Failed', reason: 'DeadlineExceeded', message: 'it was active longer than its deadline', ...at }];
    case 'running':
    case 'pending':
      return [];
  }
}

export const taken: AgentResult = {
  result: 'taken',
  isRepeated: false,
  pruned: 0,
  milliseconds: 1500,
  backup: {
    id: '20261121T030000Z-0123abcd',
    folder: 'apps/RedisCluster/uid-of-db/20261121T030000Z-0123abcd',
    engine: 'redis',
    engineVersion: '8.0.5',
    cluster: { namespace: 'apps', kind: 'RedisCluster', name: 'db', uid: 'uid-of-db' },
    purpose: { type: 'backup', name: 'nightly' },
    startedAt: '2026-11-21T03:00:00Z',
    completedAt: '2026-11-21T03:00:01.5Z',
    plainBytes: 1000,
    storedBytes: 1100,
    plainSha256: 'ab'.repeat(32),
    encrypted: false,
    contents: { 'keys.0': '3' },
  },
};

export function refused(message: string, isTransient = false): AgentResult {
  return { result: 'failed', reason: 'TargetRefused', message, isTransient };
}

/** Of an engine that asks nobody anything. */
export function timeOnly(
  now = '2026-11-21T03:05:00Z',
  claims: ClaimReader = blankClaims,
  accounts: AccountReader = blankAccounts,
): EngineContext {
  const never = (): never => {
    throw new Error('not asked');
  };
  const { signal } = new AbortController();
  return {
    claim: (name) => claims('apps', name, signal),
    serviceAccount: (name) => accounts('apps', name, signal),
    dial: never,
    exchange: never,
    secret: never,
    secretNow: never,
    secretRefused: never,
    secretOutdated: never,
    sleep: never,
    signal,
    now: () => Date.parse(now),
  };
}
