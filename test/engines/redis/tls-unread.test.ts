/** Secrets with certificates that nobody can read, for one since the key that they are encrypted with is away: the cluster is looked at all the same. */
import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import type { Cluster } from '../../../src/api/cluster.ts';
import type { RedisSpec } from '../../../src/engines/redis/kind/schema.ts';
import { observeRedis } from '../../../src/engines/redis/observe/observe.ts';
import { redisMaintenance } from '../../../src/engines/redis/plan/maintenance.ts';
import { type Children, childrenOf } from '../../../src/resources/children.ts';
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

describe('after `tls` is removed', () => {
  const given = { server: { secretRef: { name: 'theirs' } } };
  const { cluster, whole } = securedSample('a', 'password-of-clients', { tls: given });
  const { tls: _, ...rest } = (cluster as Cluster<RedisSpec>).spec;
  const removed = { ...cluster, spec: rest } as Cluster<RedisSpec>;
  const told = (tls: string | undefined): Children =>
    childrenOf(
      whole.children.objects.map((object) =>
        object.metadata.name === 'db-config' ? { ...object, data: tls === undefined ? {} : { tls } } : object,
      ),
    );
  it.each<readonly [story: string, string | undefined, boolean]>([
    ['what pods are told names the source', JSON.stringify(given), true],
    ['nothing is read where pods are told nothing', undefined, false],
    ['nor where somebody has written something else', '{"server":{"secretRef":{"name":7}}}', false],
    ['nor where that is no JSON', 'Optional', false],
  ])('%s', async (_story, tls, isRead) => {
    const dialled: number[] = [];
    const dial: typeof whole.io.dial = (address, port, signal) => {
      dialled.push(port);
      return whole.io.dial(address, port, signal);
    };
    const { certificates } = await observeRedis(removed, told(tls), { ...whole.io, dial });
    expect(certificates?.copy !== undefined).toBe(isRead);
    // The operator is no client of a port that is to be closed.
    expect(dialled).not.toContain(6380);
  });

  it('a spec that is not valid keeps no server from a renewed certificate', async () => {
    const now = whole.io.now();
    const renewed = madeBy(madeCa('others', now), ['db-primary.apps.svc'], now);
    const secret: typeof whole.io.secret = async (name, ...options) =>
      ['theirs', 'db-shown-tls'].includes(name) ? renewed : whole.io.secret(name, ...options);
    const steps = await redisMaintenance.plan(removed, { ...whole.io, secret }, whole.children);
    expect(steps.map((step) => (step.type === 'act' ? step.action.type : step.type))).toEqual(
      Array(3).fill('redis.secure'),
    );
  });
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
