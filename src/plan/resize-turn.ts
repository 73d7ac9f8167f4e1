/** What is done with a pod whose turn it is to get the present template, as far as that takes no restart. */
import { pods } from '../api/resource.ts';
import type { Pod } from '../resources/children.ts';
import { type ObjectStep, type Outcome, wait } from './plan.ts';
import { type ExactRef, refOf } from './ref.ts';
import { resizeAnnotation, revisionLabel } from './resize.ts';

type PatchStep = Extract<ObjectStep, { type: 'patch' }>;

export interface Turn {
  readonly steps: readonly ObjectStep[];
  readonly outcome: Extract<Outcome, { state: 'wait' }>;
}

/** After which it shows whether the API server has taken a change, or a template can be read. */
const recheckMs = 1_000;

/** Undefined where the pod has to restart. */
export function resizeTurn(pod: Pod): Turn | undefined {
  const { resize } = pod;
  const ref = refOf(pod, pods);
  if (resize === undefined || ref === undefined) return undefined;
  const turn = (steps: readonly ObjectStep[], words: string, ms?: number): Turn => ({
    steps,
    outcome: wait('Resizing', `${pod.metadata.name} ${words}`, ms),
  });
  switch (resize.state) {
    case 'due': {
      const { mark, containers, changes } = resize;
      const marking = mark === undefined ? [] : [markStep(pod, ref, mark)];
      const resizing: ObjectStep[] = containers.length === 0 ? [] : [{ type: 'resize', ref, containers, changes }];
      return turn([...marking, ...resizing], 'is resized in place', recheckMs);
    }
    case 'underway':
      return turn([], `is resized in place: ${resize.words}`, resize.recheckMs);
    case 'unknown':
      return turn([], `is to be resized in place or to restart: ${resize.words}`, recheckMs);
    case 'done':
      return turn([doneStep(pod, ref, resize.revision)], 'has been resized in place');
    case 'refused':
      return undefined;
    default:
      return resize satisfies never;
  }
}

/** Why a pod restarts that could have been resized: to be put behind what is said of the restart. */
export function whyNotInPlace({ resize }: Pod): string {
  return resize?.state === 'refused' ? `: it is not resized in place, since ${resize.words}` : '';
}

export function markStep({ metadata }: Pod, ref: ExactRef, mark: string): PatchStep {
  const from = metadata.annotations?.[resizeAnnotation];
  return {
    type: 'patch',
    resizing: true,
    ref,
    patch: { metadata: { annotations: { [resizeAnnotation]: mark } } },
    changes: [{ path: `metadata.annotations[${resizeAnnotation}]`, ...(from === undefined ? {} : { from }), to: mark }],
  };
}

/** In one write: without the mark, the label alone tells of which template the pod is. */
function doneStep({ metadata: { labels, annotations } }: Pod, ref: ExactRef, revision: string): ObjectStep {
  return {
    type: 'patch',
    resizing: true,
    ref,
    patch: { metadata: { labels: { [revisionLabel]: revision }, annotations: { [resizeAnnotation]: null } } },
    changes: [
      { path: `metadata.labels[${revisionLabel}]`, from: labels?.[revisionLabel], to: revision },
      { path: `metadata.annotations[${resizeAnnotation}]`, from: annotations?.[resizeAnnotation] },
    ],
  };
}
