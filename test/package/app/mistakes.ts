import type { OperatorProps, RedisClusterProps } from 'clusterwright';

/** What a compiler must find before anything is synthesized. */
export const clusters: readonly RedisClusterProps[] = [
  // @ts-expect-error a mistyped field
  { metadata: { name: 'a' }, spec: { replica: 3 } },
  // @ts-expect-error a directive that belongs to the operator
  { metadata: { name: 'a' }, spec: { config: { appendonly: 'no' } } },
  // @ts-expect-error a value that is not among those allowed
  { metadata: { name: 'a' }, spec: { config: { appendfsync: 'no' } } },
  // @ts-expect-error no name
  { metadata: {}, spec: {} },
];
// @ts-expect-error neither all namespaces nor some
export const operator: OperatorProps = { watch: {} };
