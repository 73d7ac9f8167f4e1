/**
 * The role that Services select by, kept on the pods.
 *
 * Labels follow the database. The old primary loses its label before the new one gets it, so the `-primary` Service
 * never has two endpoints (safety rule R5).
 */
import { pods } from '../../../api/resource.ts';
import type { ObjectStep } from '../../../plan/plan.ts';
import { refOf } from '../../../plan/ref.ts';
import { type Pod, podIsReady } from '../../../resources/children.ts';
import { roleLabel } from '../names.ts';
import type { DataNode } from '../observe/observed.ts';
import type { Situation } from '../observe/situation.ts';

type Role = 'primary' | 'replica';

export function planRoles(situation: Situation, primary: DataNode): ObjectStep[] {
  // Old data is better than none: where no replica has a link, those that clients read from stay.
  const isServed = situation.dataPods.some((pod) => {
    const node = situation.nodes.find((candidate) => candidate.pod === pod.metadata.name);
    return node?.follows === primary.address && node.linkUp && podIsReady(pod);
  });
  const wanted = (pod: Pod): Role | undefined => {
    const node = situation.nodes.find((candidate) => candidate.pod === pod.metadata.name);
    if (node?.address === primary.address) return 'primary';
    if (node?.follows === primary.address && !(node.isStale && isServed)) return 'replica';
    if (node?.isStale === true && isServed) return undefined;
    // A silent node keeps a replica's label (its readiness says the rest), never a primary's.
    return pod.metadata.labels?.[roleLabel] === 'replica' ? 'replica' : undefined;
  };
  const steps = situation.dataPods.flatMap((pod) => labelStep(pod, wanted(pod)));
  const first = steps.filter((step) => step.wanted !== 'primary');
  const last = steps.filter((step) => step.wanted === 'primary');
  return [...first, ...last].map(({ step }) => step);
}

function labelStep(pod: Pod, wanted: Role | undefined): { wanted: Role | undefined; step: ObjectStep }[] {
  const has = pod.metadata.labels?.[roleLabel];
  const ref = refOf(pod, pods);
  if (has === wanted || ref === undefined) return [];
  const step: ObjectStep = {
    type: 'patch',
    ref,
    patch: { metadata: { labels: { [roleLabel]: wanted ?? null } } },
    changes: [
      {
        path: `metadata.labels[${roleLabel}]`,
        ...(has === undefined ? {} : { from: has }),
        ...(wanted === undefined ? {} : { to: wanted }),
      },
    ],
  };
  return [{ wanted, step }];
}
