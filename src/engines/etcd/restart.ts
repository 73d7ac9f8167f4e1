/**
 * Restarts for a changed template: one member at a time, the leader last, after it has handed over (safety rules G5 and
 * E6). The version goes one minor at a time, from a patch that is fit for it.
 */
import { firstPatchOf35, lastPatchBefore36 } from '../../api/etcd.ts';
import { pods as podResource } from '../../api/resource.ts';
import { blocked, type Outcome, wait } from '../../plan/plan.ts';
import { refOf } from '../../plan/ref.ts';
import { stuckPod } from '../../plan/rollout.ts';
import type { Pod } from '../../resources/children.ts';
import { acting, type EtcdPlan } from './membership.ts';
import { answering } from './observed.ts';
import { isOutdated } from './outdated.ts';
import { minorOf } from './settings.ts';
import { type Member, nameOf, quorumOf, type Situation, targetOf, voters } from './situation.ts';

const recheckMs = 250;

/**
 * The template was wrong and has been corrected since: whoever does not answer on the old one never will. Nobody is
 * interrupted by that, so it needs no majority.
 */
export function planStuck({ sets, pods, observed }: Situation): EtcdPlan | undefined {
  const answers = new Set(answering(observed.members).map(({ pod }) => pod));
  const stuck = [...sets].flatMap(([index, set]) => {
    const pod = pods.get(index);
    return pod === undefined ? [] : (stuckPod(set, [pod], ({ metadata }) => !answers.has(metadata.name)) ?? []);
  })[0];
  return stuck === undefined ? undefined : restarting(stuck);
}

function restarting(pod: Pod): EtcdPlan | undefined {
  const ref = refOf(pod, podResource);
  if (ref === undefined) return undefined;
  return {
    steps: [{ type: 'delete', ref, reason: 'it runs an older template' }],
    outcome: wait('Restarting', `${pod.metadata.name} restarts with the new template`),
  };
}

/** Without one of them, those who stay are still a majority. */
export function canSpareOne(members: readonly Member[]): boolean {
  const votes = voters(members).length;
  return votes - 1 >= quorumOf(votes);
}

/** The next restart; undefined when every pod runs the current template. Everybody must be well. */
export function planRestart(situation: Situation, members: readonly Member[]): EtcdPlan | undefined {
  const { cluster, leader, pods } = situation;
  const outdated = members.filter((member) => isOutdated(situation, member));
  const next = outdated.find((member) => member.id !== leader?.id) ?? outdated[0];
  if (next?.index === undefined) return undefined;
  const name = nameOf(cluster, next);
  const heir = members.find((member) => member.id !== next.id && !member.isLearner && !isOutdated(situation, member));
  if (leader !== undefined && next.id === leader.id && heir !== undefined) {
    return acting(
      { type: 'etcd.moveLeader', via: targetOf(leader), to: heir.id },
      `make ${nameOf(cluster, heir)} the leader: ${name} is the last to restart`,
      wait('MovingLeader', `${name} hands over before it restarts`, recheckMs),
    );
  }
  const pod = pods.get(next.index);
  return pod === undefined ? undefined : restarting(pod);
}

const minorNumber = (version: string): number => Number(version.split('.')[1] ?? 0);
const patchNumber = (version: string): number => Number(version.split('.')[2] ?? 0);

/** Why the version of the spec must not be rolled out onto what runs. CEL refuses most of it earlier. */
export function versionBlock({ spec, observed }: Situation): Outcome | undefined {
  const wanted = spec.version;
  for (const { pod, version } of answering(observed.members)) {
    if (version === '') continue;
    const step = minorNumber(wanted) - minorNumber(version);
    if (step < 0) {
      return blocked(
        'DowngradeRefused',
        `${pod} runs ${version}, and data of ${minorOf(version)} is not for ${wanted}`,
      );
    }
    if (step > 1) return blocked('UpgradeSkipsMinor', `${pod} runs ${version}: ${wanted} is more than one minor ahead`);
    const fit = minorNumber(version) === 5 ? lastPatchBefore36 : firstPatchOf35;
    if (step === 1 && patchNumber(version) < fit) {
      return blocked('UpgradePrerequisite', `${pod} runs ${version}: 3.5.${fit} comes before ${wanted}`);
    }
  }
  return undefined;
}
