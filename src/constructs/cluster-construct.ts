/** Clusters in a user's own cdk8s app. */
import { type ApiObject, Chart } from 'cdk8s';
import { Construct } from 'constructs';
import type { Definition } from '../engine/definition.ts';
import { checkedObject, type ResourceMetadata } from './checked-object.ts';
import { type Connection, connectionTo } from './connection.ts';

export interface ClusterProps<Input extends object> {
  readonly metadata: ResourceMetadata;
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
      this.apiObject = checkedObject(this, kind, { metadata, spec });
      Object.assign(this, definition.endpoints(metadata.name, spec));
      const namespace = metadata.namespace ?? Chart.of(this).namespace;
      const reached = { name: metadata.name, ...(namespace === undefined ? {} : { namespace }) };
      this.connection = connectionTo(this, definition.connection?.(reached, spec) ?? { services: {}, env: {} });
    }
  }
  return Cluster as unknown as new (
    scope: Construct,
    id: string,
    props: ClusterProps<Input>,
  ) => ClusterConstruct & Endpoints;
}
