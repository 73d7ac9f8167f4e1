/** How a changed template reaches the pods: in place where the API server resizes them, or by a restart. Asked by dry run. */
import type { KubeObject } from '../api/object.ts';
import { pods as podResource } from '../api/resource.ts';
import {
  isResourcePath,
  keepsAmounts,
  missingResources,
  restartedContainer,
  type Template,
} from '../plan/container-resources.ts';
import { templatePaths } from '../plan/difference.ts';
import type { Step } from '../plan/plan.ts';
import { refOf } from '../plan/ref.ts';
import { markStep } from '../plan/resize-turn.ts';
import { outdatedPods } from '../plan/rollout.ts';
import { setOf } from '../plan/template-use.ts';
import { type Children, childrenOf, type Pod, type StatefulSet } from '../resources/children.ts';
import type { ResizedContainer } from '../resources/resize.ts';
import { ApiError } from '../runtime/api-error.ts';
import type { KubeClient } from '../runtime/client.ts';
import { refusedBy } from '../runtime/refused-by.ts';
import { markRefusal, type Refusal, resize } from '../runtime/resize.ts';

/** Undefined where dry runs are not wanted. */
type Asked = Pick<KubeClient, 'jsonPatch' | 'mergePatch'> | undefined;

/** The operator tries a resize and restarts the pod where that is refused. A preview tries nothing, and asks the same beforehand. */
export async function withAskedResizes(children: Children, client: Asked): Promise<Children> {
  const asked = new Map<object, Pod>();
  for (const pod of children.pods) {
    if (pod.resize?.state !== 'due') continue;
    const words =
      (await markRefusalOf(pod, pod.resize.mark, client)) ?? (await refusalOf(pod, pod.resize.containers, client));
    if (words !== undefined) asked.set(pod, { ...pod, resize: { state: 'refused', words } });
  }
  return asked.size === 0 ? children : childrenOf(children.objects.map((object) => asked.get(object) ?? object));
}

/** Why the API server does not take what the operator writes on the pod first. */
async function markRefusalOf(pod: Pod, mark: string | undefined, client: Asked): Promise<string | undefined> {
  const ref = refOf(pod, podResource);
  if (client === undefined || ref === undefined || mark === undefined) return undefined;
  const step = markStep(pod, ref, mark);
  const metadata = { ...(step.patch.metadata as object | undefined), uid: ref.uid };
  return await refusing(() => markRefusal(step, () => client.mergePatch(ref, { metadata }, { dryRun: true })));
}

async function refusalOf(
  pod: Pod,
  containers: readonly ResizedContainer[],
  client: Asked,
): Promise<string | undefined> {
  const ref = refOf(pod, podResource);
  if (client === undefined || ref === undefined || containers.length === 0) return undefined;
  return await refusing(() => resize(client, { type: 'resize', ref, containers, changes: [] }, { dryRun: true }));
}

async function refusing(ask: () => Promise<Refusal | undefined>): Promise<string | undefined> {
  try {
    const { words, error } = (await ask()) ?? {};
    // The person who runs the command has no right to change pods. The operator has it.
    return error !== undefined && refusedBy(error) === 'authorization' ? undefined : words;
  } catch (error) {
    // No answer, such as that of a webhook that is down: the operator asks again.
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

/** A new template is applied in one reconcile and reaches the pods in the ones after it. */
export async function forecastRollout(
  steps: readonly Step[],
  children: Children,
  client: Asked,
): Promise<readonly string[]> {
  const lines: string[] = [];
  for (const step of steps) {
    if (step.type !== 'apply' || step.object.kind !== 'StatefulSet') continue;
    const paths = templatePaths(step.changes);
    const { name } = step.object.metadata;
    const pods = children.pods.filter((pod) => setOf(pod.metadata.name) === name);
    if (paths.length === 0 || pods.length === 0) continue;
    const isResize = paths.every(isResourcePath);
    const why = isResize ? await whyRestart(step.object, children.statefulSet(name), pods, client) : '';
    lines.push(
      why === undefined
        ? `the ${pods.length} pod(s) of StatefulSet ${name} are resized in place, one at a time; one that its node cannot resize restarts, and so does one that has to restart for a setting`
        : `the ${pods.length} pod(s) of StatefulSet ${name} restart, one at a time, a primary or leader last${why}`,
    );
  }
  return lines;
}

/** Undefined where they are resized in place. */
async function whyRestart(
  { spec }: KubeObject,
  live: StatefulSet | undefined,
  pods: readonly Pod[],
  client: Asked,
): Promise<string | undefined> {
  const { template } = spec as { readonly template: Template };
  const before = live?.spec?.template;
  if (before === undefined || !keepsAmounts(before, template)) return '';
  for (const pod of pods) {
    const missing = missingResources(pod, template, [before]);
    // Its template differed in more before.
    const isOlder = outdatedPods(live, [pod]).length > 0 && pod.resize === undefined;
    if (missing === undefined || isOlder) return '';
    const restarted = restartedContainer(pod, missing.changes);
    if (restarted !== undefined)
      return `: ${pod.metadata.name} is not resized in place, since the resizePolicy of its container ${restarted} asks for a restart`;
    // Which revision the mark will name is not known before the template is applied.
    const words =
      (await markRefusalOf(pod, 'a revision to come', client)) ?? (await refusalOf(pod, missing.containers, client));
    if (words !== undefined) return `: ${pod.metadata.name} is not resized in place, since ${words}`;
  }
  return undefined;
}
