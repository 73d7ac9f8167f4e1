/**
 * What a spec asks for and is not there, though no step fails: no client may take the cluster for one that is as its spec says. Pure.
 */
import type { Cluster } from '../api/cluster.ts';
import type { KubeObject } from '../api/object.ts';
import type { WantedAccess } from '../plan/access-steps.ts';
import { findingOf } from '../plan/plan.ts';
import { surplusIn } from '../plan/surplus.ts';
import type { Children } from '../resources/children.ts';
import type { Due } from './contested.ts';
import { StepFailed } from './executor.ts';

/** Somebody undoes it each time, by a write or by a deletion of their own. */
export class Undone extends Error {
  constructor() {
    super('somebody undoes it each time');
    this.name = 'Undone';
  }
}

/** The API server has taken it, and the fields are as they were. */
export class Kept extends Error {
  constructor() {
    super('the API server keeps the fields as they were, perhaps by an admission webhook');
    this.name = 'Kept';
  }
}

/** Somebody has deleted the object, and a finalizer holds it. What takes its place can only be made when it is gone. */
export class Terminating extends Error {
  constructor({ metadata }: KubeObject) {
    const { finalizers = [] } = metadata as { readonly finalizers?: readonly string[] };
    super(`it is being deleted, and goes when these finalizers are removed: ${finalizers.join(', ')}`);
    this.name = 'Terminating';
  }
}

/**
 * Changes of objects that the spec asks for. Left out: Services and policies of `access`, which `execution.ts` reports, and patches of pods, which an
 * engine may revert itself.
 */
export function undoneIn({ undone }: Due): readonly StepFailed[] {
  const objects = undone.filter((step) => step.type === 'create' || step.type === 'apply');
  return objects.filter((step) => findingOf(step) === undefined).map((step) => new StepFailed(step, new Undone()));
}

export interface Going {
  /** Of what the spec asks for: it is made again when the object is gone. */
  readonly again: readonly StepFailed[];
  /** Of what the spec does not ask for any more, such as a load balancer that its provider cleans up. */
  readonly surplus: readonly StepFailed[];
}

/** Services of `access` and NetworkPolicies that are being deleted while a finalizer holds them. */
export function goingIn(cluster: Cluster, children: Children, { children: wanted, desired }: WantedAccess): Going {
  const goes = ({ metadata }: KubeObject): boolean => metadata.deletionTimestamp !== undefined;
  const again = wanted.flatMap(({ object, mayFail }) => {
    const live = children.get(object.kind, object.metadata.name);
    if (live === undefined || !goes(live)) return [];
    return [new StepFailed({ type: 'create', object, ...mayFail }, new Terminating(live))];
  });
  const surplus = surplusIn(cluster, children, desired).filter(({ object }) => goes(object));
  return { again, surplus: surplus.map(({ object, step }) => new StepFailed(step, new Terminating(object))) };
}
