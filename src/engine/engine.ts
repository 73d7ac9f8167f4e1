/**
 * The engine contract. An engine is a value of this interface, registered in `engines/index.ts`; adding one adds a
 * folder and a line.
 *
 * `resources`, `situation`, `plan` and `status` are pure. `observe` only reads. `act` runs one action and is safe to repeat. Whatever
 * they need of the world comes in as an argument, so a test can hold the clock and break the wire.
 */
import type { Cluster } from '../api/cluster.ts';
import type { DesiredCondition } from '../api/condition.ts';
import type { KindDefinition } from '../api/kind.ts';
import type { KubeObject } from '../api/object.ts';
import type { ReferenceOptions } from '../api/reference.ts';
import type { ClusterStatus } from '../api/status.ts';
import type { Desired } from '../plan/objects.ts';
import type { DeferrablePlan, EngineAction, Plan, Step } from '../plan/plan.ts';
import type { Children } from '../resources/children.ts';
import type { BackupFactory, BackupSupport } from './backup-support.ts';
import type { Definition } from './definition.ts';
import type { EngineContext } from './engine-context.ts';

/** One rule of a Role, as in rbac.authorization.k8s.io/v1. */
export interface PolicyRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

/** An engine's share of the status; the controller adds times, the generation and the plan's words. */
export type StatusReport = Omit<ClusterStatus, 'conditions' | 'observedGeneration' | 'plan'> & {
  readonly conditions: readonly DesiredCondition[];
};

/** What a listener keeps for its next run on the same endpoint. */
export interface ListenerMemory {
  said?: string;
}

/** A database that reports changes by itself. The runtime keeps one listener an endpoint, and restarts it when it ends. */
export interface Listener<Spec> {
  /** Whom to listen to, as keys that are stable while the process behind them is the same. */
  endpoints(children: Children): readonly string[];
  /** Calls back on every report; ends when the connection does or `io.signal` aborts. */
  listen(
    endpoint: string,
    cluster: Cluster<Spec>,
    io: EngineContext,
    changed: () => void,
    memory?: ListenerMemory,
  ): Promise<void>;
}

/**
 * The annotations of a child without what its processes write every few seconds. A change of that alone brings no reconcile. Pure, and
 * called with the annotations of every child of the engine's clusters.
 */
export type Heartbeats = (annotations: Readonly<Record<string, string>>) => Readonly<Record<string, string>>;

/**
 * What goes on while the spec as a whole is not valid, and while a cluster that is deleted waits for its last backup. It
 * rests on `fields` of the spec alone; the others have their defaults.
 */
export interface Maintenance<Spec> {
  readonly fields: readonly string[];
  /** Only reads. An action may rest on the rest of the spec no more than this does. */
  plan(cluster: Cluster<Spec>, io: EngineContext, children: Children): Promise<readonly Step[]>;
}

/** As the runtime has it: with the engine's own actions. */
export interface KeptUp extends Maintenance<unknown> {
  act?(action: EngineAction, cluster: Cluster, io: EngineContext): Promise<void>;
}

export interface Engine<Spec, Observed, Situation, Action extends EngineAction> {
  readonly definition: Definition;
  /** What the controller needs for this engine's children; RBAC is the union over all engines. */
  readonly permissions: readonly PolicyRule[];
  /** Ports of its processes that it connects to: the operator's NetworkPolicy opens these and no others. */
  readonly ports: readonly number[];
  /** The complete set of children of a cluster at the size its spec asks for. */
  resources(cluster: Cluster<Spec>): readonly Desired[];
  /** Asks the processes. A member that does not answer in time is a value, not an error. */
  observe(cluster: Cluster<Spec>, children: Children, io: EngineContext): Promise<Observed>;
  /** What the cluster, its children and the answers mean together. Built once a pass, for the plan and for the status. */
  situation(cluster: Cluster<Spec>, children: Children, observed: Observed): Situation;
  /** `take` makes what takes a backup of the cluster, for a plan that must not go on without one. */
  plan(situation: Situation, take: BackupFactory): DeferrablePlan<Action>;
  act(action: Action, cluster: Cluster<Spec>, io: EngineContext): Promise<void>;
  status(situation: Situation, plan: Plan<Action>): StatusReport;
  /** What is observed when nothing exists yet: for offline plans. */
  readonly offlineObservation: Observed;
  /** What follows in later passes, in words, as far as the spec and what there is tell. */
  forecast?(cluster: Cluster<Spec>, children: Children): readonly string[];
  readonly listener?: Listener<Spec>;
  readonly withoutHeartbeats?: Heartbeats;
  /** Absent for what keeps no data. */
  readonly backup?: BackupSupport<Spec>;
  readonly maintenance?: Maintenance<Spec>;
}

/** Another resource of the same namespace, by one of our kinds. */
export interface ObjectReference {
  readonly kind: string;
  readonly name: string;
}

/** What would be done, and what the status says then. */
export interface Judgement {
  readonly plan: Plan;
  readonly status: StatusReport;
}

/** One pass's findings, with the action type closed over: what the runtime works with. */
export interface Assessment extends Judgement {
  /** For the time in which the plan has to wait: see `DeferrablePlan`. */
  readonly otherwise?: Judgement;
  act(action: EngineAction): Promise<void>;
}

/**
 * An engine with its own types hidden, so that engines of different types fit one list; or what stands in the same list
 * though it runs no database: a kind whose children are Jobs.
 */
export interface KindHandler {
  readonly name: string;
  readonly kind: KindDefinition;
  readonly reference?: ReferenceOptions;
  /** Absent for what is no database. */
  shell?(host: string, spec: object): string;
  readonly permissions: readonly PolicyRule[];
  readonly ports: readonly number[];
  /**
   * For a kind that is about a cluster of another kind: which one. It is looked up and handed to the functions below,
   * valid and with its defaults, and a change of it is a reason to look again.
   */
  targetRef?(cluster: Cluster): ObjectReference;
  resources(cluster: Cluster, referred?: Cluster): readonly Desired[];
  /** Observes the processes and plans. */
  assess(
    cluster: Cluster,
    children: Children,
    io: EngineContext,
    referred?: Cluster,
    /** Other resources of this kind that are about the same cluster, as they are written. */
    peers?: readonly KubeObject[],
  ): Promise<Assessment>;
  /** Whether `assess` asks the processes of the cluster that it is about. */
  readonly asksTarget?: true;
  /**
   * What has to be taken away inside that cluster before the resource may go, under `deletionPolicy: Delete`. Settled when nothing is
   * left; undefined where there is no such cluster.
   */
  removal?(
    cluster: Cluster,
    io: EngineContext,
    referred?: Cluster,
  ): Promise<Pick<Assessment, 'plan' | 'act'> | undefined>;
  /** Plans from the custom resource alone, as if nothing existed. */
  planOffline(cluster: Cluster, referred?: Cluster): Plan;
  /** As above. Of a kind that is about another cluster, it can be told without that one. */
  forecast?(cluster: Cluster, children: Children): readonly string[];
  readonly listener?: Listener<unknown>;
  readonly withoutHeartbeats?: Heartbeats;
  /**
   * What has to be done before anything of a cluster that is being deleted may go; undefined where nothing has. `now`
   * in milliseconds.
   */
  lastBackup?(cluster: Cluster, children: Children, now: number): Plan | undefined;
  /** Whether there are volumes of its name, and all are an earlier cluster's: none of them is deleted with it. */
  ownsNoVolume?(cluster: Cluster, children: Children): boolean;
  /** Absent for what is no database. */
  readonly backup?: BackupSupport<unknown>;
  readonly maintenance?: KeptUp;
}
