/** The label by which the Service finds the primary. Patroni writes it; a member that has died keeps it. */
import { pods as podResource } from '../../../api/resource.ts';
import type { Step } from '../../../plan/plan.ts';
import { refOf } from '../../../plan/ref.ts';
import type { PostgresAction } from '../action.ts';
import { roleLabel } from '../names.ts';
import type { LiveMember } from '../observe/observed.ts';
import type { Situation } from '../observe/situation.ts';

/** Takes the label from everybody who is not the primary. `primary` takes writes and holds the lock. */
export function roleSteps({ pods }: Situation, primary: LiveMember): Step<PostgresAction>[] {
  return [...pods.values()].flatMap((pod): Step<PostgresAction>[] => {
    const role = pod.metadata.labels?.[roleLabel];
    const ref = refOf(pod, podResource);
    if (role !== 'primary' || pod.metadata.name === primary.pod || ref === undefined) return [];
    return [
      {
        type: 'patch',
        ref,
        patch: { metadata: { labels: { [roleLabel]: 'replica' } } },
        changes: [{ path: `metadata.labels[${roleLabel}]`, from: role, to: 'replica' }],
      },
    ];
  });
}
