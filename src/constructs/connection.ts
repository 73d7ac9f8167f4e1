/** What an application needs to connect to a cluster, as values that cdk8s-plus takes. */
import { EnvValue, type ISecret, Secret } from 'cdk8s-plus-28';
import type { Construct } from 'constructs';
import type { Connection as Facts, Place, SecretKey } from '../engine/connection.ts';

export interface Connection {
  /** The Services, by what they are for: host and port. */
  readonly services: Readonly<Record<string, Place>>;
  /** Environment variables for a container of cdk8s-plus: `new Deployment(..., { containers: [{ envVariables }] })`. */
  env(): Record<string, EnvValue>;
  /** A Secret of the cluster, which the operator makes or the spec names. */
  secret(name: string): ISecret;
  /** Where the CAs are that clients verify the servers with. */
  readonly ca?: SecretKey;
}

export function connectionTo(scope: Construct, { services, env, ca }: Facts): Connection {
  const secret = (name: string): ISecret => {
    const id = `secret-${name}`;
    return (scope.node.tryFindChild(id) as ISecret | undefined) ?? Secret.fromSecretName(scope, id, name);
  };
  const envValue = (source: string | SecretKey): EnvValue =>
    typeof source === 'string'
      ? EnvValue.fromValue(source)
      : EnvValue.fromSecretValue({ secret: secret(source.secretName), key: source.key });
  return {
    services,
    secret,
    env: () => Object.fromEntries(Object.entries(env).map(([name, source]) => [name, envValue(source)])),
    ...(ca === undefined ? {} : { ca }),
  };
}
