/** What the poolers are asked for, and whether they are as the spec says. */

import type { ActStep } from '../../../plan/plan.ts';
import { podProblem } from '../../../plan/pod-problem.ts';
import { podIsReady } from '../../../resources/children.ts';
import type { Asked, Pause, PostgresAction } from '../action.ts';
import { postgresNames } from '../names.ts';
import type { LiveMember } from '../observe/observed.ts';
import { poolerPods } from '../observe/poolers.ts';
import type { Situation } from '../observe/situation.ts';

/**
 * Undefined where nobody can be held back. In mode session a pause would wait until every client has disconnected. `primary`: who takes
 * writes afterwards.
 */
export function pauseFor({ spec, observed }: Situation, primary: LiveMember): { readonly pause?: Pause } {
  if (spec.pooler?.mode !== 'transaction') return {};
  const poolers = (observed.poolers ?? []).filter(({ isPaused }) => isPaused !== undefined).map(asked);
  return poolers.length === 0 ? {} : { pause: { poolers, primary: primary.address } };
}

/** An operator that has paused them has died since, or could not reach them. There is a primary. */
export function resumeSteps({ observed }: Situation): ActStep<PostgresAction>[] {
  const paused = (observed.poolers ?? []).filter(({ isPaused }) => isPaused === true);
  if (paused.length === 0) return [];
  return [
    {
      type: 'act',
      action: { type: 'postgres.resume', poolers: paused.map(asked) },
      summary: `resume ${paused.map(({ pod }) => pod).join(', ')}`,
    },
  ];
}

/** Why clients may not be served by the poolers; undefined where all are well, or none is wanted. */
export function poolerProblem({ cluster, spec, children }: Situation): string | undefined {
  if (spec.pooler === undefined || spec.instances === 0) return undefined;
  const pods = poolerPods(cluster, children);
  const problem = pods.flatMap((pod) => podProblem(pod) ?? [])[0];
  if (problem !== undefined) return problem;
  const ready = pods.filter(podIsReady).length;
  const wanted = spec.pooler.instances;
  return ready >= wanted
    ? undefined
    : `${ready} of ${wanted} pods of ${postgresNames(cluster.metadata.name).pooler} are ready`;
}

function asked({ pod, address }: Asked): Asked {
  return { pod, address };
}
