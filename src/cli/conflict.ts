/**
 * Objects that stand in the way, shown as the executor would meet them: it creates one after the other, and stops at the
 * first name that is taken.
 */
import { displayName, type KubeObject } from '../api/object.ts';
import { resourceOf } from '../api/resource.ts';
import { claimConflict, claimsFor } from '../plan/claimed.ts';
import { conflict, conflictText, secretConflict, sourceConflict, sourceWanted } from '../plan/conflict.ts';
import { blocked, findingOf, type Step } from '../plan/plan.ts';
import { ApiError, isNotFound } from '../runtime/api-error.ts';
import type { KubeClient } from '../runtime/client.ts';
import type { Way } from './observation.ts';
import type { Preview } from './preview.ts';

/** What the plan would create, up to the first object that is there and belongs to somebody else. */
export async function withoutTakeover(
  preview: Preview,
  { client, way }: { readonly client: Pick<KubeClient, 'get'>; readonly way: Way },
): Promise<Preview> {
  const taken = await Promise.all(
    preview.plan.steps.map(
      async (step) => (await claimedBefore(step, client)) ?? (await takenBefore(step, client, way)),
    ),
  );
  return stoppedAt(preview, taken);
}

async function takenBefore(step: Step, client: Pick<KubeClient, 'get'>, way: Way): Promise<string | undefined> {
  if (step.type !== 'create' && step.type !== 'issue') return undefined;
  const isSecret = !isCreation(step);
  // Nobody looks at a Secret who was asked to ask nobody.
  if (isSecret && way === 'never') return undefined;
  const live = await find(client, step.object);
  const whose = live === undefined ? undefined : isSecret ? secretConflict(step, live) : conflict(step.object, live);
  return whose ?? (step.type === 'issue' ? await sourceTaken(step, client) : undefined);
}

async function sourceTaken(
  step: Extract<Step, { type: 'issue' }>,
  client: Pick<KubeClient, 'get'>,
): Promise<string | undefined> {
  const wanted = sourceWanted(step);
  const source = wanted === undefined ? undefined : await find(client, wanted);
  return source === undefined ? undefined : sourceConflict(step, source);
}

async function claimedBefore(step: Step, client: Pick<KubeClient, 'get'>): Promise<string | undefined> {
  const whose = await Promise.all(
    claimsFor(step).map(async (claim) => {
      const live = await find(client, claim);
      return live === undefined ? undefined : claimConflict(claim, live);
    }),
  );
  return whose.find((words) => words !== undefined);
}

/** Of several clusters of one manifest, the first has the name. */
export function apartFromEachOther(previews: readonly Preview[]): readonly Preview[] {
  const owners = new Map<string, string>();
  return previews.map((preview) => {
    const { kind, metadata } = preview.cluster;
    const owner = `${kind} ${metadata.name}`;
    const taken = preview.plan.steps.map((step) => {
      if (!isCreation(step)) return undefined;
      const key = `${metadata.namespace} ${displayName(step.object)}`;
      const other = owners.get(key);
      if (other !== undefined) return conflictText(step.object, other);
      owners.set(key, owner);
      return undefined;
    });
    return stoppedAt(preview, taken);
  });
}

/** Not a Secret that is filled: it may be one that is kept. */
function isCreation(step: Step): step is Extract<Step, { type: 'create' }> {
  return step.type === 'create' && step.generate === undefined;
}

/** Undefined where there is none, and where one may not look. */
async function find(client: Pick<KubeClient, 'get'>, object: KubeObject): Promise<KubeObject | undefined> {
  const { name, namespace } = object.metadata;
  try {
    return await client.get({
      resource: resourceOf(object),
      name,
      ...(namespace === undefined ? {} : { namespace }),
    });
  } catch (error) {
    if (isNotFound(error) || (error instanceof ApiError && error.status === 403)) return undefined;
    throw error;
  }
}

/** `taken` has a message for each step that cannot be taken. */
function stoppedAt(preview: Preview, taken: readonly (string | undefined)[]): Preview {
  const { steps, outcome } = preview.plan;
  const at = steps.findIndex((step, index) => taken[index] !== undefined && findingOf(step) === undefined);
  const message = taken[at];
  if (message !== undefined) {
    const plan = { steps: steps.slice(0, at), outcome: blocked('NameConflict', message) };
    return { ...preview, plan, follows: [] };
  }
  // The others are done all the same.
  const wish = steps.findIndex((_, index) => taken[index] !== undefined);
  const [step, words] = [steps[wish], taken[wish]];
  if (step === undefined || words === undefined) return preview;
  const left = steps.filter((_, index) => taken[index] === undefined);
  const saying =
    outcome.state === 'settled'
      ? blocked(findingOf(step) ?? 'NameConflict', words)
      : { ...outcome, message: `${outcome.message}; ${words}` };
  return { ...preview, plan: { ...preview.plan, steps: left, outcome: saying } };
}
