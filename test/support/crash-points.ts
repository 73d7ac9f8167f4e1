/**
 * Every write is a crash point: the operator is killed after each single write that it makes, and started anew without
 * memory, until one of them finds nothing left to write.
 */
import type { KubeObject, Resource } from '../../src/api/object.ts';
import { configMaps, podDisruptionBudgets, services, statefulSets } from '../../src/api/resource.ts';
import { instanceLabel } from '../../src/resources/metadata.ts';
import { type Life, startLife } from './mortal-operator.ts';
import { recordResult } from './results.ts';
import type { Stage } from './stage.ts';

/** Resolves when the cluster is as it is wanted now, and rejects when it is not. */
export type Check = () => Promise<unknown>;

/** A planner without an end is found out by it; a machine under load gets there in half of it. */
const patienceMs = 400_000;

/** A cluster is quiet when nothing was written for this long: longer than any pause of the planner between two looks. */
const quietMs = 4_000;

/** An operator without crashes, until the cluster is whole and quiet. Resolves with its writes. */
export async function undisturbed(
  stage: Stage,
  isWhole: Check,
  withinMs: number = patienceMs,
): Promise<readonly string[]> {
  const life = await startLife(stage);
  try {
    await settled(life, isWhole, performance.now() + withinMs);
  } finally {
    await life.end();
  }
  return life.writes;
}

/** One operator after the other, each killed after its first write, until one finds nothing left to write. */
export async function killedAfterEveryWrite(
  stage: Stage,
  isWhole: Check,
  withinMs: number = patienceMs,
): Promise<readonly string[]> {
  const writes: string[] = [];
  const deadline = performance.now() + withinMs;
  while (performance.now() < deadline) {
    const life = await startLife({ ...stage, writes: 1 });
    const isDone = await settled(life, isWhole, deadline);
    writes.push(...life.writes);
    if (!isDone) continue;
    await life.end();
    return writes;
  }
  throw new Error(`not done after ${writes.length} crashes:\n${writes.join('\n')}`);
}

/** Resolves with true when the cluster is whole and nothing more is written, with false when the operator has died. */
async function settled(life: Life, isWhole: Check, deadline: number): Promise<boolean> {
  let isDead = false;
  const died = life.died.then(() => {
    isDead = true;
  });
  let seen = -1;
  let since = 0;
  const missing = async (): Promise<unknown> => {
    if (life.writes.length !== seen) {
      seen = life.writes.length;
      since = performance.now();
    }
    if (performance.now() - since < quietMs) return `${seen} writes`;
    return isWhole().then(
      () => undefined,
      (cause) => cause,
    );
  };
  for (let why = await missing(); why !== undefined; why = await missing()) {
    if (isDead) return false;
    if (performance.now() > deadline) throw new Error(`not whole after ${life.writes.join('\n')}`, { cause: why });
    await Promise.race([died, new Promise((resolve) => setTimeout(resolve, 200))]);
  }
  return true;
}

interface Named {
  readonly name: string;
  object(): Promise<KubeObject>;
}

const childKinds: readonly Resource[] = [configMaps, services, podDisruptionBudgets, statefulSets];

/** The children as they should be after any history: without identities, times, addresses and what others add. */
export async function childrenAtRest(stage: Stage, cluster: Named): Promise<Record<string, unknown>> {
  const { uid = '' } = (await cluster.object()).metadata;
  const lists = await Promise.all(
    childKinds.map(async (resource) => {
      const labelSelector = `${instanceLabel}=${cluster.name}`;
      return (await stage.client.list(resource, { namespace: stage.namespace, labelSelector })).items;
    }),
  );
  const neutral = (text: string): string => text.replaceAll(uid, 'UID').replaceAll(cluster.name, 'NAME');
  return Object.fromEntries(
    lists
      .flat()
      .map((object): [string, unknown] => [
        neutral(`${object.kind}/${object.metadata.name}`),
        JSON.parse(neutral(JSON.stringify(withoutIdentity(object)))),
      ]),
  );
}

function withoutIdentity(object: KubeObject): unknown {
  const { labels, ownerReferences = [] } = object.metadata;
  const { clusterIP, clusterIPs: _, ...spec } = (object.spec ?? {}) as Record<string, unknown>;
  const owners = ownerReferences.map(({ uid: _uid, ...owner }) => owner);
  return { labels, owners, data: object.data, spec: clusterIP === 'None' ? { ...spec, clusterIP } : spec };
}

export async function reportCrashes(
  scenario: string,
  without: readonly string[],
  crashed: readonly string[],
): Promise<void> {
  const measured = `crash points: ${crashed.length}, writes: ${crashed.length}; writes without crashes: ${without.length}`;
  await recordResult({ scenario: `crashes: ${scenario}`, measured });
}
