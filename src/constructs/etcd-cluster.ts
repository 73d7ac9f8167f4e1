/**
 * An EtcdCluster in a user's own cdk8s app, checked at synth by the same rules as in the API server. What is written to
 * the manifest is what the user wrote.
 */
import type { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { type EtcdSpecInput, etcdKind } from '../api/etcd.ts';
import { apiVersionOf, type KubeObject } from '../api/object.ts';
import { validateCluster } from '../api/validate.ts';
import { etcdNames } from '../engines/etcd/names.ts';
import { plainObject } from './plain-object.ts';

export interface EtcdClusterProps {
  readonly metadata: {
    /** At most 40 characters; the names of all children derive from it. */
    readonly name: string;
    /** Default: what kubectl or the GitOps tool chooses. */
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  /** Default: three members with 1Gi of storage and 512Mi of memory each. */
  readonly spec?: EtcdSpecInput;
}

export class EtcdCluster extends Construct {
  readonly apiObject: ApiObject;
  /** Name of the Service of the members that are ready, on port 2379. */
  readonly clientService: string;
  /** Name of the headless Service of all members, on the ports 2379 and 2380. */
  readonly peerService: string;

  constructor(scope: Construct, id: string, props: EtcdClusterProps) {
    super(scope, id);
    const { metadata, spec = {} } = props;
    const object: KubeObject = {
      apiVersion: apiVersionOf(etcdKind.resource),
      kind: etcdKind.resource.kind,
      metadata,
      spec,
    };
    this.apiObject = plainObject(this, 'Resource', object);
    const names = etcdNames(metadata.name);
    this.clientService = names.client;
    this.peerService = names.peers;
    this.node.addValidation({
      validate: () => {
        const verdict = validateCluster(etcdKind, object);
        return verdict.ok ? [] : verdict.violations.map(({ path, message }) => `${path}: ${message}`);
      },
    });
  }
}
