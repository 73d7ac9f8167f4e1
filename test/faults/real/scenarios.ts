/** The scenarios of RedisCluster on real pods. What a scenario leaves is where the next one in the list begins. */
import { deepEqual, ok } from 'node:assert/strict';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { persistentVolumeClaims } from '../../../src/api/resource.ts';
import type { RedisSpecInput } from '../../../src/engines/redis/kind/schema.ts';
import { isNotFound } from '../../../src/runtime/api-error.ts';
import { killProcess } from '../../../src/sandbox/faults/process.ts';
import { removeByName } from '../../support/kubernetes.ts';
import { persistentVolumes } from '../../support/resources.ts';
import { until } from '../../support/until.ts';
import { clusterName, type Place } from './place.ts';

export interface RealScenario {
  /** As in the simulation: `S3`, with a word where there are several. */
  readonly id: string;
  readonly title: string;
  /** The cluster that is there before; undefined: nothing. */
  readonly before: RedisSpecInput | undefined;
  /** And after. */
  readonly after: RedisSpecInput | undefined;
  /** What somebody does. */
  act(place: Place): Promise<void>;
  /** Rejects with what is still wrong. Asked again and again. */
  check(place: Place): Promise<void>;
  /** Whether clients write all the time. */
  readonly written: boolean;
}

const three: RedisSpecInput = { replicas: 3 };
const five: RedisSpecInput = { replicas: 5 };
const threaded: RedisSpecInput = { replicas: 3, config: { 'io-threads': 2 } };

async function whole({ cluster }: Place, data: number): Promise<void> {
  await cluster.whole({ data, sentinels: 3 }, { withinMs: 0 });
}

async function primaryName({ cluster }: Place): Promise<string> {
  return until('one primary', async () => (await cluster.primary()).metadata.name, { withinMs: 20_000 });
}

async function gone({ cluster, chronicle }: Place): Promise<void> {
  const found = await cluster.object().then(
    () => true,
    (error) => !isNotFound(error),
  );
  const left = chronicle
    .objects()
    .filter(({ kind, metadata }) => metadata.name !== 'kube-root-ca.crt' && !keptKinds.includes(kind))
    .map(({ kind, metadata }) => `${kind}/${metadata.name}`);
  deepEqual({ found, left }, { found: false, left: [] });
}

/** Under `Retain`. */
const keptKinds: readonly string[] = ['PersistentVolumeClaim', 'Secret'];

/** The files of a data pod's volume are gone, and its process is, at the same time. */
async function loseVolume(place: Place, pod: string): Promise<void> {
  const { client, namespace } = place;
  const claim = await client.get({ resource: persistentVolumeClaims, namespace, name: `data-${pod}` });
  const { volumeName } = claim.spec as { readonly volumeName: string };
  const { spec } = await client.get({ resource: persistentVolumes, name: volumeName });
  const { local, hostPath } = spec as Readonly<Record<'local' | 'hostPath', { readonly path: string } | undefined>>;
  const directory = local?.path ?? hostPath?.path;
  if (directory === undefined) throw new Error(`${volumeName} is no directory of this machine`);
  const files = await readdir(directory);
  await Promise.all(files.map((file) => rm(join(directory, file), { recursive: true })));
  await killProcess({ namespace, name: pod });
}

/** The uid of the pod that was deleted, by place. */
const lost = new WeakMap<Place, string>();

export const realScenarios: readonly RealScenario[] = [
  {
    id: 'S1',
    title: 'create',
    before: undefined,
    after: three,
    act: (place) => place.create(three),
    check: (place) => whole(place, 3),
    written: false,
  },
  {
    id: 'S2',
    title: 'scale out 3→5',
    before: three,
    after: five,
    act: ({ cluster }) => cluster.change(five),
    check: (place) => whole(place, 5),
    written: true,
  },
  {
    id: 'S3',
    title: 'scale in 5→3',
    before: five,
    after: three,
    act: ({ cluster }) => cluster.change(three),
    check: (place) => whole(place, 3),
    written: true,
  },
  {
    id: 'S9 primary',
    title: "primary's pod deleted",
    before: three,
    after: three,
    async act(place) {
      const pod = await place.cluster.pod(await primaryName(place));
      lost.set(place, pod.metadata.uid ?? '');
      await removeByName(place.client, pod);
    },
    async check(place) {
      const { data } = await place.cluster.pods();
      ok(!data.some(({ metadata }) => metadata.uid === lost.get(place)), 'the deleted pod is still there');
      await whole(place, 3);
    },
    written: true,
  },
  {
    id: 'S10 primary',
    title: "primary's volume lost",
    before: three,
    after: three,
    act: async (place) => loseVolume(place, await primaryName(place)),
    check: (place) => whole(place, 3),
    written: true,
  },
  {
    id: 'S4',
    title: 'config change with restart',
    before: three,
    after: threaded,
    act: ({ cluster }) => cluster.change(threaded),
    async check(place) {
      const { cluster } = place;
      for (const pod of (await cluster.pods()).data) {
        deepEqual(await cluster.ask(pod, 'CONFIG', 'GET', 'io-threads'), ['io-threads', '2']);
      }
      await whole(place, 3);
    },
    written: true,
  },
  {
    id: 'S12',
    title: 'delete and recreate',
    before: threaded,
    after: threaded,
    async act(place) {
      const missing = await place.cluster.load('kept', 200);
      kept.set(place, missing);
      await place.cluster.remove();
      await until(
        `${clusterName} gone`,
        async () => {
          const isThere = await place.cluster.object().then(
            () => true,
            (error) => !isNotFound(error),
          );
          if (isThere) throw new Error('it is there');
        },
        { withinMs: 180_000, everyMs: 50 },
      );
      await place.create(threaded);
    },
    async check(place) {
      await whole(place, 3);
      deepEqual(await kept.get(place)?.(), []);
    },
    written: false,
  },
  {
    id: 'S11 retain',
    title: 'delete, data kept',
    before: threaded,
    after: undefined,
    act: ({ cluster }) => cluster.remove(),
    check: gone,
    written: false,
  },
];

/** Reads back what was loaded before the cluster was deleted, by place. */
const kept = new WeakMap<Place, () => Promise<readonly string[]>>();
