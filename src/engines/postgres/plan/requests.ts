/** What a person asks for with an annotation on the custom resource. Each counts once: it goes when it is done. */
import { switchoverAnnotation } from '../../../api/maintenance.ts';
import { blocked, type Outcome, wait } from '../../../plan/plan.ts';
import { indexInPodName, replaceAnnotation } from '../names.ts';
import type { LiveMember } from '../observe/observed.ts';
import type { Situation } from '../observe/situation.ts';
import { pauseFor } from './pooler.ts';
import type { PostgresPlan } from './postgres-plan.ts';
import { dropAnnotation } from './recovery.ts';
import { asked, recheckMs } from './restart.ts';

export const switchoverRefused = 'SwitchoverRefused';

/** Undefined where nobody asks. Everybody is well. */
export function planSwitchover(situation: Situation, primary: LiveMember): PostgresPlan | undefined {
  const wanted = situation.cluster.metadata.annotations?.[switchoverAnnotation];
  if (wanted === undefined) return undefined;
  if (wanted === primary.pod) {
    return {
      steps: dropAnnotation(situation, switchoverAnnotation),
      outcome: wait('SwitchingOver', `${primary.pod} is primary`, recheckMs),
    };
  }
  const successor = memberNamed(situation, wanted);
  if (successor === undefined) return { steps: [], outcome: refused(wanted, 'no member of this cluster') };
  // Patroni refuses it, too: a commit may be elsewhere.
  if (situation.spec.synchronous.count > 0 && !successor.isSynchronous)
    return { steps: [], outcome: refused(wanted, 'no standby that commits wait for') };
  return {
    steps: [
      {
        type: 'act',
        action: {
          type: 'postgres.switchover',
          via: asked(primary),
          from: primary.pod,
          to: wanted,
          ...pauseFor(situation, successor),
        },
        summary: `make ${wanted} the primary, as ${switchoverAnnotation} says`,
        event: 'Switchover',
      },
    ],
    outcome: wait(
      'SwitchingOver',
      `${primary.pod} hands over to ${wanted}, as ${switchoverAnnotation} says`,
      recheckMs,
    ),
  };
}

function memberNamed({ live, cluster, roster }: Situation, wanted: string): LiveMember | undefined {
  const index = indexInPodName(cluster.metadata.name, wanted);
  return index === undefined || !roster.has(index) ? undefined : live.get(index);
}

function refused(wanted: string, why: string): Outcome {
  return blocked(
    switchoverRefused,
    `${switchoverAnnotation} names ${wanted.slice(0, 64)}, ${why}; correct or remove the annotation`,
  );
}

/** Number of the member that a person wants replaced; undefined where nobody does, or there is none. */
export function replaceRequested({ cluster, roster, primary }: Situation): number | undefined {
  const wanted = cluster.metadata.annotations?.[replaceAnnotation];
  if (wanted === undefined || wanted === primary?.pod) return undefined;
  const index = indexInPodName(cluster.metadata.name, wanted);
  return index !== undefined && roster.has(index) ? index : undefined;
}

/** It has been done, or has never meant anybody. Of the primary it waits: somebody else has to be primary before. */
export function settledReplaceSteps(situation: Situation) {
  const { cluster, primary } = situation;
  const wanted = cluster.metadata.annotations?.[replaceAnnotation];
  const isOpen = wanted === undefined || wanted === primary?.pod || replaceRequested(situation) !== undefined;
  return isOpen ? [] : dropAnnotation(situation, replaceAnnotation);
}
