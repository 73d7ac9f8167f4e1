/**
 * A RedisCluster in a user's own cdk8s app. It is checked at synth by the same rules as in the API server, and what is
 * written to the manifest is what the user wrote: defaults are the API server's to fill in.
 */
import type { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { apiVersionOf, type KubeObject } from '../api/object.ts';
import { type RedisSpecInput, redisKind } from '../api/redis.ts';
import { validateCluster } from '../api/validate.ts';
import { redisNames } from '../engines/redis/names.ts';
import { plainObject } from './plain-object.ts';

export interface RedisClusterProps {
  readonly metadata: {
    /** At most 40 characters; the names of all children derive from it. */
    readonly name: string;
    /** Default: what kubectl or the GitOps tool chooses. */
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  /** Default: three data nodes under three sentinels, with 2Gi of storage and 512Mi of memory each. */
  readonly spec?: RedisSpecInput;
}

export class RedisCluster extends Construct {
  readonly apiObject: ApiObject;
  /** Name of the Service whose endpoint is the primary, on port 6379. */
  readonly primaryService: string;
  /** Name of the Service with all replicas, on port 6379. */
  readonly replicasService: string;
  /** Name of the Service of the sentinels, on port 26379. */
  readonly sentinelService: string;
  /** Name of the Secret with the password, and the key in it. */
  readonly password: { readonly secretName: string; readonly key: string };

  constructor(scope: Construct, id: string, props: RedisClusterProps) {
    super(scope, id);
    const { metadata, spec = {} } = props;
    const object: KubeObject = {
      apiVersion: apiVersionOf(redisKind.resource),
      kind: redisKind.resource.kind,
      metadata,
      spec,
    };
    this.apiObject = plainObject(this, 'Resource', object);
    const names = redisNames(metadata.name);
    this.primaryService = names.primary;
    this.replicasService = names.replicas;
    this.sentinelService = names.sentinel;
    const { name: secretName = names.auth, key = 'password' } = spec.auth?.secretRef ?? {};
    this.password = { secretName, key };
    this.node.addValidation({
      validate: () => {
        const verdict = validateCluster(redisKind, object);
        return verdict.ok ? [] : verdict.violations.map(({ path, message }) => `${path}: ${message}`);
      },
    });
  }
}
