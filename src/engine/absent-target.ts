/** Why a resource finds no cluster that it is about. */
import { type Outcome, wait } from '../plan/plan.ts';
import type { ObjectReference } from './engine.ts';
import type { EngineContext } from './engine-context.ts';

/** `io` is absent where there is no operator. One that has a label selector does not see what it does not select. */
export function absentTarget(
  { kind, name }: ObjectReference,
  io: Pick<EngineContext, 'resourceSelector'> | undefined,
  what = kind,
): Outcome {
  const selector = io?.resourceSelector;
  const selected =
    selector === undefined ? '' : ` with labels that match ${selector}, the label selector of this operator`;
  return wait('ClusterMissing', `there is no ${what} ${name} in this namespace${selected}`);
}
