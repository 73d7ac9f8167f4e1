/** What the passes after the next one do, for people who read a plan. */
import type { Cluster } from '../../../api/cluster.ts';
import { type Children, childrenOf, type Pod } from '../../../resources/children.ts';
import type { RedisSpec } from '../kind/schema.ts';
import { importSource } from '../kind/source.ts';
import { cutOverAnnotation, redisNames } from '../names.ts';
import { type DataNode, nothingObserved, type RedisObserved, type SentinelNode } from '../observe/observed.ts';
import { dataPodNames, situationOf } from '../observe/situation.ts';
import { redisResources } from '../resources/resources.ts';
import { dynamicSettings } from '../resources/settings.ts';
import { planRedis } from './plan.ts';
import { shardsToCome } from './shards/forecast.ts';
import { tlsToCome } from './tls-forecast.ts';
import { specWarnings } from './warnings.ts';

export function forecastRedis(cluster: Cluster<RedisSpec>, children: Children): readonly string[] {
  const warnings = specWarnings(cluster).map(({ message }) => `warning: ${message}`);
  const changes = cluster.spec.mode === 'Cluster' ? shardsToCome(cluster, children) : changesToCome(cluster, children);
  return [...changes, ...tlsToCome(cluster, children), ...warnings];
}

function changesToCome(cluster: Cluster<RedisSpec>, found: Children): readonly string[] {
  const { dataSize, children } = situationOf(cluster, found, nothingObserved);
  const leaving = dataPodNames(cluster, dataSize).slice(cluster.spec.replicas).reverse();
  const shrinking =
    leaving.length === 0
      ? []
      : [`${leaving.join(', ')} leave, one at a time, a primary after it has handed over; their volumes stay`];
  if (children.statefulSet(redisNames(cluster.metadata.name).data) !== undefined) return shrinking;
  const volumes = children.claims.map(({ metadata }) => metadata.name);
  if (volumes.length === 0) return forecastFormation(cluster);
  return [`the volumes of an earlier cluster of this name are taken over: ${volumes.join(', ')}`, ...shrinking];
}

/**
 * What it takes to form a new cluster once its processes run: the planner's own words, on processes that answer as fresh
 * ones do. Empty for a node that stands alone: it needs nobody's word.
 */
function forecastFormation(cluster: Cluster<RedisSpec>): readonly string[] {
  const { mode, replicas, sentinel, version } = cluster.spec;
  const source = importSource(cluster);
  if (source !== undefined) {
    const [first = ''] = dataPodNames(cluster, 1);
    const place = `${source.host}:${source.port}`;
    return [`${first} copies ${place} and follows it until ${cutOverAnnotation} is set; then the others start`];
  }
  if (mode === 'Standalone') return [];
  const names = redisNames(cluster.metadata.name);
  const data = Array.from({ length: replicas }, (_, i) => `${names.data}-${i}`);
  const sentinels = Array.from({ length: sentinel.replicas }, (_, i) => `${names.sentinel}-${i}`);
  const children = childrenOf([
    ...redisResources(cluster).map(({ object }) => object),
    ...data.map((name) => running(name, 'data')),
    ...sentinels.map((name) => running(name, 'sentinel')),
  ]);
  const fresh = (pod: string): DataNode => ({
    state: 'answering',
    pod,
    address: pod,
    version,
    role: 'replica',
    linkUp: false,
    copyRefused: false,
    fullSyncs: 0,
    isStale: false,
    offset: 0,
    replicas: [],
    failoverEligible: false,
    asksSentinels: true,
    empty: true,
    settings: dynamicSettings(cluster),
    usedMemory: 0,
    findings: [],
  });
  const ignorant = sentinels.map((pod): SentinelNode => ({ state: 'answering', pod, address: pod }));
  const atFirst: RedisObserved = { data: data.map(fresh), sentinels: ignorant };
  const [seed, ...others] = data.map(fresh);
  const seeded =
    seed === undefined ? [] : [{ ...seed, role: 'primary' as const, linkUp: true, failoverEligible: true }];
  const then: RedisObserved = { data: [...seeded, ...others], sentinels: ignorant };
  return [atFirst, then]
    .flatMap((observed) => planRedis(situationOf(cluster, children, observed)).steps)
    .flatMap((step) => (step.type === 'act' ? [step.summary] : []));
}

/** A pod whose address is its name: nobody dials it. */
function running(name: string, component: string): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels: { 'app.kubernetes.io/component': component } },
    status: { phase: 'Running', podIP: name, conditions: [{ type: 'Ready', status: 'True' }] },
  };
}
