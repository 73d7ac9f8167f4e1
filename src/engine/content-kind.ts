/**
 * A kind for what is inside a cluster of an engine: a database, a user, a topic. It has no processes of its own. The operator asks the
 * cluster's processes about it, and changes it there.
 */
import type { Cluster } from '../api/cluster.ts';
import type { DesiredCondition } from '../api/condition.ts';
import type { ContentSpec } from '../api/content.ts';
import type { KindDefinition } from '../api/kind.ts';
import type { ReferenceOptions } from '../api/reference.ts';
import type { Desired } from '../plan/objects.ts';
import type { EngineAction, Plan } from '../plan/plan.ts';
import type { PolicyRule } from './engine.ts';
import type { EngineContext } from './engine-context.ts';

/** A resource, the cluster that it is about, and what that said. */
export interface ContentSituation<Spec, TargetSpec, Observed> {
  readonly resource: Cluster<Spec>;
  /** Valid and with its defaults. */
  readonly target: Cluster<TargetSpec>;
  readonly observed: Observed;
}

export interface ContentKind<Spec extends ContentSpec, TargetSpec, Observed, Action extends EngineAction> {
  /** Of no engine and no other kind: a label of what is made for it. */
  readonly name: string;
  readonly kind: KindDefinition;
  readonly reference?: ReferenceOptions;
  /** What it needs besides the rights of its engine. */
  readonly permissions: readonly PolicyRule[];
  /** Asks the processes of the target. A target that does not answer is a value, not an error. */
  observe(resource: Cluster<Spec>, target: Cluster<TargetSpec>, io: EngineContext): Promise<Observed>;
  /** For offline plans: as if nothing existed in the target. */
  readonly offlineObservation: Observed;
  /** Objects that are made for it, such as a Secret. Without a target, only their names count. */
  resources(resource: Cluster<Spec>, target: Cluster<TargetSpec> | undefined): readonly Desired[];
  plan(situation: ContentSituation<Spec, TargetSpec, Observed>): Plan<Action>;
  /** What takes the content away, under `deletionPolicy: Delete`. Settled once nothing is left of what was created for the resource. */
  planRemoval(situation: ContentSituation<Spec, TargetSpec, Observed>): Plan<Action>;
  act(action: Action, resource: Cluster<Spec>, target: Cluster<TargetSpec>, io: EngineContext): Promise<void>;
  /** What else was found out. */
  findings?(situation: ContentSituation<Spec, TargetSpec, Observed>): readonly DesiredCondition[];
  /** Words for a settled resource. */
  ready(situation: ContentSituation<Spec, TargetSpec, Observed>): string;
}
