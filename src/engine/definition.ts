/** What people meet of an engine: data and names, for constructs, samples, documentation and the command line. */
import type { KindDefinition } from '../api/kind.ts';
import type { ReferenceOptions } from '../api/reference.ts';
import type { Connection } from './connection.ts';

export interface Definition<Input extends object = object, Endpoints extends object = object> {
  /**
   * Short name, also the prefix of its action types: `redis`. Objects and volumes are found by it, so no other engine in the
   * same Kubernetes cluster may have it.
   */
  readonly name: string;
  readonly kind: KindDefinition;
  /** Services and Secrets by which a cluster of this name is reached. `spec` as a user writes it. */
  endpoints(cluster: string, spec: Input): Endpoints;
  /** What an application needs to connect. `spec` as a user writes it. Absent: nothing is known. */
  connection?(cluster: { readonly name: string; readonly namespace?: string }, spec: Input): Connection;
  /** What its pods run where a cluster names no image, in each version that the kind's schema names. They are listed for mirrors. */
  readonly images?: readonly string[];
  /** The cluster with nothing but a name that `up` creates. */
  readonly sample: { readonly name: string };
  /** A command line within one of its pods that shows that a client is served; `host` is that of its first Service. `spec` as a user writes it. */
  shell?(host: string, spec: Input): string;
  readonly reference?: ReferenceOptions;
}
