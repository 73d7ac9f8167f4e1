/** Secrets with certificates that nobody can read, for one since the key that they are encrypted with is away: the cluster is looked at all the same. */
import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import type { Cluster } from '../../../src/api/cluster.ts';
import type { RedisSpec } from '../../../src/engines/redis/kind/schema.ts';
import { observeRedis } from '../../../src/engines/redis/observe/observe.ts';
import { redisMaintenance } from '../../../src/engines/redis/plan/maintenance.ts';
import { madeBy, madeCa } from '../../support/issued-secrets.ts';
import { securedSample } from '../../support/redis-secured.ts';

it.each([
  ['theirs', { fault: 'cannot be read: no key' }, undefined],
  ['db-shown-tls', {}, 'a Secret with certificates cannot be read: no key'],
])('%s', async (unreadable, source, unread) => {
  const { cluster, whole } = securedSample('a', 'password-of-clients', {
    tls: { server: { secretRef: { name: 'theirs' } } },
  });
  const secret: typeof whole.io.secret = async (name, ...options) => {
    if (name === unreadable) throw new Error('no key');
    return whole.io.secret(name, ...options);
  };
  const { data, certificates } = await observeRedis(cluster as Cluster<RedisSpec>, whole.children, {
    ...whole.io,
    secret,
  });
  expect(data.map(({ state }) => state)).toEqual(['answering', 'answering', 'answering']);
  expect(certificates?.source.source).toMatchObject(source);
  expect([certificates?.unread, certificates?.copy === undefined]).toEqual([unread, unread !== undefined]);
});

it('a spec that is not valid keeps no server from a renewed certificate', async () => {
  const { cluster, whole } = securedSample('a', 'password-of-clients', {
    tls: { server: { secretRef: { name: 'theirs' } } },
  });
  const now = whole.io.now();
  const renewed = madeBy(madeCa('others', now), ['db-primary.apps.svc'], now);
  const secret: typeof whole.io.secret = async (name, ...options) =>
    ['theirs', 'db-shown-tls'].includes(name) ? renewed : whole.io.secret(name, ...options);
  const planned = (io: typeof whole.io) => redisMaintenance.plan(cluster as Cluster<RedisSpec>, io, whole.children);
  expect(await planned(whole.io)).toEqual([]);
  const steps = await planned({ ...whole.io, secret });
  expect(steps.map((step) => (step.type === 'act' ? step.action.type : step.type))).toEqual(
    Array(3).fill('redis.secure'),
  );
});

it('an RSA key of more than 4096 bits is not taken: nobody else is served while a server signs', async () => {
  const { cluster, whole } = securedSample('a', 'password-of-clients', {
    tls: { server: { secretRef: { name: 'theirs' } } },
  });
  // Of four primes, which are found in a fraction of the time.
  const key = '-newkey rsa:4104 -pkeyopt rsa_keygen_primes:4 -nodes -keyout /dev/stdout -out /dev/stdout';
  const text = execFileSync('/bin/sh', ['-c', `openssl req -x509 ${key} -subj /CN=long -days 9000 -batch | cat`], {
    encoding: 'utf8',
    stdio: 'pipe',
  });
  const crt = text.slice(text.indexOf('-----BEGIN CERT'));
  const long = { 'tls.crt': crt, 'tls.key': text.slice(0, text.indexOf('-----BEGIN CERT')), 'ca.crt': crt };
  const secret: typeof whole.io.secret = async (name, ...options) =>
    name === 'theirs' ? long : whole.io.secret(name, ...options);
  const now = () => Date.now() + 60_000;
  const { certificates } = await observeRedis(cluster as Cluster<RedisSpec>, whole.children, {
    ...whole.io,
    now,
    secret,
  });
  expect(certificates?.source.source.fault).toBe('has a tls.key with more than 4096 bits');
}, 60_000);
