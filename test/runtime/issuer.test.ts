/** Certificates on their way into Secrets: written once, under the condition that they are still what was seen. */
import { X509Certificate } from 'node:crypto';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { makeAuthority } from '../../src/certificates/certificate.ts';
import { authoritySeen, digestOf, type Values } from '../../src/certificates/facts.ts';
import type { Issue } from '../../src/certificates/issue.ts';
import type { Step } from '../../src/plan/plan.ts';
import { instanceLabel, managedBy, managedByLabel, nameLabel } from '../../src/resources/metadata.ts';
import { createExecutor, type ExecutorOptions } from '../../src/runtime/executor.ts';
import { NameConflict } from '../../src/runtime/name-conflict.ts';
import { type ControllerParts, controllerParts } from '../support/controller-parts.ts';
import { madeBy, madeCa } from '../support/issued-secrets.ts';

const now = Date.parse('2030-01-01T00:00:00Z');
const labels = { [managedByLabel]: managedBy, [instanceLabel]: 'db' };

let parts: ControllerParts;
let learned: Record<string, Values>;
let stale: string[];
beforeEach(async () => {
  parts = await controllerParts();
  [learned, stale] = [{}, []];
});
afterEach(() => parts.stop());

const secret = (name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace: 'apps', labels },
  type: 'Opaque',
});

const step = (name: string, issue: Issue): Step => ({
  type: 'issue',
  object: secret(name),
  issue,
  reason: 'it is wanted',
});

function run(...steps: readonly Step[]): Promise<unknown> {
  const options: ExecutorOptions = {
    client: parts.client,
    cache: parts.cache,
    now: () => now,
    onSecret: ({ metadata }, values) => {
      learned[metadata.name] = values;
    },
    onStaleSecret: (namespace, name) => void stale.push(`${namespace}/${name}`),
  };
  return createExecutor(options).run(steps, async () => undefined, new AbortController().signal);
}

function valuesIn(name: string): Values | undefined {
  const data = parts.api.get('Secret', name)?.data as Values | undefined;
  if (data === undefined) return undefined;
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]));
}

const authority = (seen = ''): Step =>
  step('db-peer-ca', { what: 'authority', name: 'db-peer-ca', hours: 87_600, seen });
const leaf = (seen = ''): Step =>
  step('db-peer-tls', {
    what: 'leaf',
    authority: 'db-peer-ca',
    hours: 2160,
    renew: true,
    organisation: 'db',
    names: ['*.db.apps.svc'],
    usages: ['server', 'client'],
    seen,
  });

it('an authority and what it signs are made one after the other, and known at once', async () => {
  await run(authority(), leaf());
  expect(parts.api.writes).toEqual(['POST apps/secrets', 'POST apps/secrets']);
  expect([learned['db-peer-ca'], learned['db-peer-tls']]).toEqual([valuesIn('db-peer-ca'), valuesIn('db-peer-tls')]);
  const [above, below] = ['db-peer-ca', 'db-peer-tls'].map(
    (name) => new X509Certificate(valuesIn(name)?.['tls.crt'] ?? ''),
  );
  expect(above !== undefined && below?.verify(above.publicKey)).toBe(true);
});

it('a renewed one takes the place of the one before, and nothing else changes', async () => {
  await run(authority(), leaf());
  const before = valuesIn('db-peer-tls');
  await run(leaf(digestOf(before)));
  const after = valuesIn('db-peer-tls');
  expect(parts.api.writes.at(-1)).toBe('PATCH secrets/db-peer-tls');
  expect([after?.['ca.crt'], Object.keys(after ?? {}).sort()]).toEqual([
    before?.['ca.crt'],
    Object.keys(before ?? {}).sort(),
  ]);
  expect([after?.['tls.crt'] === before?.['tls.crt'], after?.['tls.key'] === before?.['tls.key']]).toEqual([
    false,
    false,
  ]);
});

it('nothing is signed with the key of another one, and the authority is read again', async () => {
  await run(authority());
  const authorityBefore = parts.api.get('Secret', 'db-peer-ca');
  const { key } = makeAuthority('another', { from: now, to: now + 3_600_000 });
  const data = { ...(authorityBefore?.data as Values), 'tls.key': Buffer.from(key).toString('base64') };
  parts.api.put({ ...secret('db-peer-ca'), data });
  await expect(run(leaf())).rejects.toThrow('the key in Secret db-peer-ca is not that of its certificate');
  expect([valuesIn('db-peer-tls'), stale]).toEqual([undefined, ['apps/db-peer-ca']]);
});

it('what is over goes out of the Secret', async () => {
  await run(authority());
  for (const what of ['successor', 'succession', 'retirement'] as const) {
    const own = { name: 'db-peer-ca', hours: 87_600, seen: digestOf(valuesIn('db-peer-ca')) };
    await run(step('db-peer-ca', what === 'successor' ? { what, ...own } : { what, seen: own.seen }));
  }
  expect(Object.keys(valuesIn('db-peer-ca') ?? {}).sort()).toEqual(['changed', 'generation', 'tls.crt', 'tls.key']);
  expect(authoritySeen(valuesIn('db-peer-ca')).facts).toMatchObject({ generation: 4, changed: now });
});

it('a Secret of that name which is not ours is left alone', async () => {
  const theirs = { ...secret('db-peer-ca'), metadata: { name: 'db-peer-ca', namespace: 'apps' }, data: { a: 'Yg==' } };
  parts.api.put(theirs);
  await expect(run(authority())).rejects.toThrow(NameConflict);
  await expect(run(authority(digestOf({ a: 'b' })))).rejects.toThrow(NameConflict);
  expect(valuesIn('db-peer-ca')).toEqual({ a: 'b' });
});

it('a Secret that cert-manager has left to us is taken over, and no other one of its', async () => {
  const values = madeBy(madeCa('theirs', now), ['*.db.apps.svc'], now);
  const data = Object.fromEntries(Object.entries(values).map(([key, value]) => [key, btoa(value)]));
  const left = (certificate: string): KubeObject => ({
    ...secret('db-peer-tls'),
    metadata: {
      name: 'db-peer-tls',
      namespace: 'apps',
      annotations: { 'cert-manager.io/certificate-name': certificate, other: 'stays' },
    },
    data,
  });
  parts.api.put({ ...secret('db-peer-issued'), data });
  const digest = digestOf(values);
  const copy = step('db-peer-tls', { what: 'copy', part: 'all', from: 'db-peer-issued', source: digest, seen: digest });
  parts.api.put(left('another'));
  await expect(run(copy)).rejects.toThrow(NameConflict);
  parts.api.put(left('db-peer-tls'));
  await expect(run(leaf(digest))).rejects.toThrow(NameConflict);
  await run(copy);
  expect(parts.api.get('Secret', 'db-peer-tls')?.metadata).toMatchObject({ labels, annotations: { other: 'stays' } });
  expect(parts.api.get('Secret', 'db-peer-tls')?.metadata.annotations).not.toHaveProperty([
    'cert-manager.io/certificate-name',
  ]);
  expect(valuesIn('db-peer-tls')).toEqual(values);
});

it('a copy is made only of what was looked at, which is read again', async () => {
  const values = madeBy(madeCa('theirs', now), ['*.db.apps.svc'], now);
  parts.api.put({ ...secret('db-peer-issued'), data: { 'tls.crt': btoa('another') } });
  const source = digestOf(values);
  const copy = step('db-peer-tls', { what: 'copy', part: 'all', from: 'db-peer-issued', source, seen: '' });
  await expect(run(copy)).rejects.toThrow('Secret db-peer-issued is not as it was');
  expect([valuesIn('db-peer-tls'), stale]).toEqual([undefined, ['apps/db-peer-issued']]);
});

it('a Secret of another cluster of ours is left alone', async () => {
  const metadata = { name: 'db-peer-ca', namespace: 'apps', labels: { ...labels, [instanceLabel]: 'other' } };
  parts.api.put({ ...secret('db-peer-ca'), metadata, data: { a: 'Yg==' } });
  await expect(run(authority(digestOf({ a: 'b' })))).rejects.toThrow(NameConflict);
});

it('an authority of another cluster of ours signs nothing', async () => {
  await run(authority());
  const { metadata, ...rest } = parts.api.get('Secret', 'db-peer-ca') ?? secret('db-peer-ca');
  for (const other of [{ [instanceLabel]: 'other' }, { [nameLabel]: 'etcd' }, { [managedByLabel]: 'somebody' }]) {
    parts.api.put({ ...rest, metadata: { ...metadata, labels: { ...labels, ...other } } });
    await expect(run(leaf())).rejects.toThrow(NameConflict);
    const again = { what: 'authority-again', name: 'db-ca', hours: 87_600, from: 'db-peer-ca', seen: '' } as const;
    await expect(run(step('db-ca', again))).rejects.toThrow(/Secret db-peer-ca exists and belongs to/);
  }
  expect([valuesIn('db-peer-tls'), valuesIn('db-ca')]).toEqual([undefined, undefined]);
});

it('nothing is written over what nobody has seen', async () => {
  await run(authority());
  const before = valuesIn('db-peer-ca');
  await expect(run(authority())).rejects.toThrow('it is not as it was when this was decided');
  expect([valuesIn('db-peer-ca'), stale]).toEqual([before, ['apps/db-peer-ca']]);
});

it('nor over what comes in between', async () => {
  await run(authority(), leaf());
  const { writes } = parts.api;
  const seen = digestOf(valuesIn('db-peer-tls'));
  parts.api.intercept = ({ method }) => {
    if (method === 'PATCH') {
      parts.api.intercept = () => undefined;
      parts.api.put({ ...secret('db-peer-tls'), data: { 'tls.crt': 'Yg==' } });
    }
    return undefined;
  };
  await expect(run(leaf(seen))).rejects.toThrow('issue Secret db-peer-tls: it is wanted');
  expect([valuesIn('db-peer-tls')?.['tls.crt'], writes.length]).toEqual(['b', 3]);
});
