/**
 * What an operator left that knew of no identities (commit f8eca49): no Secret `NAME-internal`, pods that mount none, and servers
 * whose only user is the default one. The scripts of the pods are those of today.
 */

import type { Cluster } from '../../../src/api/cluster.ts';
import type { KubeObject } from '../../../src/api/object.ts';
import { persistentVolumeClaims, pods, resourceOf, secrets } from '../../../src/api/resource.ts';
import type { RedisSpec } from '../../../src/engines/redis/kind/schema.ts';
import { addressAnnotation, redisNames, roleLabel, termAnnotation } from '../../../src/engines/redis/names.ts';
import { withoutIdentity } from '../../../src/engines/redis/plan/held-template.ts';
import { sentinelSettings } from '../../../src/engines/redis/resources/config.ts';
import type { KubeClient } from '../../../src/runtime/client.ts';
import { addressOf, podsOf } from '../readiness.ts';
import type { SimulatedWorld } from '../subject.ts';
import { openConnection, passwordIn } from './ledger.ts';
import type { Processes } from './processes.ts';

const lookMs = 500;
const dataPort = 6379;
const sentinelPort = 26379;

export async function leaveWithoutIdentity(
  world: SimulatedWorld,
  processes: Processes,
  client: KubeClient,
): Promise<void> {
  const { kubernetes, namespace, cluster } = world;
  const names = redisNames(cluster);
  const find = (kind: string, name: string): KubeObject => {
    const found = kubernetes.objects().find((object) => object.kind === kind && object.metadata.name === name);
    if (found === undefined) throw new Error(`there is no ${kind} ${name}`);
    return found;
  };
  const all = () => [...podsOf(world, 'data'), ...podsOf(world, 'sentinel')];

  for (const name of [names.data, names.sentinel]) {
    const set = find('StatefulSet', name);
    const { template } = withoutIdentity(set).spec as { readonly template: object };
    await client.mergePatch({ resource: resourceOf(set), namespace, name }, { spec: { template } });
  }
  const { uid = '' } = find('Secret', names.internal).metadata;
  await client.remove({ resource: secrets, namespace, name: names.internal, uid });
  const before = new Set(all().map(([, { metadata }]) => metadata.uid));
  for (const [name] of all()) await kubernetes.deletePod(namespace, name);
  const takesCommands = (address: string): boolean =>
    processes.at(address) !== undefined && processes.data(address)?.isLoading !== true;
  await until(world, () => all().every(([, pod]) => !before.has(pod.metadata.uid) && takesCommands(addressOf(pod))));
  await form(world, find(find('RedisCluster', cluster).kind, cluster) as Cluster<RedisSpec>);
  await note(world, client);
}

/** What the operator of then told the processes. */
async function form(world: SimulatedWorld, cluster: Cluster<RedisSpec>): Promise<void> {
  const tell = async (host: string, port: number, ...commands: readonly (readonly string[])[]): Promise<void> => {
    const connection = await openConnection(world, host, port);
    for (const command of commands) await connection.command(...command);
    connection.close();
  };
  const [first = '', ...others] = [...podsOf(world, 'data').values()].map(addressOf);
  await tell(first, dataPort, ['REPLICAOF', 'NO', 'ONE']);
  for (const other of others) await tell(other, dataPort, ['REPLICAOF', first, String(dataPort)]);
  const name = cluster.metadata.name;
  const settings = { 'auth-pass': passwordIn(world), ...sentinelSettings(cluster) };
  for (const sentinel of [...podsOf(world, 'sentinel').values()].map(addressOf)) {
    await tell(
      sentinel,
      sentinelPort,
      ['SENTINEL', 'MONITOR', name, first, String(dataPort), String(cluster.spec.sentinel.quorum)],
      ['SENTINEL', 'SET', name, ...Object.entries(settings).flat()],
    );
  }
}

/** What it wrote down: the second time that somebody is primary. */
async function note({ namespace, ...world }: SimulatedWorld, client: KubeClient): Promise<void> {
  const [first] = podsOf({ namespace, ...world }, 'data').keys();
  for (const [name, pod] of podsOf({ namespace, ...world }, 'data')) {
    const labels = { [roleLabel]: name === first ? 'primary' : 'replica' };
    await client.mergePatch({ resource: pods, namespace, name }, { metadata: { labels } });
    const annotations = {
      [addressAnnotation]: addressOf(pod),
      ...(name === first ? { [termAnnotation]: '2' } : {}),
    };
    await client.mergePatch(
      { resource: persistentVolumeClaims, namespace, name: `data-${name}` },
      { metadata: { annotations } },
    );
  }
}

async function until({ time }: SimulatedWorld, holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise<void>((resolve) => time.after(lookMs, resolve));
}
