/** The proxy: off by default, without a password, and what clients are led to while it comes, stays and goes. */
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/api/object.ts';
import type { RedisSpecInput } from '../../../src/engines/redis/kind/schema.ts';
import { situationOf } from '../../../src/engines/redis/observe/situation.ts';
import { planRedis } from '../../../src/engines/redis/plan/plan.ts';
import { haproxyConfig } from '../../../src/engines/redis/resources/haproxy-config.ts';
import { redisResources } from '../../../src/engines/redis/resources/resources.ts';
import { redisStatus } from '../../../src/engines/redis/status.ts';
import { childrenOf } from '../../../src/resources/children.ts';
import { selectorLabels } from '../../../src/resources/metadata.ts';
import type { PodSpec } from '../../../src/resources/plain.ts';
import { restrictedBreaches } from '../../../src/testing/pod-security.ts';
import { stored } from '../../../src/testing/stored-object.ts';
import { plannedIn } from '../../support/plan-words.ts';
import { runPodScript } from '../../support/pod-scripts.ts';
import { redisCluster, redisWorld, type World } from '../../support/redis-situation.ts';

const proxied: RedisSpecInput = { proxy: {} };
const objectsOf = (spec: RedisSpecInput): readonly KubeObject[] =>
  redisResources(redisCluster(spec)).map(({ object }) => object);
const nameOf = ({ kind, metadata }: KubeObject): string => `${kind} ${metadata.name}`;
const configOf = (spec: RedisSpecInput): string => {
  const cluster = redisCluster(spec);
  return haproxyConfig(cluster, cluster.spec.proxy ?? { maxClients: 0, replicas: 0, resources: {} as never });
};

/** `unready`: it runs and has found no primary. */
type Change = 'ready' | 'unready' | 'outdated' | 'terminating';

function proxyPod(index: number, change: Change): KubeObject {
  return stored({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `db-proxy-${index}`,
      namespace: 'apps',
      labels: {
        ...selectorLabels(redisCluster(), { engine: 'redis', component: 'proxy' }),
        'controller-revision-hash': change === 'outdated' ? 'old' : 'new',
      },
      ...(change === 'terminating' ? { deletionTimestamp: '2030-01-01T00:00:00Z' } : {}),
    },
    spec: { containers: [{ name: 'haproxy' }] },
    status: {
      phase: 'Running',
      podIP: `10.0.2.${index}`,
      conditions: [{ type: 'Ready', status: change === 'unready' ? 'False' : 'True' }],
    },
  } as KubeObject);
}

/** `before`: what the objects are from. */
function worldOf(spec: RedisSpecInput, before: RedisSpecInput, pods: readonly Change[]): World {
  const world = redisWorld({ spec, before });
  return {
    ...world,
    children: childrenOf([...world.children.objects, ...pods.map((change, i) => proxyPod(i, change))]),
  };
}

const entranceIn = (world: World, name = 'db-primary'): unknown => {
  const plan = planRedis(situationOf(world.cluster, world.children, world.observed));
  const applied = plan.steps.flatMap((step) => ('object' in step ? [step.object] : []));
  const service = applied.find((object) => nameOf(object) === `Service ${name}`);
  const selector = (service?.spec as { selector?: Record<string, string> } | undefined)?.selector;
  return selector?.['app.kubernetes.io/component'];
};

describe('the objects of a proxy', () => {
  it('are three more, and one of them leads clients elsewhere', () => {
    const before = new Map(objectsOf({}).map((object) => [nameOf(object), object]));
    const after = objectsOf(proxied);
    expect(after.flatMap((object) => (before.has(nameOf(object)) ? [] : [nameOf(object)]))).toEqual([
      'ConfigMap db-proxy',
      'PodDisruptionBudget db-proxy',
      'StatefulSet db-proxy',
    ]);
    const changed = after.filter((object) => {
      const was = before.get(nameOf(object));
      return was !== undefined && JSON.stringify(was) !== JSON.stringify(object);
    });
    // The members' pods stay as they are.
    expect(changed.map(nameOf)).toEqual(['ConfigMap db-config', 'Service db-primary']);
  });

  it('run under the restricted policy, and know no Secret', () => {
    const [pod] = objectsOf(proxied).flatMap((object) =>
      nameOf(object) === 'StatefulSet db-proxy' ? [(object.spec as { template: { spec: PodSpec } }).template.spec] : [],
    );
    if (pod === undefined) throw new Error('no pods');
    expect(restrictedBreaches(pod)).toEqual([]);
    expect(JSON.stringify(pod).toLowerCase()).not.toContain('secret');
    expect(pod.containers).toMatchSnapshot();
  });

  it('have this configuration', () => expect(configOf(proxied)).toMatchSnapshot());

  it('do not depend on how many nodes there are: a change of size ends no connection', () => {
    expect(configOf({ ...proxied, replicas: 9 })).toBe(configOf(proxied));
    expect(configOf({ ...proxied, sentinel: { replicas: 5, quorum: 3 } })).not.toBe(configOf(proxied));
  });

  it.each([
    ['1s', 'inter 125ms', 'timeout check 250ms'],
    ['3s', 'inter 250ms', 'timeout check 750ms'],
    ['60s', 'inter 250ms', 'timeout check 1000ms'],
  ] as const)('with downAfter %s, a sentinel is asked with %s and %s', (downAfter, every, within) => {
    const text = configOf({ ...proxied, sentinel: { downAfter, failoverTimeout: '2m' } });
    expect(text).toContain(every);
    expect(text).toContain(within);
  });

  it.each([
    [3, 2],
    [5, 3],
    [7, 4],
  ] as const)('of %i sentinels, %i have to name one', (replicas, majority) => {
    const text = configOf({ ...proxied, sentinel: { replicas, quorum: majority } });
    const needed = [...text.matchAll(/txn\.votes\) -m int ge (\d+)/g)].map(([, count]) => Number(count));
    expect(needed).toEqual(Array.from({ length: replicas - majority + 1 }, () => majority));
  });

  it('the Service for clients outside leads where the one inside does', () => {
    const external = objectsOf({
      ...proxied,
      access: { primary: { type: 'NodePort' }, replicas: { type: 'NodePort' } },
    }).filter(({ metadata }) => metadata.name.endsWith('-external'));
    const components = external.map(({ spec }) => (spec as { selector: object }).selector);
    expect(components).toMatchObject([
      { 'app.kubernetes.io/component': 'proxy' },
      { 'app.kubernetes.io/component': 'data', 'clusterwright.dev/role': 'replica' },
    ]);
  });
});

describe('clients are led', () => {
  it.each<[string, RedisSpecInput, RedisSpecInput, readonly Change[], unknown]>([
    ['nowhere else before there are pods of the proxy', proxied, {}, [], undefined],
    ['nowhere else before each of them has found a primary', proxied, {}, ['ready', 'unready'], undefined],
    ['to the proxy once they have', proxied, {}, ['ready', 'ready'], 'proxy'],
    ['to the proxy from then on', proxied, proxied, ['unready', 'unready'], undefined],
    ['to the primary once the spec has no proxy', {}, proxied, ['ready', 'ready'], 'data'],
  ])('%s', (_, spec, before, pods, component) => {
    expect(entranceIn(worldOf(spec, before, pods))).toBe(component);
  });

  it('from outside as from inside', () => {
    const access: RedisSpecInput = { access: { primary: { type: 'NodePort' } } };
    const name = 'db-primary-external';
    expect(entranceIn(worldOf({ ...access, ...proxied }, access, ['ready', 'unready']), name)).toBeUndefined();
    expect(entranceIn(worldOf({ ...access, ...proxied }, access, ['ready', 'ready']), name)).toBe('proxy');
  });

  it('away from the proxy before its objects go', () => {
    const steps = plannedIn(worldOf({}, proxied, ['ready', 'ready']));
    expect(
      steps.filter((step) => step.includes('Service db-primary') || step.includes('db-proxy')),
    ).toMatchInlineSnapshot(`
      [
        "apply Service db-primary: spec.selector[app.kubernetes.io/component] proxy > data, spec.selector[clusterwright.dev/role] undefined > primary",
        "delete ConfigMap db-proxy",
        "delete PodDisruptionBudget db-proxy",
        "delete StatefulSet db-proxy",
      ]
    `);
  });
});

describe('pods of the proxy', () => {
  it.each<[string, readonly Change[], readonly string[]]>([
    ['all ready', ['ready', 'ready'], ['settled']],
    ['one that is not', ['ready', 'unready'], ['wait ProxyNotReady']],
    ['one that is missing', ['ready'], ['wait ProxyNotReady']],
    ['outdated ones go one at a time', ['outdated', 'outdated'], ['delete Pod db-proxy-1', 'settled']],
    ['not while another is away', ['outdated', 'unready'], ['wait ProxyNotReady']],
    ['nor while another stops', ['outdated', 'terminating'], ['wait ProxyNotReady']],
  ])('%s', (_, pods, plan) => {
    expect(plannedIn(worldOf(proxied, proxied, pods))).toEqual(plan);
  });

  it('are no members, and the cluster is not Ready without them', () => {
    const { cluster, children, observed } = worldOf(proxied, proxied, ['ready', 'unready']);
    const situation = situationOf(cluster, children, observed);
    const { conditions, members, replicas } = redisStatus(situation, planRedis(situation));
    expect(conditions?.find(({ type }) => type === 'Ready')).toMatchObject({
      status: 'False',
      reason: 'ProxyNotReady',
      message: '1 of 2 pods of db-proxy are ready',
    });
    expect(members?.length).toBe(6);
    expect(replicas).toBe(3);
  });
});

describe('a sentinel', () => {
  const rule = 'acl setuser clusterwright/apps/db/proxy reset on nopass +sentinel|get-master-addr-by-name';
  const answers = { '*acl*setuser*proxy*': 'OK', '*acl*deluser*': '1', '*get-master-addr*': '10.0.0.1' };
  const asked = async (config: Record<string, string>, run: Record<string, string> = {}): Promise<string[]> =>
    (await runPodScript('watching.sh', { cli: answers, config, run })).asked.filter((line) => line.includes('/proxy'));

  it('has a user for the proxy, told once', async () => {
    expect(await asked({ proxy: 'yes\n' })).toEqual([`-p 26379 ${rule}`]);
    expect(await asked({ proxy: 'yes\n' }, { proxied: '' })).toEqual([]);
  });

  it('and has it no more once there is none', async () => {
    expect(await asked({})).toEqual([]);
    expect(await asked({}, { proxied: '' })).toEqual(['-p 26379 acl deluser clusterwright/apps/db/proxy']);
  });
});
