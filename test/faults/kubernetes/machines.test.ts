/** What happens to pods by accident: processes that die, machines without power, volumes that are lost. */
import { describe, expect, test } from 'vitest';
import { configMaps, persistentVolumeClaims, pods } from '../../../src/api/resource.ts';
import type { Program, ProgramContext } from '../world/workload.ts';
import { fieldsIn, itemsIn, numberIn } from './fields.ts';
import { nodeNameOf, phaseOf } from './pod.ts';
import { tinyProgram } from './tiny-program.ts';
import { makeSet, namespace, type TinyWorld, tinyWorld } from './tiny-world.ts';

interface Watched {
  readonly world: TinyWorld;
  /** The context of each run of a pod's program, oldest first. */
  readonly runs: (pod: string) => readonly ProgramContext[];
}

async function watchedSet(seed: number, program: Program = tinyProgram(), podSpec: object = {}): Promise<Watched> {
  const all: ProgramContext[] = [];
  const world = tinyWorld(seed, () => (context) => {
    all.push(context);
    return program(context);
  });
  await makeSet(world, podSpec);
  return { world, runs: (pod) => all.filter((context) => context.pod.metadata.name === pod) };
}

const restartsOf = (world: TinyWorld, pod: string): number => {
  const { containerStatuses = [] } = (world.find('Pod', pod)?.status ?? {}) as {
    containerStatuses?: readonly { restartCount: number }[];
  };
  return numberIn(containerStatuses[0]?.restartCount, -1);
};

describe('a process that is killed', () => {
  test('is started again in the same pod, at the same address, with its volumes', async () => {
    const { world, runs } = await watchedSet(1);
    const [uid, ip] = [world.find('Pod', 'db-1')?.metadata.uid, world.ready('db-1')];
    runs('db-1')[0]?.volume('/scratch')?.set('kept', true);
    world.kubernetes.killContainer(namespace, 'db-1');
    await world.until(() => world.ready('db-1') === undefined);
    await world.until(() => world.ready('db-1') !== undefined);
    expect([world.find('Pod', 'db-1')?.metadata.uid, world.ready('db-1')]).toEqual([uid, ip]);
    expect(restartsOf(world, 'db-1')).toBe(1);
    expect(runs('db-1')[1]?.volume('/scratch')?.get('kept')).toBe(true);
    expect(runs('db-1')[1]?.volume('/data')?.get('starts')).toBe(2);
    expect(runs('db-1')[1]?.volume('/nowhere')).toBeUndefined();
  });

  test('and again and again has to wait longer each time', async () => {
    const { world, runs } = await watchedSet(2);
    const starts: number[] = [];
    for (let count = 1; count <= 4; count++) {
      world.kubernetes.killContainer(namespace, 'db-0');
      const killedAt = world.time.monotonic();
      await world.until(() => runs('db-0').length > count);
      starts.push(world.time.monotonic() - killedAt);
    }
    const [first = 0, second = 0, third = 0, fourth = 0] = starts;
    expect(first).toBeLessThan(1500);
    expect([second, third, fourth]).toEqual([10_000, 20_000, 40_000]);
  });
});

describe('a sidecar', () => {
  const initContainers = [{ name: 'sidecar', image: 'tiny', restartPolicy: 'Always', command: ['sidecar'] }];

  test('that ends is started again alone, and its pod is not ready meanwhile', async () => {
    const { world, runs } = await watchedSet(3, tinyProgram(), { initContainers });
    for (const { command, exit } of runs('db-1')) if (command.includes('sidecar')) exit(1);
    await world.until(() => world.ready('db-1') === undefined);
    await world.until(() => world.ready('db-1') !== undefined);
    const [first] = itemsIn(fieldsIn(world.find('Pod', 'db-1')?.status).initContainerStatuses);
    expect([first?.restartCount, restartsOf(world, 'db-1')]).toEqual([1, 0]);
  });

  test('ends after the others', async () => {
    const ends: string[] = [];
    const telling: Program = (context) => {
      const program = tinyProgram()(context);
      const name = context.command.includes('sidecar') ? 'sidecar' : 'server';
      return {
        ...program,
        terminate() {
          ends.push(name);
          program.terminate();
        },
      };
    };
    const { world } = await watchedSet(4, telling, { initContainers });
    const { uid } = world.find('Pod', 'db-1')?.metadata ?? {};
    await world.run(world.client.remove({ resource: pods, namespace, name: 'db-1', uid: uid ?? '' }));
    await world.until(() => world.find('Pod', 'db-1')?.metadata.uid !== uid);
    expect(ends).toEqual(['server', 'sidecar']);
  });
});

describe('a pod that is deleted', () => {
  test('has its hook, its signal and its grace, and a follower with the same volume', async () => {
    const heard: string[] = [];
    const stubborn: Program = ({ time, volume }) => {
      volume('/data')?.set('owner', 'db');
      return {
        exec: async ([word = '']) => {
          if (word === 'hook') heard.push(`hook ${time.monotonic() - began}`);
          return true;
        },
        terminate: () => void heard.push('SIGTERM'),
        kill: () => void heard.push(`SIGKILL ${Math.round((time.monotonic() - began) / 1000)}`),
      };
    };
    let began = 0;
    const container = {
      name: 'main',
      image: 'localhost/tiny:1',
      volumeMounts: [{ name: 'data', mountPath: '/data' }],
      lifecycle: { preStop: { exec: { command: ['hook'] } } },
    };
    const { world, runs } = await watchedSet(3, stubborn, { containers: [container] });
    began = world.time.monotonic();
    const before = world.find('Pod', 'db-2');
    await world.run(world.kubernetes.deletePod(namespace, 'db-2'));
    await world.until(() => world.find('Pod', 'db-2')?.metadata.uid !== before?.metadata.uid);
    expect(heard).toEqual([expect.stringMatching(/^hook \d/), 'SIGTERM', 'SIGKILL 10']);
    await world.until(() => runs('db-2').length === 2);
    expect(runs('db-2')[1]?.ip).not.toBe(runs('db-2')[0]?.ip);
    expect(runs('db-2')[1]?.volume('/data')?.get('owner')).toBe('db');
  });

  test('is no more when the store says so', async () => {
    const { world } = await watchedSet(4);
    const before = world.find('Pod', 'db-0');
    await world.run(world.kubernetes.deletePod(namespace, 'db-0'));
    expect(world.find('Pod', 'db-0')?.metadata).toMatchObject({
      uid: before?.metadata.uid,
      deletionTimestamp: expect.any(String),
    });
    await world.until(() => world.find('Pod', 'db-0')?.metadata.uid !== before?.metadata.uid);
    const verbs = world.kubernetes.commits
      .filter(({ resource, before: was, after }) => resource === 'pods' && (was ?? after)?.metadata.name === 'db-0')
      .map(({ verb, actor }) => `${actor} ${verb}`);
    expect(verbs.slice(-3)).toEqual(['person update', 'kubelet update', 'kubelet delete']);
  });
});

describe('a machine without power', () => {
  test('is silent: its pods stay as they were, then count as not ready', async () => {
    const { world } = await watchedSet(5);
    const pod = world.find('Pod', 'db-1');
    const node = pod === undefined ? '' : (nodeNameOf(pod) ?? '');
    const address = world.ready('db-1') ?? '';
    world.kubernetes.stopNode(node);
    await world.time.advance(15_000);
    expect(world.ready('db-1')).toBe(address);
    expect(world.network.reaches(address, '10.2.0.1')).toBe(false);
    await world.until(() => world.ready('db-1') === undefined);
    expect(world.find('Pod', 'db-1')?.metadata.uid).toBe(pod?.metadata.uid);
  });

  test('leaves connections hanging, which are reset when it comes back', async () => {
    const listening: Program = (context) => {
      const close = context.network.listen(context.ip, 6379, (stream) => stream.on('error', () => undefined).resume());
      const program = tinyProgram()(context);
      return {
        ...program,
        kill() {
          close();
          program.kill();
        },
      };
    };
    const { world } = await watchedSet(12, listening);
    const pod = world.find('Pod', 'db-1') ?? failure();
    const address = world.ready('db-1') ?? '';
    const stream = await world.run(world.network.dial('10.2.0.1', address, 6379, new AbortController().signal));
    const failures: unknown[] = [];
    let isOver = false;
    stream.on('error', (error) => failures.push(error));
    stream.on('close', () => {
      isOver = true;
    });
    stream.resume();
    world.kubernetes.stopNode(nodeNameOf(pod) ?? '');
    await world.time.advance(60_000);
    expect(isOver).toBe(false);
    world.kubernetes.startNode(nodeNameOf(pod) ?? '');
    await world.until(() => isOver);
    expect(failures).toMatchObject([{ code: 'ECONNRESET' }]);
  });

  test('starts its pods anew when it comes back, at other addresses, with what is on their volumes', async () => {
    const { world, runs } = await watchedSet(6);
    const pod = world.find('Pod', 'db-1');
    const node = pod === undefined ? '' : (nodeNameOf(pod) ?? '');
    const address = world.ready('db-1') ?? '';
    world.kubernetes.stopNode(node);
    await world.time.advance(30_000);
    expect(runs('db-1')).toHaveLength(1);
    world.kubernetes.startNode(node);
    await world.until(() => world.ready('db-1') !== undefined);
    expect(world.ready('db-1')).not.toBe(address);
    expect(world.find('Pod', 'db-1')?.metadata.uid).toBe(pod?.metadata.uid);
    expect(restartsOf(world, 'db-1')).toBe(1);
    expect(runs('db-1')[1]?.volume('/data')?.get('starts')).toBe(2);
  });

  test.each([
    ['on its disk', {}, true],
    ['in memory', { medium: 'Memory' }, undefined],
  ])('keeps of what a pod had %s: %j', async (_, emptyDir, kept) => {
    const volumes = [
      { name: 'config', configMap: { name: 'db' } },
      { name: 'scratch', emptyDir },
    ];
    const { world, runs } = await watchedSet(9, tinyProgram(), { volumes });
    const pod = world.find('Pod', 'db-1');
    const node = pod === undefined ? '' : (nodeNameOf(pod) ?? '');
    runs('db-1')[0]?.volume('/scratch')?.set('kept', true);
    world.kubernetes.stopNode(node);
    await world.time.advance(5_000);
    world.kubernetes.startNode(node);
    await world.until(() => runs('db-1').length > 1);
    expect(runs('db-1')[1]?.volume('/scratch')?.get('kept')).toBe(kept);
  });

  test('holds a deleted pod and its volume until it is back, or until somebody insists', async () => {
    const { world } = await watchedSet(7);
    const pod = world.find('Pod', 'db-1');
    const node = pod === undefined ? '' : (nodeNameOf(pod) ?? '');
    world.kubernetes.stopNode(node);
    await world.run(world.kubernetes.deletePod(namespace, 'db-1'));
    await world.time.advance(60_000);
    expect(world.find('Pod', 'db-1')?.metadata.uid).toBe(pod?.metadata.uid);
    const uid = pod?.metadata.uid ?? '';

    await world.run(world.client.remove({ resource: pods, namespace, name: 'db-1', uid }, { gracePeriodSeconds: 0 }));
    await world.until(() => world.find('Pod', 'db-1')?.metadata.uid !== uid);
    await world.time.advance(60_000);
    // Its volume is on the machine that is off.
    expect(nodeNameOf(world.find('Pod', 'db-1') ?? failure())).toBeUndefined();
    world.kubernetes.startNode(node);
    await world.until(() => world.ready('db-1') !== undefined);
    expect(nodeNameOf(world.find('Pod', 'db-1') ?? failure())).toBe(node);
  });
});

describe('an image that is not there', () => {
  test('holds the pod up, which says why, until it is there', async () => {
    let isThere = true;
    const world = tinyWorld(14, () => (isThere ? tinyProgram() : undefined));
    await makeSet(world);
    isThere = false;
    await world.run(world.kubernetes.deletePod(namespace, 'db-1'));
    const waiting = (): unknown => {
      const [status] = itemsIn(fieldsIn(world.find('Pod', 'db-1')?.status).containerStatuses);
      return fieldsIn(fieldsIn(status?.state).waiting).reason;
    };
    await world.until(() => waiting() === 'ErrImagePull');
    await world.time.advance(60_000);
    expect(phaseOf(world.find('Pod', 'db-1') ?? failure())).toBe('Pending');
    isThere = true;
    await world.time.advance(15_000);
    expect(world.ready('db-1')).toBeDefined();
  });
});

describe('pods of which each has to be on a machine of its own', () => {
  const spread = (whenUnsatisfiable: string): object => ({
    maxSkew: 1,
    topologyKey: 'kubernetes.io/hostname',
    whenUnsatisfiable,
    labelSelector: { matchLabels: { app: 'db' } },
  });

  test.each([1, 2, 3, 4, 5, 6])('are, also while their volumes are made: seed %i', async (seed) => {
    const constraints = { topologySpreadConstraints: [spread('DoNotSchedule')] };
    const { world } = await watchedSet(seed, tinyProgram(), constraints);
    const nodes = ['db-0', 'db-1', 'db-2'].map((name) => fieldsIn(world.find('Pod', name)?.spec).nodeName);
    expect(new Set(nodes).size).toBe(3);
  });
});

describe('a volume', () => {
  test('that is lost is blank for whoever mounts it next', async () => {
    const { world, runs } = await watchedSet(8);
    world.kubernetes.loseVolume(namespace, 'data-db-0');
    world.kubernetes.killContainer(namespace, 'db-0');
    await world.until(() => runs('db-0').length === 2);
    expect(runs('db-0')[1]?.volume('/data')?.get('starts')).toBe(1);
    expect(() => world.kubernetes.loseVolume(namespace, 'none')).toThrow('there is no claim test/none');
  });

  test('grows when its claim does', async () => {
    const { world } = await watchedSet(13);
    const ref = { resource: persistentVolumeClaims, namespace, name: 'data-db-0' };
    await world.run(world.client.mergePatch(ref, { spec: { resources: { requests: { storage: '2Gi' } } } }));
    const capacity = (): unknown => fieldsIn(world.find('PersistentVolumeClaim', 'data-db-0')?.status).capacity;
    expect(capacity()).toEqual({ storage: '1Gi' });
    await world.time.advance(3_000);
    expect(capacity()).toEqual({ storage: '2Gi' });

    const asked = (storage: string): Promise<unknown> =>
      world.run(world.client.mergePatch(ref, { spec: { resources: { requests: { storage } } } }));
    await asked('4Gi');
    // What has not taken effect yet is lowered again, to more than the volume has.
    await expect(asked('2Gi')).rejects.toThrow('field can not be less than status.capacity');
    await asked('3Gi');
    await world.time.advance(10_000);
    expect(capacity()).toEqual({ storage: '3Gi' });
  });

  test('of a claim that is made anew is another one', async () => {
    const { world, runs } = await watchedSet(9);
    const claim = world.find('PersistentVolumeClaim', 'data-db-2');
    const ref = { resource: persistentVolumeClaims, namespace, name: 'data-db-2', uid: claim?.metadata.uid ?? '' };
    await world.run(world.client.remove(ref));
    await world.run(world.kubernetes.deletePod(namespace, 'db-2'));
    await world.until(() => runs('db-2').length === 2);
    expect(runs('db-2')[1]?.volume('/data')?.get('starts')).toBe(1);
    expect(world.find('PersistentVolumeClaim', 'data-db-2')?.metadata.uid).not.toBe(claim?.metadata.uid);
  });
});

describe('what a container sees', () => {
  test('mounted files change up to a minute later, and at once when it starts again', async () => {
    const { world, runs } = await watchedSet(10);
    const ref = { resource: configMaps, namespace, name: 'db' };
    const seen = (run: number): (string | undefined)[] =>
      ['db-0', 'db-1', 'db-2'].map((pod) => runs(pod)[run]?.file('/config/file'));
    expect(seen(0)).toEqual(['first', 'first', 'first']);
    expect(runs('db-0')[0]?.file('/config/none')).toBeUndefined();
    await world.run(world.client.mergePatch(ref, { data: { file: 'second' } }));
    expect(seen(0)).toContain('first');
    world.kubernetes.killContainer(namespace, 'db-0');
    await world.until(() => runs('db-0').length === 2);
    expect(runs('db-0')[1]?.file('/config/file')).toBe('second');
    await world.time.advance(60_000);
    expect(seen(0)).toEqual(['second', 'second', 'second']);
  });

  test('its neighbours by name, as soon as the slices tell of them', async () => {
    const { world } = await watchedSet(11);
    const { resolve } = world.network;
    const address = world.ready('db-1');
    for (const name of ['db-1.db', 'db-1.db.test', 'db-1.db.test.svc', 'db-1.db.test.svc.cluster.local']) {
      expect(resolve(name)).toBe(address);
    }
    expect(['db-0', 'db-1', 'db-2'].map((pod) => world.ready(pod))).toContain(resolve('db.test'));
    for (const name of ['db-3.db', 'db-1.db.other', 'nothing.test']) expect(resolve(name)).toBeUndefined();
  });
});

function failure(): never {
  throw new Error('there is no such pod');
}
