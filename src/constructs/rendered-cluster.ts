/**
 * The children of a cluster as constructs: what the controller would create for a custom resource, for review and for
 * golden tests. The objects are the builders' own.
 */
import { Construct } from 'constructs';
import type { Cluster } from '../api/cluster.ts';
import type { KubeObject } from '../api/object.ts';
import { validateCluster } from '../api/validate.ts';
import type { KindHandler } from '../engine/engine.ts';
import { engines as ownEngines } from '../engines/index.ts';
import { type DefinedEngine, handlersOf } from '../jobs/handlers.ts';
import { plainObject } from './plain-object.ts';

export interface RenderedClusterProps {
  /** Default: those of this package. */
  readonly engines?: readonly DefinedEngine[];
  /** A custom resource of one of our kinds, as a user writes it. */
  readonly cluster: KubeObject;
  /** The cluster that `spec.cluster` of `cluster` names. A kind with that field, such as Backup, is not rendered without it. */
  readonly referred?: KubeObject;
  /** That of the operator: see `OperatorProps`. */
  readonly imageRegistry?: string;
  /** Where the operator runs: NetworkPolicies let it in. Default: `clusterwright-system`. */
  readonly operatorNamespace?: string;
}

export class RenderedCluster extends Construct {
  /** Throws where the kind is not ours or the object is not valid: there is nothing to render then. */
  constructor(scope: Construct, id: string, props: RenderedClusterProps) {
    super(scope, id);
    const { cluster, referred, imageRegistry, operatorNamespace, engines = ownEngines } = props;
    const handlers = handlersOf(engines, undefined, { imageRegistry, operatorNamespace });
    const { engine, valid } = this.#understood(cluster, handlers);
    const about = referred === undefined ? undefined : this.#understood(referred, handlers).valid;
    if (engine.targetRef !== undefined && about === undefined) {
      throw new Error(
        `${this.node.path}: a ${cluster.kind} is rendered with \`referred\`, the cluster that it is about`,
      );
    }
    for (const { object } of engine.resources(valid, about)) {
      plainObject(this, `${object.kind}-${object.metadata.name}`, object);
    }
  }

  #understood(
    object: KubeObject,
    handlers: readonly KindHandler[],
  ): { readonly engine: KindHandler; readonly valid: Cluster } {
    const engine = handlers.find((candidate) => candidate.kind.resource.kind === object.kind);
    if (engine === undefined) throw new Error(`${this.node.path}: no engine serves the kind ${object.kind}`);
    const verdict = validateCluster(engine.kind, object);
    if (verdict.ok) return { engine, valid: verdict.cluster };
    const faults = verdict.violations.map(({ path, message }) => `${path}: ${message}`);
    throw new Error(`${this.node.path}: ${object.kind}/${object.metadata.name} is not valid\n${faults.join('\n')}`);
  }
}
