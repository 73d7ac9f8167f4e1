/** Where the certificate of a RedisCluster comes from, and what TLS cannot be used together with. */
import type { Case } from './case.ts';
import { certificatesOf } from './certificate-cases.ts';

const server = { selfManaged: {} };
const tls = { server };

export const redisTlsCases: readonly Case[] = [
  ...certificatesOf('server'),
  { story: 'TLS with certificates of the operator', spec: { tls } },
  { story: 'TLS beside plaintext, said', spec: { tls: { mode: 'Optional', server } } },
  { story: 'TLS of a single node', spec: { mode: 'Standalone', replicas: 1, tls } },
  { story: 'TLS behind a proxy', spec: { tls, proxy: {} } },
  { story: 'TLS that is added', old: {}, spec: { tls } },
  { story: 'TLS that is removed', old: { tls }, spec: {} },
  { story: 'TLS with another source', old: { tls }, spec: { tls: { server: { secretRef: { name: 'a' } } } } },

  { story: 'TLS without a certificate', spec: { tls: {} }, refused: 'spec.tls.server' },
  { story: 'TLS in a way that there is not', spec: { tls: { mode: 'Required', server } }, refused: 'spec.tls.mode' },
  { story: 'TLS of shards', spec: { mode: 'Cluster', tls }, refused: 'spec.tls' },
];
