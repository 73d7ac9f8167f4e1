/**
 * What the claims remember: who was primary last, and where each node ran. It outlives pods, sentinels and the custom
 * resource, and is written only from the words of a majority of the sentinels, which no failover can have passed by.
 */

import type { Cluster } from '../../../api/cluster.ts';
import type { ActStep, ObjectStep } from '../../../plan/plan.ts';
import { refOf } from '../../../plan/ref.ts';
import type { Children, Claim } from '../../../resources/children.ts';
import type { RedisAction } from '../action.ts';
import { type RedisSpec, redisKind } from '../kind/schema.ts';
import { addressAnnotation, choiceAnnotation, termAnnotation, termCarrier } from '../names.ts';
import type { DataNode } from '../observe/observed.ts';
import { byTerm, claimOf, hasSentinelMajority, podOf, rankOf, type Situation } from '../observe/situation.ts';
import { annotationSteps } from './annotations.ts';

/** The pod whose node ran at this address when a primary was known last. */
export function podAt({ claims }: Children, address: string): string | undefined {
  const claim = claims.find((candidate) => addressOf(candidate) === address);
  return claim === undefined ? undefined : podOf(claim);
}

export function addressOf(claim: Claim | undefined): string | undefined {
  return claim?.metadata.annotations?.[addressAnnotation];
}

/**
 * One patch a claim, before the status names a new primary. Sentinels without a memory have nothing to say against it:
 * its term is written. Addresses are those that the sentinels go by, so they wait until these name it.
 */
export function planRecord(situation: Situation, primary: DataNode): ObjectStep[] {
  const { children, topology } = situation;
  const { watching, named } = topology;
  if (watching.length > 0 && !hasSentinelMajority(situation)) return [];
  const term = String(termFor(situation, primary));
  const placed = named === primary.address;
  return children.claims.flatMap((claim) => {
    const pod = podOf(claim);
    const address = placed ? addressNow(situation, claim) : undefined;
    return annotationSteps(claim, {
      ...(pod === primary.pod ? { [termAnnotation]: term } : {}),
      ...(address === undefined ? {} : { [addressAnnotation]: address }),
    });
  });
}

/** The present primary's: more than that of anybody else who was primary, and at least what anybody has heard of. */
export function termFor({ children, nodes }: Situation, primary: DataNode): number {
  const others = byTerm(children, nodes).filter(({ pod }) => pod !== primary.pod);
  const highest = Math.max(0, ...others.map(({ term }) => term));
  const heard = Math.max(highest, ...nodes.map(({ term }) => term?.number ?? 0));
  const own = rankOf(children, nodes, primary.pod);
  return own > highest && own >= heard ? own : heard + 1;
}

/** The primary's volume says what its claim says: the pods were started before there were terms, or do not know of all. */
export function planTerm(situation: Situation, primary: DataNode): ActStep<RedisAction>[] {
  const { children, topology, spec } = situation;
  if (claimOf(children, primary.pod) === undefined || spec.mode === 'Standalone') return [];
  if (topology.watching.length > 0 && !hasSentinelMajority(situation)) return [];
  const number = termFor(situation, primary);
  if (primary.term?.wasPrimary === true && primary.term.number === number) return [];
  return [
    {
      type: 'act',
      action: {
        type: 'redis.configure',
        node: { pod: primary.pod, address: primary.address },
        settings: { [termCarrier]: `primary-${number}` },
      },
      summary: `note on ${primary.pod} that it is primary in term ${number}`,
    },
  ];
}

/** Null where another node has the address by now: no two claims hold the same. */
function addressNow({ nodes }: Situation, claim: Claim): string | null | undefined {
  const node = nodes.find(({ pod }) => pod === podOf(claim));
  if (node !== undefined) return node.address;
  return nodes.some(({ address }) => address === addressOf(claim)) ? null : undefined;
}

/**
 * A person's choice counts once: left standing, it would overrule the record the next time. It stands until the record
 * says the same.
 */
export function planChoice(situation: Situation): ObjectStep[] {
  const { cluster, topology } = situation;
  if (topology.watching.length > 0 && !hasSentinelMajority(situation)) return [];
  return annotationGone(cluster, choiceAnnotation);
}

/** From the custom resource. */
export function annotationGone(cluster: Cluster<RedisSpec>, annotation: string): ObjectStep[] {
  const from = cluster.metadata.annotations?.[annotation];
  const ref = refOf(cluster, redisKind.resource);
  if (from === undefined || ref === undefined) return [];
  return [
    {
      type: 'patch',
      ref,
      patch: { metadata: { annotations: { [annotation]: null } } },
      changes: [{ path: `metadata.annotations[${annotation}]`, from }],
    },
  ];
}
