/** The sidecar of the exporter: off by default, without a password of its own, and nothing that Redis or its Services depend on. */
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/api/object.ts';
import type { RedisSpecInput } from '../../../src/engines/redis/kind/schema.ts';
import { situationOf } from '../../../src/engines/redis/observe/situation.ts';
import { heldBack, withoutIdentity } from '../../../src/engines/redis/plan/held-template.ts';
import { planRedis } from '../../../src/engines/redis/plan/plan.ts';
import { redisResources } from '../../../src/engines/redis/resources/resources.ts';
import type { PodSpec } from '../../../src/resources/plain.ts';
import { restrictedBreaches } from '../../../src/testing/pod-security.ts';
import { planned } from '../../support/plan-words.ts';
import { redisCluster, redisWorld, type Story } from '../../support/redis-situation.ts';

const objectsOf = (spec: RedisSpecInput): readonly KubeObject[] =>
  redisResources(redisCluster(spec)).map(({ object }) => object);
const setOf = (name: string, spec: RedisSpecInput): KubeObject => {
  const found = objectsOf(spec).find(({ kind, metadata }) => kind === 'StatefulSet' && metadata.name === name);
  if (found === undefined) throw new Error(name);
  return found;
};
const podOf = (object: KubeObject): PodSpec => (object.spec as { template: { spec: PodSpec } }).template.spec;
const filesOf = (spec: RedisSpecInput): string[] =>
  Object.keys(objectsOf(spec).find(({ kind }) => kind === 'ConfigMap')?.data as object);

describe('with monitoring', () => {
  it('a Redis node has one more container, one more volume, and nothing else', () => {
    const { initContainers, volumes = [], ...rest } = podOf(setOf('db', { monitoring: {} }));
    const { volumes: before = [], ...others } = podOf(setOf('db', {}));
    expect(rest).toEqual(others);
    expect(volumes.filter((volume) => volume.name !== 'exporter')).toEqual(before);
    expect(volumes.find(({ name }) => name === 'exporter')).toEqual({
      name: 'exporter',
      emptyDir: { medium: 'Memory', sizeLimit: '1Mi' },
    });
    expect(initContainers).toEqual([
      {
        name: 'exporter',
        image: 'docker.io/oliver006/redis_exporter:v1.86.0-alpine',
        imagePullPolicy: 'IfNotPresent',
        restartPolicy: 'Always',
        command: ['/bin/sh', '/etc/clusterwright/config/exporter.sh'],
        env: [
          { name: 'IDENTITY', value: 'clusterwright/apps/db' },
          { name: 'IDENTITY_FILE', value: '/etc/clusterwright/internal/password' },
          { name: 'REDIS_PORT', value: '6379' },
          { name: 'METRICS_PORT', value: '9121' },
        ],
        ports: [{ name: 'metrics', containerPort: 9121, protocol: 'TCP' }],
        resources: { requests: { cpu: '20m' }, limits: { memory: '64Mi' } },
        securityContext: {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        },
        volumeMounts: [
          { name: 'config', mountPath: '/etc/clusterwright/config', readOnly: true },
          { name: 'internal', mountPath: '/etc/clusterwright/internal', readOnly: true },
          { name: 'exporter', mountPath: '/run/exporter' },
        ],
      },
    ]);
    expect(restrictedBreaches(podOf(setOf('db', { monitoring: {} })))).toEqual([]);
  });

  it('no probe and no hook of it: the pod is ready without its metrics', () => {
    const [exporter] = podOf(setOf('db', { monitoring: {} })).initContainers ?? [];
    const keys = ['readinessProbe', 'startupProbe', 'livenessProbe', 'lifecycle'] as const;
    expect(keys.filter((key) => exporter?.[key] !== undefined)).toEqual([]);
  });

  it('a sentinel has one, too, which asks the sentinel', () => {
    const { initContainers: [exporter] = [], volumes } = podOf(setOf('db-sentinel', { monitoring: {} }));
    expect(exporter?.env).toContainEqual({ name: 'REDIS_PORT', value: '26379' });
    expect(volumes?.map(({ name }) => name)).toContain('exporter');
  });

  it('image and resources are those of the spec', () => {
    const limits = { memory: '128Mi' };
    const set = setOf('db', { monitoring: { image: 'mine.example/exporter:1', resources: { limits } } });
    expect(podOf(set).initContainers?.[0]).toMatchObject({ image: 'mine.example/exporter:1', resources: { limits } });
  });

  it('the script is in the ConfigMap, also without one: a container may run by the former template', () => {
    expect([filesOf({ monitoring: {} }), filesOf({})].map((names) => names.includes('exporter.sh'))).toEqual([
      true,
      true,
    ]);
  });
});

describe('a pod that waits for an exporter whose image is not there', () => {
  const waitsForIt = (object: KubeObject): KubeObject =>
    object.metadata.name === 'db-2' && object.kind === 'Pod'
      ? {
          ...object,
          status: {
            ...(object.status as object),
            conditions: [{ type: 'Ready', status: 'False' }],
            initContainerStatuses: [
              { name: 'exporter', image: 'e:1', state: { waiting: { reason: 'ImagePullBackOff' } } },
            ],
            containerStatuses: [{ name: 'redis', state: { waiting: { reason: 'PodInitializing' } } }],
          },
        }
      : object;
  const story = (pods: NonNullable<Story['pods']>): Story => ({
    nodes: { 2: 'silent' },
    pods,
    children: (all) => all.map(waitsForIt),
  });

  it('is told of, and nobody else restarts', () => {
    const { cluster, children, observed } = redisWorld(story({ 'db-1': 'outdated' }));
    const { outcome } = planRedis(situationOf(cluster, children, observed));
    expect(planned(story({ 'db-1': 'outdated' }))).toEqual(['wait MembersNotReady']);
    const message = 'db-2: container exporter has no image: e:1 cannot be pulled';
    expect(outcome).toMatchObject({ message: expect.stringContaining(message) });
  });

  it('is replaced once the template is another', () => {
    expect(planned(story({ 'db-2': 'outdated' }))).toEqual(['delete Pod db-2', 'wait Restarting']);
  });
});

describe('a cluster whose pods do not mount the identity', () => {
  const older = (spec: RedisSpecInput): KubeObject => withoutIdentity(setOf('db', spec));
  const wanted = setOf('db', { monitoring: {} });

  it('gets both together, since the exporter has no other password', () => {
    expect(heldBack(wanted, older({}), { mayMountIdentity: true, keepsPassword: false, needsCertificate: false })).toBe(
      wanted,
    );
  });

  it('gets neither as long as the Secret is of no use', () => {
    const held = heldBack(wanted, older({}), {
      mayMountIdentity: false,
      keepsPassword: false,
      needsCertificate: false,
    });
    expect(held).toEqual(older({}));
  });
});
