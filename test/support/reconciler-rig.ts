/**
 * A reconciler with a pretended API server, a clock in the test's hands, and an engine that finds what it is told. Unless a
 * test puts others there, the one cluster is `db` in `apps`, and nobody answers where a process is dialled.
 */
import type { Cluster } from '../../src/api/cluster.ts';
import type { LabelSelector } from '../../src/api/label-selector.ts';
import type { KubeObject } from '../../src/api/object.ts';
import type { ClusterStatus } from '../../src/api/status.ts';
import { type ActStep, type Outcome, type Step, settled } from '../../src/plan/plan.ts';
import { createContested } from '../../src/runtime/contested.ts';
import { createDeadEnds } from '../../src/runtime/dead-ends.ts';
import { createSecretReader, engineIO } from '../../src/runtime/engine-context.ts';
import { createExecutor } from '../../src/runtime/executor.ts';
import { createPace } from '../../src/runtime/pace.ts';
import type { ReconcileResult } from '../../src/runtime/reconcile-result.ts';
import { createReconciler } from '../../src/runtime/reconciler.ts';
import { createRefusalPace } from '../../src/runtime/refusal-pace.ts';
import { createResizes } from '../../src/runtime/resizes.ts';
import { type Rollouts, unlimitedRollouts } from '../../src/runtime/rollouts.ts';
import { createStandingFailures } from '../../src/runtime/standing-failures.ts';
import { createStatusWriter } from '../../src/runtime/status-writer.ts';
import { createTemplateJudge, type TemplateJudge } from '../../src/runtime/template-judge.ts';
import { createUnobserved } from '../../src/runtime/unobserved.ts';
import { createUnseenPods } from '../../src/runtime/unseen-pods.ts';
import { blankAccounts, blankClaims } from './blank-claims.ts';
import { type ControllerParts, controllerParts } from './controller-parts.ts';
import { type Finding, type TestEngine, testCluster, testEngine } from './test-engine.ts';

export const rigKey = 'test/apps/db';

/** An engine's action that changes nothing. */
export const act: ActStep = { type: 'act', action: { type: 'test.act' }, summary: 'ask for something' };

export interface ReconcilerRig extends ControllerParts {
  readonly engine: TestEngine;
  /** What the passes came to, in order. */
  readonly outcomes: readonly Outcome[];
  /** As the API server has it. Throws where it is gone. */
  cluster(): KubeObject;
  status(): ClusterStatus;
  /** `STATUS REASON: MESSAGE`, or `absent`. */
  condition(type: string): string;
  /** What a look at the cluster finds from now on. */
  finds(steps: readonly Step[], outcome?: Outcome, act?: Finding['act']): void;
  /** One pass over the cluster as it is, or as `seen`. */
  pass(seen?: KubeObject, signal?: AbortSignal): Promise<ReconcileResult>;
}

export async function reconcilerRig(
  objects: readonly KubeObject[] = [testCluster('db')],
  engine: TestEngine = testEngine(),
  /** Default: one that asks the API server. */
  templates?: TemplateJudge,
  /** Of the resources that it serves. */
  selector?: LabelSelector,
  rollouts: Rollouts = unlimitedRollouts,
): Promise<ReconcilerRig> {
  const parts = await controllerParts(objects, [engine], selector);
  const { api, cache, client, clock, log } = parts;
  const outcomes: Outcome[] = [];
  const secrets = createSecretReader({ client, clock, onValue: () => undefined });
  const dial = (): Promise<never> => Promise.reject(new Error('nobody is there'));
  const reconciler = createReconciler({
    client,
    cache,
    engines: [engine],
    executor: createExecutor({ client, cache }),
    status: createStatusWriter({ client, cache, clock }),
    pace: createPace(clock),
    contested: createContested(clock),
    refusals: createRefusalPace(clock),
    standingFailures: createStandingFailures(clock),
    unobserved: createUnobserved(clock),
    unseenPods: createUnseenPods(client, clock),
    rollouts,
    resizes: createResizes({ client, clock, now: () => clock.now() }),
    deadEnds: createDeadEnds(client, templates ?? createTemplateJudge({ client, clock })),
    latest: () => clock.now(),
    selector,
    io: ({ metadata: { namespace } }, signal) =>
      engineIO({ namespace, secrets, claims: blankClaims, accounts: blankAccounts, dial, clock, signal }),
    log,
    onOutcome: (_engine, _cluster, _before, plan) => void outcomes.push(plan.outcome),
  });
  const status = (): ClusterStatus => (api.get('RedisCluster', 'db') as Cluster | undefined)?.status ?? {};
  const cluster = (): KubeObject => {
    const found = api.get('RedisCluster', 'db');
    if (found === undefined) throw new Error('the cluster is gone');
    return found;
  };
  return {
    ...parts,
    engine,
    outcomes,
    cluster,
    status,
    condition(type) {
      const found = status().conditions?.find((candidate) => candidate.type === type);
      return found === undefined ? 'absent' : `${found.status} ${found.reason}: ${found.message}`;
    },
    finds(steps, outcome = settled, act) {
      engine.find = () => ({ plan: { steps, outcome }, ...(act === undefined ? {} : { act }) });
    },
    pass: async (seen, signal = new AbortController().signal) =>
      reconciler.reconcile(engine, seen ?? cluster(), rigKey, signal),
  };
}
