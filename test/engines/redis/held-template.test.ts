/** Which changes of a template wait for a restart that comes anyway. */
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/api/object.ts';
import {
  heldBack,
  mountsIdentity,
  withoutCertificate,
  withoutIdentity,
} from '../../../src/engines/redis/plan/held-template.ts';
import { redisResources } from '../../../src/engines/redis/resources/resources.ts';
import type { PodSpec, Volume } from '../../../src/resources/plain.ts';
import { redisCluster } from '../../support/redis-situation.ts';

const setOf = (name: string, secretName?: string): KubeObject => {
  const cluster = redisCluster(secretName === undefined ? {} : { auth: { secretRef: { name: secretName } } });
  const found = redisResources(cluster).find(
    ({ object }) => object.kind === 'StatefulSet' && object.metadata.name === name,
  );
  if (found === undefined) throw new Error(name);
  return found.object;
};
const podOf = (object: KubeObject): PodSpec => (object.spec as { template: { spec: PodSpec } }).template.spec;
type Secret = NonNullable<Volume['secret']>;
const withPod = (object: KubeObject, pod: Partial<PodSpec>): KubeObject => ({
  ...object,
  spec: { ...(object.spec as object), template: { spec: { ...podOf(object), ...pod } } },
});
const namesIn = (list: readonly { readonly name: string }[] | undefined) => list?.map(({ name }) => name);

describe('a template without the identity', () => {
  it.each([
    ['db', ['TLS_DIR', 'DATABASES'], ['tls', 'data'], ['tls']],
    ['db-sentinel', [], [], []],
  ])('lacks its variable, its mount and its volume, and nothing else: %s', (name, env, mounts, volumes) => {
    const made = setOf(name);
    const [container] = podOf(withoutIdentity(made)).containers;
    expect(namesIn(container?.env)).toEqual([
      'CLUSTER_NAME',
      'CONFIG_DIR',
      'AUTH_FILE',
      'POD_NAME',
      'POD_NAMESPACE',
      'POD_IP',
      ...env,
    ]);
    expect(namesIn(container?.volumeMounts)).toEqual(['config', 'auth', 'run', 'tmp', ...mounts]);
    expect(namesIn(podOf(withoutIdentity(made)).volumes)).toEqual(['config', 'auth', 'run', 'tmp', ...volumes]);
    expect([made, withoutIdentity(made)].map(mountsIdentity)).toEqual([true, false]);
  });

  it('may have no variables, mounts and volumes at all', () => {
    const template = { spec: { containers: [{ name: 'redis' }] } };
    const bare: KubeObject = { ...setOf('db'), spec: { template } };
    expect(podOf(withoutIdentity(bare))).toMatchObject({
      containers: [{ name: 'redis', env: [], volumeMounts: [] }],
      volumes: [],
    });
  });
});

describe('the Secret of the password, while the servers do not know the one that is wanted', () => {
  const wanted = setOf('db', 'theirs');
  const passwordIn = (live: KubeObject, keepsPassword = true): Secret | undefined =>
    podOf(heldBack(wanted, live, { mayMountIdentity: true, keepsPassword, needsCertificate: false })).volumes?.find(
      ({ name }) => name === 'auth',
    )?.secret;
  const mounting = (secret: Secret): KubeObject =>
    withPod(setOf('db'), {
      volumes: [...(podOf(setOf('db')).volumes ?? []).filter(({ name }) => name !== 'auth'), { name: 'auth', secret }],
    });
  const theirs = { secretName: 'theirs', items: [{ key: 'password', path: 'password' }] };

  it.each<readonly [story: string, live: KubeObject, secret: Secret]>([
    [
      'is the one that they were started with',
      setOf('db'),
      { secretName: 'db-auth', items: [{ key: 'password', path: 'password' }] },
    ],
    [
      'is so without what the API server has filled in',
      mounting({ secretName: 'old', defaultMode: 420, items: [{ key: 'pw', path: 'password' }] }),
      { secretName: 'old', items: [{ key: 'pw', path: 'password' }] },
    ],
    ['is the new one where they have none', withPod(setOf('db'), { volumes: [] }), theirs],
    ['is the new one where none of its keys is mounted', mounting({ secretName: 'old' }), theirs],
    ['is the new one where theirs has no name', mounting({ items: [{ key: 'pw', path: 'password' }] }), theirs],
  ])('%s', (_, live, secret) => expect(passwordIn(live)).toEqual(secret));

  it('is the new one once they know that', () => expect(passwordIn(setOf('db'), false)).toEqual(theirs));
});

it('a change of resources alone takes no restart, and does not bring the identity', () => {
  const mounts = (live: KubeObject): boolean =>
    mountsIdentity(
      heldBack(setOf('db'), live, { mayMountIdentity: true, keepsPassword: false, needsCertificate: false }),
    );
  const older = withoutIdentity(setOf('db'));
  const { template } = older.spec as { readonly template: object };
  const changed = (change: object): KubeObject => {
    const containers = podOf(older).containers.map((container) => ({ ...container, ...change }));
    return {
      ...older,
      spec: { ...(older.spec as object), template: { ...template, spec: { ...podOf(older), containers } } },
    };
  };
  expect(mounts(changed({ resources: { requests: { cpu: '9' }, limits: { memory: '9Gi' } } }))).toBe(false);
  expect(mounts(changed({ image: 'redis:other' }))).toBe(true);
});

describe('a template from before there was a certificate', () => {
  const holding = { mayMountIdentity: true, keepsPassword: false, needsCertificate: false };
  const mountsTls = (object: KubeObject): boolean => namesIn(podOf(object).volumes)?.includes('tls') === true;
  const older = withoutCertificate(setOf('db'));
  const oldest = withoutIdentity(older);
  const otherImage = (object: KubeObject): KubeObject =>
    withPod(object, { containers: podOf(object).containers.map((one) => ({ ...one, image: 'redis:other' })) });

  it('lacks the variable, the mount and the volume, and nothing else', () => {
    expect(mountsTls(older)).toBe(false);
    expect(namesIn(podOf(older).containers[0]?.env)).not.toContain('TLS_DIR');
    expect(namesIn(podOf(older).containers[0]?.volumeMounts)).toEqual([
      'config',
      'auth',
      'internal',
      'run',
      'tmp',
      'data',
    ]);
    expect(podOf(older).containers[0]?.ports?.map(({ name }) => name)).toEqual(['redis']);
    expect(mountsIdentity(older)).toBe(true);
  });

  it.each<readonly [story: string, live: KubeObject, change: Partial<typeof holding>, mounted: boolean]>([
    ['stays as it is', older, {}, false],
    ['gets it where the cluster has TLS', older, { needsCertificate: true }, true],
    ['gets it where the pods restart anyway', otherImage(older), {}, true],
    ['stays as it is, where it has no identity either', oldest, {}, false],
    ['stays as it is, where the identity is not there yet', oldest, { mayMountIdentity: false }, false],
    ['gets it without an identity that is not there yet', otherImage(oldest), { mayMountIdentity: false }, true],
  ])('%s', (_, live, change, mounted) => {
    const object = heldBack(setOf('db'), live, { ...holding, ...change });
    expect(mountsTls(object)).toBe(mounted);
    if (change.mayMountIdentity === false) expect(mountsIdentity(object)).toBe(false);
  });
});
