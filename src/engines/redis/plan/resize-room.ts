/** A pod that is to have less memory is told first: its server may still fill more than it is about to get. */
import { type Plan, wait } from '../../../plan/plan.ts';
import type { Pod } from '../../../resources/children.ts';
import type { RedisAction } from '../action.ts';
import type { Situation } from '../observe/situation.ts';
import { configureSteps } from './repair.ts';

const recheckMs = 500;

/** Undefined where it has been told. Otherwise it is, in this very pass. */
export function untilItFits(
  situation: Pick<Situation, 'cluster' | 'nodes' | 'dataPods'>,
  { metadata, resize }: Pod,
): Plan<RedisAction> | undefined {
  if (resize?.state !== 'due') return undefined;
  const isTooFull = configureSteps(situation).some(
    ({ action }) =>
      action.type === 'redis.configure' && action.node.pod === metadata.name && 'maxmemory' in action.settings,
  );
  if (!isTooFull) return undefined;
  return { steps: [], outcome: wait('Resizing', `maxmemory of ${metadata.name} is set before its limit`, recheckMs) };
}
