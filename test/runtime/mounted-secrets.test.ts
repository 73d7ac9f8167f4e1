/** A pod that is to be stopped, and a Secret that it mounts: no watch tells of Secrets. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { pods } from '../../src/api/resource.ts';
import { type Step, settled } from '../../src/plan/plan.ts';
import { act, type ReconcilerRig, reconcilerRig } from '../support/reconciler-rig.ts';
import { testChild } from '../support/test-engine.ts';
import { turn } from '../support/virtual-clock.ts';

const volumes = [
  { name: 'config', configMap: { name: 'db-config' } },
  { name: 'auth', secret: { secretName: 'db-auth', items: [{ key: 'password', path: 'password' }] } },
  { name: 'peer-tls', secret: { secretName: 'db-peer-tls' } },
  { name: 'session', secret: { secretName: 'db-session', optional: true } },
  {
    name: 'tls',
    projected: {
      sources: [
        { configMap: { name: 'db-config' } },
        { secret: { name: 'db-server-tls', items: [{ key: 'tls.crt', path: 'server.crt' }] } },
        { secret: { name: 'db-session', optional: true } },
      ],
    },
  },
];
const secret = (name: string, data?: Readonly<Record<string, string>>): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace: 'apps' },
  ...(data === undefined ? {} : { data }),
});
const password = { password: 'cHc=' };
const server = secret('db-server-tls', { 'tls.crt': 'eA==' });

let rig: ReconcilerRig;
let stop: Step;
let did = 0;
beforeEach(async () => {
  rig = await reconcilerRig();
  const child = testChild(rig.cluster(), 'Pod');
  rig.api.put({ ...child, apiVersion: 'apps/v1', kind: 'StatefulSet', spec: { template: { spec: { volumes } } } });
  const { metadata } = rig.api.put({ ...child, metadata: { ...child.metadata, name: 'db-0' } });
  const ref = { resource: pods, namespace: 'apps', name: 'db-0', uid: metadata.uid ?? '' };
  stop = { type: 'delete', ref, reason: 'it runs an older template' };
  did = 0;
  rig.finds([stop, act], settled, async () => void did++);
  await turn();
});
afterEach(() => rig.stop());

const writes = (): readonly string[] => rig.api.writes.filter((write) => !write.endsWith('/status'));

it('is stopped while the Secrets are there', async () => {
  for (const one of [secret('db-auth', password), secret('db-peer-tls'), server]) rig.api.put(one);
  await rig.pass();
  expect([writes(), did]).toEqual([['DELETE pods/db-0'], 1]);
});

it.each<readonly [story: string, there: readonly KubeObject[], what: string]>([
  ['is gone', [secret('db-peer-tls'), server], 'there is no Secret db-auth with the key password'],
  [
    'lacks its key',
    [secret('db-auth', {}), secret('db-peer-tls'), server],
    'there is no Secret db-auth with the key password',
  ],
  ['that is mounted as a whole is gone', [secret('db-auth', password), server], 'there is no Secret db-peer-tls'],
  [
    'that is one of several in a volume is gone',
    [secret('db-auth', password), secret('db-peer-tls')],
    'there is no Secret db-server-tls with the key tls.crt',
  ],
])(
  'is not stopped where a Secret %s, and it could not start again; everything else is done',
  async (_, there, what) => {
    for (const one of there) rig.api.put(one);
    const { again } = await rig.pass();
    expect([writes(), did, rig.status().phase]).toEqual([[], 1, 'Blocked']);
    expect(rig.condition('Ready')).toBe(
      `False SecretMissing: ${what}, and db-0 could not start again without it: it is not stopped`,
    );
    expect(again).toBeLessThanOrEqual(1_000);
    for (const one of [secret('db-auth', password), secret('db-peer-tls'), server]) rig.api.put(one);
    await rig.pass();
    expect(writes()).toEqual(['DELETE pods/db-0']);
  },
);

it('is not looked at where nobody is stopped', async () => {
  rig.finds([act]);
  await rig.pass();
  expect(rig.api.reads.filter((path) => path.includes('/secrets/'))).toEqual([]);
});
