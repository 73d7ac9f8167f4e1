/** How an application reaches a cluster, as data: constructs turn it into what a Deployment takes. */

export interface Place {
  /** Name of the Service, with its namespace where that is known. */
  readonly host: string;
  readonly port: number;
}

/** A key of a Secret in the namespace of the cluster. */
export interface SecretKey {
  readonly secretName: string;
  readonly key: string;
}

export interface Connection {
  /** The Services, by what they are for. */
  readonly services: Readonly<Record<string, Place>>;
  /** Environment variables, by their names. */
  readonly env: Readonly<Record<string, string | SecretKey>>;
  /** PEM of the CAs that clients verify the servers with. Absent: without TLS, or by a certificate that the spec names. */
  readonly ca?: SecretKey;
}

/** `place(SERVICE, PORT)`, as an application in another namespace needs it where the namespace is known. */
export function placesIn(namespace: string | undefined): (service: string, port: number) => Place {
  return (service, port) => ({ host: namespace === undefined ? service : `${service}.${namespace}.svc`, port });
}
