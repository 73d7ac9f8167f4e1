/**
 * Runs whose task is about an earlier cluster of the name. They reach the present one, and put its data among the backups of
 * the other, which it would age out. The task is changed with the CronJob, so where that is refused no more runs begin.
 */
import type { Cluster } from '../../api/cluster.ts';
import type { KubeObject } from '../../api/object.ts';
import type { Plan } from '../../plan/plan.ts';
import { taskFile } from '../agent-pod.ts';
import { suspension } from '../target-claim.ts';

/** What is there of a schedule. */
export interface Runs {
  readonly cronJob: KubeObject | undefined;
  readonly task: KubeObject | undefined;
}

export function withoutRunsOfEarlier(plan: Plan, { cronJob, task }: Runs, cluster: Cluster | undefined): Plan {
  const [told, uid] = [uidIn(task), cluster?.metadata.uid];
  const isChanged = plan.steps.some(({ type }) => type !== 'delete');
  if (cronJob === undefined || told === undefined || uid === undefined || told === uid || isChanged) return plan;
  return { ...plan, steps: [...plan.steps, ...suspension(cronJob)] };
}

/** Somebody may have written anything else. */
function uidIn(task: KubeObject | undefined): string | undefined {
  const { [taskFile]: text = '' } = (task?.data ?? {}) as Readonly<Record<string, string>>;
  try {
    const { cluster } = JSON.parse(text) as { readonly cluster?: { readonly uid?: unknown } };
    return typeof cluster?.uid === 'string' ? cluster.uid : undefined;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return undefined;
    throw error;
  }
}
