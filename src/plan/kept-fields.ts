/**
 * Fields of applied and patched objects that the API server kept as they were. An admission webhook that changes a field
 * back answers with success, so only the answer itself tells.
 */
import type { KubeObject } from '../api/object.ts';
import { difference } from './difference.ts';
import { type ObjectStep, type Step, wait } from './plan.ts';

type Apply = Extract<ObjectStep, { type: 'apply' }>;
type Patch = Extract<ObjectStep, { type: 'patch' }>;

/** Whether the step has changed nothing. `answer`: the object as the API server answered this very step. */
export function isIneffective(step: Step, answer: KubeObject): step is Apply | Patch {
  if (step.type === 'apply') return isApplyVoid(step, answer);
  return step.type === 'patch' && isPatchVoid(step.patch, answer);
}

function isApplyVoid({ object, changes }: Apply, found: KubeObject): boolean {
  const left = new Set(difference(object, found).map(({ path }) => path));
  return changes.length > 0 && changes.every(({ path }) => left.has(path));
}

function isPatchVoid({ metadata, ...patch }: Patch['patch'], found: KubeObject): boolean {
  // It says what the patch rests on, and is nothing that is to change.
  const { resourceVersion: _, ...wanted } = (metadata ?? {}) as Readonly<Record<string, unknown>>;
  const shown = leavesOf({ ...patch, metadata: wanted }, found);
  return shown.length > 0 && !shown.includes(true);
}

/** Of each leaf of a JSON merge patch, whether the object shows it. Null takes a field away. */
function leavesOf(wanted: unknown, has: unknown): readonly boolean[] {
  if (typeof wanted === 'object' && wanted !== null && !Array.isArray(wanted)) {
    const fields = (has ?? {}) as Readonly<Record<string, unknown>>;
    return Object.entries(wanted).flatMap(([key, value]) => leavesOf(value, fields[key]));
  }
  return [isSame(wanted, has)];
}

function isSame(wanted: unknown, has: unknown): boolean {
  if (wanted === null) return has === undefined;
  // The API server drops empty lists; a list that is to be empty and is not was kept.
  if (Array.isArray(wanted)) return JSON.stringify(wanted) === JSON.stringify(has ?? []);
  return wanted === has;
}

/** What the status says of them. */
export function fieldsKept(steps: readonly (Apply | Patch)[]) {
  const told = steps.map((step) => {
    const [kind, name] =
      step.type === 'apply' ? [step.object.kind, step.object.metadata.name] : [step.ref.resource.kind, step.ref.name];
    return `${kind} ${name}: ${step.changes.map(({ path }) => path).join(', ')}`;
  });
  return wait(
    'FieldsKept',
    `the API server keeps fields as they were, perhaps by an admission webhook: ${told.join('; ')}`,
  );
}
