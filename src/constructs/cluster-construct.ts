/**
 * Clusters in a user's own cdk8s app, checked at synth by the same rules as in the API server. What is written to the
 * manifest is what the user wrote: defaults are the API server's to fill in.
 */
import { type ApiObject, Chart } from 'cdk8s';
import { Construct } from 'constructs';
import { apiVersionOf, type KubeObject } from '../api/object.ts';
import { validateCluster } from '../api/validate.ts';
import type { Definition } from '../engine/definition.ts';
import { type Connection, connectionTo } from './connection.ts';
import { plainObject } from './plain-object.ts';

export interface ClusterProps<Input extends object> {
  readonly metadata: {
    /** At most 40 characters; the names of all children derive from it. */
    readonly name: string;
    /** Default: what kubectl or the GitOps tool chooses. */
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  /** Default: the kind's own, with nothing set. */
  readonly spec?: Input;
}

export interface ClusterConstruct extends Construct {
  readonly apiObject: ApiObject;
  /** What an application needs to connect. Host names have the namespace where the metadata or the chart names it. */
  readonly connection: Connection;
}

/** The construct of an engine's clusters, with the names of the Services and Secrets that lead to one. */
export function clusterConstruct<Input extends object, Endpoints extends object>(
  definition: Definition<Input, Endpoints>,
): new (
  scope: Construct,
  id: string,
  props: ClusterProps<Input>,
) => ClusterConstruct & Endpoints {
  const { kind } = definition;
  class Cluster extends Construct {
    readonly apiObject: ApiObject;
    readonly connection: Connection;

    constructor(scope: Construct, id: string, props: ClusterProps<Input>) {
      super(scope, id);
      const { metadata, spec = {} as Input } = props;
      const { resource } = kind;
      const object: KubeObject = { apiVersion: apiVersionOf(resource), kind: resource.kind, metadata, spec };
      this.apiObject = plainObject(this, 'Resource', object);
      Object.assign(this, definition.endpoints(metadata.name, spec));
      const namespace = metadata.namespace ?? Chart.of(this).namespace;
      const reached = { name: metadata.name, ...(namespace === undefined ? {} : { namespace }) };
      this.connection = connectionTo(this, definition.connection?.(reached, spec) ?? { services: {}, env: {} });
      this.node.addValidation({
        validate: () => {
          const verdict = validateCluster(kind, object);
          return verdict.ok ? [] : verdict.violations.map(({ path, message }) => `${path}: ${message}`);
        },
      });
    }
  }
  return Cluster as unknown as new (
    scope: Construct,
    id: string,
    props: ClusterProps<Input>,
  ) => ClusterConstruct & Endpoints;
}
