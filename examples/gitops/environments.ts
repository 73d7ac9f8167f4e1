/** What differs between the environments. A change goes to staging first, and then, as a second commit, to production. */

export interface Environment {
  readonly name: string;
  /** API server, as Argo CD knows it. */
  readonly server: string;
  /** Image of the operator, by digest in production. */
  readonly operatorImage: string;
  readonly instances: 1 | 2 | 3;
  readonly storage: string;
}

export const environments: readonly Environment[] = [
  {
    name: 'staging',
    server: 'https://staging.example.com:6443',
    operatorImage: 'registry.example/clusterwright:0.1.0',
    instances: 2,
    storage: '5Gi',
  },
  {
    name: 'production',
    server: 'https://production.example.com:6443',
    operatorImage:
      'registry.example/clusterwright@sha256:0000000000000000000000000000000000000000000000000000000000000000',
    instances: 3,
    storage: '50Gi',
  },
];
