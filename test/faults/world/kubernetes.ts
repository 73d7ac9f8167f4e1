/** What a scenario, a fault and an oracle may do to the simulated Kubernetes, and see of it. */
import type { KubeObject } from '../../../src/api/object.ts';
import type { Transport } from '../../../src/runtime/transport.ts';
import type { Volume } from './workload.ts';

/** One change of one object, as the store took it. */
export interface Commit {
  /** The resourceVersion that it got. */
  readonly version: number;
  /** Milliseconds of virtual time. */
  readonly at: number;
  /** Whose request it was: an actor of `transport`, or a controller of Kubernetes such as `statefulset-controller`. */
  readonly actor: string;
  readonly verb: 'create' | 'update' | 'delete';
  /** Plural name: `pods`. */
  readonly resource: string;
  /** `status` where only that was written. */
  readonly subresource?: string;
  /** Undefined on a create. */
  readonly before: KubeObject | undefined;
  /** Undefined once the object is gone. */
  readonly after: KubeObject | undefined;
}

export interface SimulatedKubernetes {
  /** The wire of one actor: `clusterwright` for the operator, any other name for whoever else. */
  transport(actor: string): Transport;
  /** Every commit so far, oldest first. */
  readonly commits: readonly Commit[];
  onCommit(call: (commit: Commit) => void): void;
  /** Everything that exists, of every kind. */
  objects(): readonly KubeObject[];
  /** The objects of one resource as they were when the store stood at that version. */
  objectsAt(version: number): readonly KubeObject[];
  readonly version: number;
  /** Forgets the history: a watch or a continued list from before now gets 410. */
  compact(): void;

  /** Kills the main process of a pod's container; the kubelet restarts it as its policy says. */
  killContainer(namespace: string, pod: string): void;
  /** The node's power is gone: its programs end, its kubelet is silent. Pods stay as objects. */
  stopNode(node: string): void;
  startNode(node: string): void;
  readonly nodes: readonly string[];
  /** The content of a claim's volume is gone; whoever mounts it next finds it blank. */
  loseVolume(namespace: string, claim: string): void;
  /** The content of a claim's volume. Undefined where there is no such claim. */
  volumeOf(namespace: string, claim: string): Volume | undefined;
  /** Deletes a pod as a person would. */
  deletePod(namespace: string, pod: string): Promise<void>;
}
