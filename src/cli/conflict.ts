/**
 * Objects that stand in the way, shown as the executor would meet them: it creates one after the other, and stops at the
 * first name that is taken.
 */
import { displayName, type KubeObject } from '../api/object.ts';
import { resourceOf } from '../api/resource.ts';
import { claimConflict, claimsFor } from '../plan/claimed.ts';
import { conflict, conflictText } from '../plan/conflict.ts';
import { blocked, type Step } from '../plan/plan.ts';
import { ApiError, isNotFound } from '../runtime/api-error.ts';
import type { KubeClient } from '../runtime/client.ts';
import type { Preview } from './preview.ts';

/** What the plan would create, up to the first object that is there and belongs to somebody else. */
export async function withoutTakeover(preview: Preview, client: Pick<KubeClient, 'get'>): Promise<Preview> {
  const { steps } = preview.plan;
  const live = await Promise.all(steps.map((step) => (isCreation(step) ? find(client, step.object) : undefined)));
  const claimed = await Promise.all(steps.map((step) => claimedBefore(step, client)));
  const taken = steps.map((step, index) => {
    const found = live[index];
    const whose = found === undefined || !isCreation(step) ? undefined : conflict(step.object, found);
    return claimed[index] ?? whose;
  });
  return stoppedAt(preview, taken);
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

/** A Secret that is there is kept, whoever made it. */
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
  const at = taken.findIndex((message) => message !== undefined);
  const message = taken[at];
  if (message === undefined) return preview;
  const steps = preview.plan.steps.slice(0, at);
  return { ...preview, plan: { steps, outcome: blocked('NameConflict', message) }, follows: [] };
}
