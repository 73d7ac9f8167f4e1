/** What the stories about real members have in common: a host to play on, and questions to ask. */
import { closeSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { callEtcd } from '../../src/engines/etcd/client/gateway.ts';
import { clientPort, retiredAnnotation } from '../../src/engines/etcd/names.ts';
import { type EtcdHost, etcdHost } from './etcd-host.ts';
import type { EtcdOperator } from './etcd-operator.ts';

/**
 * Each story has a network of its own, so that several can be told at once: 127.`first`.0.0/16 and those after it. Files
 * that may run at once begin far enough from each other.
 */
export function storiesFrom(first: number): (tell: (host: EtcdHost) => Promise<void>) => () => Promise<void> {
  let networks = first;
  return (tell) => async () => {
    const host = etcdHost(networks);
    networks += 1;
    try {
      await tell(host);
    } finally {
      await host.close();
    }
  };
}

export const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** Through the gateway of one member. */
export async function put(host: EtcdHost, pod: string, key: string, value: string): Promise<void> {
  await callEtcd(host.io, host.address(pod), 'kv/put', { key: base64(key), value: base64(value) }, 5000);
}

/** Of any length, which the operator itself would not take. */
export async function get(host: EtcdHost, pod: string, key: string): Promise<string | undefined> {
  const { status, body } = await host.io.exchange({
    host: host.address(pod),
    port: clientPort,
    method: 'POST',
    path: '/v3/kv/range',
    body: JSON.stringify({ key: base64(key) }),
    signal: AbortSignal.timeout(5000),
  });
  if (status !== 200) throw new Error(body);
  const { kvs } = JSON.parse(body) as { readonly kvs?: readonly { readonly value: string }[] };
  const value = kvs?.[0]?.value;
  return value === undefined ? undefined : Buffer.from(value, 'base64').toString();
}

export const roles = ({ cluster }: EtcdOperator): Record<string, string> =>
  Object.fromEntries((cluster.status?.members ?? []).map(({ name, role }) => [name, role]));

export const leaderOf = (operator: EtcdOperator): string => operator.cluster.status?.primary ?? '';

/** What was asked of etcd, each request once though it may have been repeated. */
export const asked = ({ history }: EtcdOperator): string[] =>
  history.filter(
    (line, i) => /^(add|remove|give|make|delete Pod|delete StatefulSet)/.test(line) && line !== history[i - 1],
  );

export const claims = (host: EtcdHost): Record<string, string> =>
  Object.fromEntries(
    host
      .children()
      .claims.map(({ metadata }) => [
        metadata.name,
        metadata.annotations?.[retiredAnnotation] === undefined ? 'held' : 'retired',
      ]),
  );

/** Of all keys with their history, one of each member that holds others than the rest: a single one where all agree. */
export async function hashes(host: EtcdHost, pods: readonly string[]): Promise<ReadonlySet<unknown>> {
  const found = await Promise.all(
    pods.map(async (pod) => {
      // A linearizable read waits until the member has applied everything that was acknowledged.
      await get(host, pod, 'any');
      return (await callEtcd(host.io, host.address(pod), 'maintenance/hashkv', {}, 5000)).hash;
    }),
  );
  return new Set(found);
}

/** Overwrites bytes of a file at these places. */
export function damage(file: string, ...places: readonly number[]): void {
  const content = readFileSync(file);
  for (const place of places) content.write('garbage garbage garbage garbage', place);
  writeFileSync(file, content);
}

/**
 * Where the records of a write-ahead log begin. Before each stands its length: eight bytes, the lowest first, of which the
 * highest has the top bit set and the padding in its low three bits where there is any.
 */
export function recordsOf(file: string): number[] {
  const content = readFileSync(file);
  const found: number[] = [];
  for (let at = 0; at + 8 <= content.length; ) {
    const length = content.readUIntLE(at, 6);
    const highest = content[at + 7] ?? 0;
    if (length === 0) break;
    found.push(at);
    at += 8 + length + (highest >= 128 ? highest & 7 : 0);
  }
  return found;
}

export function replaceIn(file: string, text: string, by: string): void {
  writeFileSync(file, Buffer.from(readFileSync(file, 'latin1').replaceAll(text, by), 'latin1'));
}

/** Under a process that runs: it has the file mapped, so it is neither cut nor written anew. Throws where it is not there. */
export function changeInPlace(file: string, text: string, by: string): void {
  const content = readFileSync(file, 'latin1');
  const places: number[] = [];
  for (let at = content.indexOf(text); at !== -1; at = content.indexOf(text, at + text.length)) places.push(at);
  if (places.length === 0) throw new Error(`${file} does not hold the text`);
  const descriptor = openSync(file, 'r+');
  try {
    for (const at of places) writeSync(descriptor, by, at, 'latin1');
  } finally {
    closeSync(descriptor);
  }
}
