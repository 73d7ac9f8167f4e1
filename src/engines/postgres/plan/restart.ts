/** Who restarts next, and how. */
import { restartAnnotation } from '../../../api/maintenance.ts';
import { type Plan, wait } from '../../../plan/plan.ts';
import { isResizing } from '../../../plan/resize.ts';
import { resizeTurn, whyNotInPlace } from '../../../plan/resize-turn.ts';
import { restartSteps, stuckPod } from '../../../plan/rollout.ts';
import type { Pod } from '../../../resources/children.ts';
import type { PostgresAction } from '../action.ts';
import type { LiveMember } from '../observe/observed.ts';
import { isPrimary, podOf, type Situation } from '../observe/situation.ts';
import { isHeldByPrimary } from './larger-settings.ts';
import { isOutdated } from './outdated.ts';
import { pausedByPerson } from './pause.ts';
import { pauseFor } from './pooler.ts';

type RestartPlan = Plan<PostgresAction>;

/** How often to look again while the database moves by itself and no watch would tell. */
export const recheckMs = 1000;

/**
 * The template was wrong and has been corrected since: a pod that cannot start with the old one never will. Nor does PostgreSQL in a pod whose
 * Patroni answers, where what it needs is in the new one. Beside a primary Patroni may be rewinding it, and in a pause a person be at work.
 */
export function planStuck(situation: Situation): RestartPlan | undefined {
  const { sets, pods, live, primary } = situation;
  const mayGo = (index: number): boolean => {
    const member = live.get(index);
    if (member === undefined) return true;
    return primary === undefined && member.postgres === 'start failed' && !member.isPaused;
  };
  const [stuck] = [...sets].flatMap(([index, set]) => {
    const pod = pods.get(index);
    return pod === undefined ? [] : (stuckPod(set, [pod], () => mayGo(index)) ?? []);
  });
  return stuck === undefined ? undefined : restarting(stuck.metadata.name, restartSteps(stuck));
}

function restarting(pod: string, steps: RestartPlan['steps'], why = 'with the new template'): RestartPlan {
  return { steps, outcome: wait('Restarting', `${pod} restarts ${why}`, recheckMs) };
}

/**
 * One member at a time, standbys first; the primary hands over before it restarts. Everybody is well. A setting that no standby may have
 * lower than its primary is lowered on the primary first, where it is: a successor would still have the old value.
 */
export function planRestart(situation: Situation): RestartPlan | undefined {
  const { roster, live, primary } = situation;
  if (primary?.restartPending === true && primary.awaitsPrimary) return restartingPostgres(situation, primary);
  const due = [...roster.keys()].filter((index) => {
    const member = live.get(index);
    const isPending = member?.restartPending === true && !isHeldByPrimary(situation, member);
    return isOutdated(situation, index) || isPending;
  });
  const isLeader = (index: number): boolean => {
    const member = live.get(index);
    return member !== undefined && isPrimary(situation, member);
  };
  const begun = due.find((index) => isBegun(situation, index));
  const next = begun ?? due.find((index) => !isLeader(index)) ?? due[0];
  if (next === undefined || primary === undefined) return undefined;
  const name = podOf(situation, next);
  const resize = resizeInPlace(situation, next);
  if (resize !== undefined) return resize;
  const paused = isOutdated(situation, next) ? pausedByPerson(situation) : undefined;
  if (paused !== undefined)
    return { steps: [], outcome: wait('FailoverPaused', `${name} is to restart with the new template, but ${paused}`) };
  const successor = isLeader(next) ? successorTo(situation, primary) : undefined;
  if (successor !== undefined) {
    return {
      steps: [
        {
          type: 'act',
          action: {
            type: 'postgres.switchover',
            via: asked(primary),
            from: primary.pod,
            to: successor.pod,
            ...pauseFor(situation, successor),
          },
          summary: `make ${successor.pod} the primary: ${primary.pod} is the last to restart`,
          event: 'Switchover',
        },
      ],
      outcome: wait('SwitchingOver', `${primary.pod} hands over before it restarts`, recheckMs),
    };
  }
  const pod = situation.pods.get(next);
  if (pod !== undefined && isOutdated(situation, next))
    return restarting(name, restartSteps(pod), `with the new template${whyNotInPlace(pod)}`);
  const member = live.get(next);
  return member === undefined ? undefined : restartingPostgres(situation, member);
}

function isBegun(situation: Situation, index: number): boolean {
  const pod = resizablePod(situation, index);
  return pod !== undefined && isResizing(pod);
}

function resizeInPlace(situation: Situation, index: number): RestartPlan | undefined {
  const pod = resizablePod(situation, index);
  return pod === undefined ? undefined : resizeTurn(pod);
}

/** Not where PostgreSQL has to restart anyway, as for `shared_buffers`: then its pod restarts, once for both. */
function resizablePod({ pods, live }: Situation, index: number): Pod | undefined {
  return live.get(index)?.restartPending === true ? undefined : pods.get(index);
}

/** What a person has written, as it is on the pods: it stays there when the annotation goes, so that nobody restarts for that. */
export function restartWanted({ cluster, sets }: Situation): string | undefined {
  const [written] = [...sets.values()].flatMap(
    ({ spec }) => spec?.template?.metadata?.annotations?.[restartAnnotation] ?? [],
  );
  return cluster.metadata.annotations?.[restartAnnotation] ?? written;
}

/**
 * A primary was replaced by one with more of a setting than a standby has. The standby stops replaying as soon as the primary uses it, and cannot
 * be promoted then: its restart waits for no window.
 */
export function planLacking(situation: Situation): RestartPlan | undefined {
  const { live, primary } = situation;
  // A primary that does not restart for the setting itself has the new value.
  const has = (name: string): number => primary?.raised?.[name] ?? Number.POSITIVE_INFINITY;
  const [lacking] = [...live.values()].filter(
    ({ pod, raised = {} }) => pod !== primary?.pod && Object.entries(raised).some(([name, value]) => value < has(name)),
  );
  return lacking === undefined || primary === undefined ? undefined : restartingPostgres(situation, lacking);
}

function restartingPostgres(situation: Situation, member: LiveMember): RestartPlan {
  const { pod } = member;
  return restarting(
    pod,
    [
      {
        type: 'act',
        action: {
          type: 'postgres.restart',
          member: asked(member),
          ...(isPrimary(situation, member) ? pauseFor(situation, member) : {}),
        },
        summary: `restart PostgreSQL of ${pod}`,
      },
    ],
    'for settings that count from a start on',
  );
}

/** A synchronous standby has every commit. Where commits wait for none, it is the one that has the most. */
function successorTo({ live, spec }: Situation, primary: LiveMember): LiveMember | undefined {
  const others = [...live.values()].filter(({ pod }) => pod !== primary.pod);
  if (spec.synchronous.count > 0) return others.find(({ isSynchronous }) => isSynchronous);
  return others
    .filter(({ isStreaming }) => isStreaming)
    .reduce<LiveMember | undefined>((best, one) => ((one.lsn ?? 0) > (best?.lsn ?? -1) ? one : best), undefined);
}

export function asked({ pod, address }: { readonly pod: string; readonly address: string }) {
  return { pod, address };
}
