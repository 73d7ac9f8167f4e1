/** The etcd engine at work on a host of real processes: look, plan, do, say, as the reconciler does it. */
import type { Cluster } from '../../src/api/cluster.ts';
import { mergeConditions } from '../../src/api/condition.ts';
import { validateCluster } from '../../src/api/validate.ts';
import type { EngineContext } from '../../src/engine/engine-context.ts';
import { etcd } from '../../src/engines/etcd/index.ts';
import { type EtcdSpec, type EtcdSpecInput, etcdKind } from '../../src/engines/etcd/kind/schema.ts';
import { toHandler } from '../../src/jobs/to-handler.ts';
import type { ObjectStep, Outcome, Plan } from '../../src/plan/plan.ts';
import { describeStep } from '../../src/runtime/executor.ts';
import type { EtcdHost } from './etcd-host.ts';
import { truthful } from './truthful-engine.ts';
import { until } from './until.ts';

const engine = truthful(toHandler(etcd));

export interface EtcdOperator {
  readonly cluster: Cluster<EtcdSpec>;
  /** What was done, one line a step, since the last call of `clear`. */
  readonly history: readonly string[];
  clear(): void;
  change(spec: EtcdSpecInput): void;
  /** An annotation on the custom resource. */
  annotate(name: string, value: string): void;
  /** One pass; resolves with its plan. */
  pass(): Promise<Plan>;
  /** Passes until one that has nothing to do and says so. One that fails is repeated, as the controller does. */
  settle(): Promise<void>;
  /** Passes until the outcome is of one of these reasons. */
  until(...reasons: readonly string[]): Promise<Outcome>;
}

/** Members take seconds to come to a decision; a machine under load takes several times as long. */
const patienceMs = 400_000;

export interface OperatorHabits {
  readonly uid?: string;
  /** Ends each pass after its first step, as if the process had died there. */
  readonly diesEarly?: boolean;
  /** In place of the host's. */
  readonly io?: EngineContext;
}

export function etcdOperator(host: EtcdHost, first: EtcdSpecInput = {}, habits: OperatorHabits = {}): EtcdOperator {
  const { uid = 'uid-db', diesEarly = false, io = host.io } = habits;
  let spec: EtcdSpecInput = first;
  let generation = 1;
  let annotations: Record<string, string> = {};
  let status: Cluster['status'];
  const history: string[] = [];

  const clusterNow = (): Cluster<EtcdSpec> => {
    const verdict = validateCluster(etcdKind, {
      apiVersion: 'clusterwright.dev/v1alpha1',
      kind: 'EtcdCluster',
      metadata: { name: 'db', namespace: 'apps', uid, generation, annotations },
      spec,
    });
    if (!verdict.ok) throw new Error(JSON.stringify(verdict.violations));
    return { ...(verdict.cluster as Cluster<EtcdSpec>), ...(status === undefined ? {} : { status }) };
  };

  async function pass(): Promise<Plan> {
    await host.turn();
    const cluster = clusterNow();
    const assessment = await engine.assess(cluster, host.children(), io);
    for (const step of assessment.plan.steps.slice(0, diesEarly ? 1 : undefined)) {
      history.push(describeStep(step));
      if (step.type === 'act') await assessment.act(step.action);
      else if (step.type === 'patch' && step.ref.resource.kind === 'EtcdCluster') annotations = {};
      else host.run([step as ObjectStep]);
    }
    const { conditions, ...rest } = assessment.status;
    const claims = mergeConditions(status?.conditions ?? [], conditions, generation, '2030-01-01T00:00:00Z');
    status = { ...rest, observedGeneration: generation, conditions: claims };
    return assessment.plan;
  }

  async function passUntil(what: string, isIt: (plan: Plan) => boolean): Promise<Plan> {
    return until(
      what,
      async () => {
        const plan = await pass();
        if (!isIt(plan)) throw new Error(`${JSON.stringify(plan.outcome)}\n${history.join('\n')}`);
        return plan;
      },
      { withinMs: patienceMs },
    );
  }

  return {
    get cluster() {
      return clusterNow();
    },
    history,
    clear: () => void history.splice(0),
    change(more) {
      spec = { ...spec, ...more };
      generation += 1;
    },
    pass,
    annotate(name, value) {
      annotations = { ...annotations, [name]: value };
    },
    async settle() {
      await passUntil('settled', ({ steps, outcome }) => steps.length === 0 && outcome.state === 'settled');
    },
    async until(...reasons) {
      const isIt = ({ outcome }: Plan): boolean => 'reason' in outcome && reasons.includes(outcome.reason);
      return (await passUntil(reasons.join(' or '), isIt)).outcome;
    },
  };
}
