/**
 * The children of a cluster as constructs: what the controller would create for a custom resource, for review and for
 * golden tests. The objects are the builders' own.
 */
import { Construct } from 'constructs';
import type { KubeObject } from '../api/object.ts';
import { validateCluster } from '../api/validate.ts';
import { engines } from '../engines/index.ts';
import { plainObject } from './plain-object.ts';

export interface RenderedClusterProps {
  /** A custom resource of one of our kinds, as a user writes it. */
  readonly cluster: KubeObject;
}

export class RenderedCluster extends Construct {
  /** Throws where the kind is not ours or the object is not valid: there is nothing to render then. */
  constructor(scope: Construct, id: string, props: RenderedClusterProps) {
    super(scope, id);
    const { cluster } = props;
    const engine = engines.find((candidate) => candidate.kind.resource.kind === cluster.kind);
    if (engine === undefined) throw new Error(`${this.node.path}: no engine serves the kind ${cluster.kind}`);
    const verdict = validateCluster(engine.kind, cluster);
    if (!verdict.ok) {
      const faults = verdict.violations.map(({ path, message }) => `${path}: ${message}`);
      throw new Error(`${this.node.path}: ${cluster.kind}/${cluster.metadata.name} is not valid\n${faults.join('\n')}`);
    }
    for (const { object } of engine.resources(verdict.cluster)) {
      plainObject(this, `${object.kind}-${object.metadata.name}`, object);
    }
  }
}
