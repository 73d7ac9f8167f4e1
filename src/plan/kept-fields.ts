/**
 * Fields of applied objects that the API server kept as they were. An admission webhook that changes a field back answers
 * with success, so only the answer itself tells.
 */
import type { KubeObject } from '../api/object.ts';
import { difference } from './difference.ts';
import { type ObjectStep, type Step, wait } from './plan.ts';

type Apply = Extract<ObjectStep, { type: 'apply' }>;

/** The steps among `steps` that have changed nothing. `live` finds an object as the API server answered last. */
export function ineffectiveSteps(
  steps: readonly Step[],
  live: (object: KubeObject) => KubeObject | undefined,
): readonly Apply[] {
  return steps.filter((step): step is Apply => {
    if (step.type !== 'apply') return false;
    const found = live(step.object);
    if (found === undefined) return false;
    const left = new Set(difference(step.object, found).map(({ path }) => path));
    return step.changes.length > 0 && step.changes.every(({ path }) => left.has(path));
  });
}

/** What the status says of them. */
export function fieldsKept(steps: readonly Apply[]) {
  const told = steps.map(
    ({ object, changes }) => `${object.kind} ${object.metadata.name}: ${changes.map(({ path }) => path).join(', ')}`,
  );
  return wait(
    'FieldsKept',
    `the API server keeps fields as they were, perhaps by an admission webhook: ${told.join('; ')}`,
  );
}
