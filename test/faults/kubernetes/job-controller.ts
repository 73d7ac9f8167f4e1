/**
 * The Job controller: a pod at a time until one succeeds, others after a pause that doubles, and an end that shows in
 * the conditions. A pod is held by a finalizer until it has been counted.
 *
 * What is not there: several pods at once, indexes, suspension, time to live, and an end that waits for other pods.
 */
import type { KubeObject, OwnerReference } from '../../../src/api/object.ts';
import { type ClusterState, handOf, keyOf, splitKey } from './cluster-state.ts';
import { type Fields, fieldsIn, itemsIn, numberIn, textIn } from './fields.ts';
import { isTerminating, phaseOf } from './pod.ts';
import { timestamp } from './registry.ts';
import { workQueue } from './work-queue.ts';

const tracking = 'batch.kubernetes.io/job-tracking';
const firstBackoffMs = 10_000;
const maxBackoffMs = 600_000;
/** As Kubernetes makes names up: no vowels, no digits that look like letters. */
const letters = 'bcdfghjklmnpqrstvwxz2456789';

const isOver = (pod: KubeObject): boolean => ['Succeeded', 'Failed'].includes(phaseOf(pod));
const isTracked = ({ metadata }: KubeObject): boolean => metadata.finalizers?.includes(tracking) === true;
/** On its way out, and nobody runs it any more. */
const isLost = (pod: KubeObject): boolean =>
  isTerminating(pod) && fieldsIn(pod.metadata).deletionGracePeriodSeconds === 0;
const controllerOf = ({ metadata }: KubeObject): OwnerReference | undefined =>
  metadata.ownerReferences?.find(({ controller }) => controller === true);

/** `Complete` or `Failed`; undefined while it is at work. */
export function endOfJob({ status }: KubeObject): 'Complete' | 'Failed' | undefined {
  const held = itemsIn(fieldsIn(status).conditions).filter((condition) => condition.status === 'True');
  return (['Complete', 'Failed'] as const).find((type) => held.some((condition) => condition.type === type));
}

interface End {
  readonly type: 'Complete' | 'Failed';
  readonly reason: string;
  readonly message: string;
}

export function runJobController(state: ClusterState): void {
  const { store, time, random } = state;
  const hand = handOf(state, 'job-controller');
  const queue = workQueue(state, [5, 40], reconcile);
  /** When the last pod of a Job failed. */
  const failedAt = new Map<string, number>();

  store.onCommit(({ resource, before, after, last }) => {
    if (resource === 'jobs') queue.add(keyOf(last));
    if (resource !== 'pods') return;
    for (const pod of [before, after]) {
      const owner = pod === undefined ? undefined : controllerOf(pod);
      if (owner?.kind === 'Job') queue.add(`${last.metadata.namespace}/${owner.name}`);
    }
  });

  const podsNamed = (namespace: string, job: string): KubeObject[] =>
    [...store.all('pods')].filter(
      (pod) => pod.metadata.namespace === namespace && pod.metadata.labels?.['batch.kubernetes.io/job-name'] === job,
    );

  function reconcile(key: string): void {
    const [namespace, name] = splitKey(key);
    const job = store.get('jobs', namespace, name);
    const all = podsNamed(namespace, name);
    // Those of a Job that is gone are nobody's: they need not be counted.
    for (const pod of all) if (job === undefined || controllerOf(pod)?.uid !== job.metadata.uid) release(pod);
    if (job === undefined) return;
    const pods = all.filter((pod) => controllerOf(pod)?.uid === job.metadata.uid);
    if (endOfJob(job) !== undefined || job.metadata.deletionTimestamp !== undefined) {
      for (const pod of pods) if (isOver(pod) || isTerminating(pod)) release(pod);
      return;
    }
    const counted = count(job, pods);
    const end = endFor(counted, pods);
    if (end === undefined) proceed(counted, pods);
    else finish(counted, pods, end);
  }

  function release(pod: KubeObject): void {
    if (!isTracked(pod)) return;
    const finalizers = (pod.metadata.finalizers ?? []).filter((finalizer) => finalizer !== tracking);
    hand.updateMetadata(pod, { finalizers });
  }

  function update(job: KubeObject, status: Fields): KubeObject {
    const live = store.byUid(job.metadata.uid ?? '') ?? job;
    return hand.updateStatus(live, status);
  }

  /** Each pod that has ended counts once. */
  function count(job: KubeObject, pods: readonly KubeObject[]): KubeObject {
    const uid = job.metadata.uid ?? '';
    const ended = pods.filter((pod) => isTracked(pod) && (isOver(pod) || isLost(pod)));
    const [succeeded, others] = [ended.filter((pod) => phaseOf(pod) === 'Succeeded'), ended.filter(hasFailed)];
    const failed = others.filter((pod) => ruleFor(job, pod) !== 'Ignore');
    const before = fieldsIn(job.status);
    if (failed.length > 0) failedAt.set(uid, time.monotonic());
    const told = update(job, {
      startTime: before.startTime ?? timestamp(time.now()),
      ...(succeeded.length === 0 ? {} : { succeeded: numberIn(before.succeeded, 0) + succeeded.length }),
      ...(failed.length === 0 ? {} : { failed: numberIn(before.failed, 0) + failed.length }),
      active: pods.filter((pod) => !isOver(pod) && !isTerminating(pod)).length,
    });
    for (const pod of ended) if (ruleFor(job, pod) !== 'FailJob') release(pod);
    return told;
  }

  const hasFailed = (pod: KubeObject): boolean => phaseOf(pod) !== 'Succeeded';

  function endFor(job: KubeObject, pods: readonly KubeObject[]): End | undefined {
    const spec = fieldsIn(job.spec);
    const status = fieldsIn(job.status);
    const hopeless = pods.find((pod) => phaseOf(pod) === 'Failed' && ruleFor(job, pod) === 'FailJob');
    if (hopeless !== undefined) {
      const message = `Container of pod ${hopeless.metadata.namespace}/${hopeless.metadata.name} failed with an exit code matching FailJob rule at index 0`;
      return { type: 'Failed', reason: 'PodFailurePolicy', message };
    }
    const deadline = textIn(status.startTime);
    const limitMs = 1000 * numberIn(spec.activeDeadlineSeconds, Number.POSITIVE_INFINITY);
    if (deadline !== undefined && time.now() - Date.parse(deadline) >= limitMs) {
      const message = 'Job was active longer than specified deadline';
      return { type: 'Failed', reason: 'DeadlineExceeded', message };
    }
    if (numberIn(status.succeeded, 0) >= numberIn(spec.completions, 1)) {
      const message = 'Reached expected number of succeeded pods';
      return { type: 'Complete', reason: 'CompletionsReached', message };
    }
    if (numberIn(status.failed, 0) <= numberIn(spec.backoffLimit, 6)) return undefined;
    return {
      type: 'Failed',
      reason: 'BackoffLimitExceeded',
      message: 'Job has reached the specified backoff limit',
    };
  }

  function finish(job: KubeObject, pods: readonly KubeObject[], { type, reason, message }: End): void {
    for (const pod of pods) {
      if (!isOver(pod) && !isTerminating(pod)) hand.remove(pod);
      else release(pod);
    }
    const now = timestamp(time.now());
    const first = type === 'Complete' ? 'SuccessCriteriaMet' : 'FailureTarget';
    const conditions = [first, type].map((of) => ({
      type: of,
      status: 'True',
      lastProbeTime: now,
      lastTransitionTime: now,
      reason,
      message,
    }));
    update(job, { conditions, active: 0, ...(type === 'Complete' ? { completionTime: now } : {}) });
  }

  /** One pod is wanted, and none beside one that has not ended yet. */
  function proceed(job: KubeObject, pods: readonly KubeObject[]): void {
    if (pods.some((pod) => !isOver(pod) && !isLost(pod))) return;
    const failures = numberIn(fieldsIn(job.status).failed, 0);
    const pause = failures === 0 ? 0 : Math.min(maxBackoffMs, firstBackoffMs * 2 ** (failures - 1));
    const left = (failedAt.get(job.metadata.uid ?? '') ?? Number.NEGATIVE_INFINITY) + pause - time.monotonic();
    if (failures > 0 && left > 0) {
      time.after(left, () => queue.add(keyOf(job)));
      return;
    }
    hand.create(podOf(job, nameFor(job)));
    const limit = fieldsIn(job.spec).activeDeadlineSeconds;
    if (typeof limit === 'number' && failures === 0) time.after(1000 * limit, () => queue.add(keyOf(job)));
  }

  function nameFor({ metadata }: KubeObject): string {
    const end = Array.from({ length: 5 }, () => letters[Math.floor(random() * letters.length)]).join('');
    return `${metadata.name}-${end}`;
  }
}

/** What the policy for failed pods says of one; undefined: it counts. */
function ruleFor(job: KubeObject, pod: KubeObject): 'FailJob' | 'Ignore' | undefined {
  const { containerStatuses, initContainerStatuses, conditions } = fieldsIn(pod.status);
  const codes = [...itemsIn(containerStatuses), ...itemsIn(initContainerStatuses)].map(
    ({ state }) => fieldsIn(fieldsIn(state).terminated).exitCode,
  );
  for (const { action, onExitCodes, onPodConditions } of itemsIn(fieldsIn(fieldsIn(job.spec).podFailurePolicy).rules)) {
    const { values } = fieldsIn(onExitCodes);
    const isOfCode = Array.isArray(values) && codes.some((code) => values.includes(code));
    const isOfCondition = itemsIn(onPodConditions).some((wanted) =>
      itemsIn(conditions).some(({ type, status }) => type === wanted.type && status === wanted.status),
    );
    if (isOfCode || isOfCondition) return action as 'FailJob' | 'Ignore';
  }
  return undefined;
}

function podOf(job: KubeObject, name: string): KubeObject {
  const template = fieldsIn(fieldsIn(job.spec).template);
  const { labels, annotations } = fieldsIn(template.metadata);
  const { namespace = '', uid = '' } = job.metadata;
  const owner = { apiVersion: 'batch/v1', kind: 'Job', name: job.metadata.name, uid };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace,
      labels: labels as Record<string, string>,
      ...(annotations === undefined ? {} : { annotations: annotations as Record<string, string> }),
      finalizers: [tracking],
      ownerReferences: [{ ...owner, controller: true, blockOwnerDeletion: true }],
    },
    spec: fieldsIn(template.spec),
  };
}
