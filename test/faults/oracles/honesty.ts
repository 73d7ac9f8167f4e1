/**
 * O8: the status tells the truth.
 *
 * Ready for a generation is never claimed before the StatefulSets were changed for it, and not for long after clients
 * cannot write any more while an operator is there to notice. A cluster that is parked is as it is wanted to be. A name is
 * called taken by somebody else only where it is. A backup is called verified only where it is there, and whole. No
 * status contradicts itself: see `status-contradictions.ts`.
 */
import type { KubeObject } from '../../../src/api/object.ts';
import { statusContradictions } from '../../support/status-contradictions.ts';
import type { Oracle, RunRecord } from '../record.ts';
import { isCluster } from './cluster.ts';

/** Sentinel's own detection and failover, and a look of the operator, on top of the longest single-request timeout. */
const noticeMs = 30_000;

interface Claim {
  readonly from: number;
  readonly ready: boolean;
}

function readyClaims({ commits, before }: RunRecord): readonly Claim[] {
  const claim = (object: KubeObject): boolean =>
    (
      (object.status as { conditions?: { type: string; status: string; reason: string }[] } | undefined)?.conditions ??
      []
    ).some(({ type, status, reason }) => type === 'Ready' && status === 'True' && reason !== 'Parked');
  const clusters = before.filter(isCluster);
  const claims: Claim[] = clusters.map((object) => ({ from: 0, ready: claim(object) }));
  for (const { at, after, before: old } of commits) {
    const object = after ?? old;
    if (object === undefined || !isCluster(object)) continue;
    claims.push({ from: at, ready: after !== undefined && claim(after) });
  }
  return claims;
}

/** The longest time within an outage in which Ready was claimed. */
function staleMs(claims: readonly Claim[], from: number, to: number): number {
  let longest = 0;
  claims.forEach(({ ready, from: begin }, n) => {
    if (!ready) return;
    const end = claims[n + 1]?.from ?? Number.POSITIVE_INFINITY;
    longest = Math.max(longest, Math.min(end, to) - Math.max(begin, from));
  });
  return longest;
}

/** For so long a pass waits for an answer that never comes, as it must: until then the write may still happen. */
const answerMs = 60_000;

/** Whether a process of the operator was there, and could speak to the API server, during all of that time. */
function wasAttended({ lives, entries }: RunRecord, from: number, to: number): boolean {
  const attending = lives.find(({ startedAt, endedAt }) => startedAt + noticeMs < from && (endedAt ?? to) >= to);
  return (
    attending !== undefined &&
    !entries.some(({ at, life, byFault, write, status }) => {
      const isAwaited = life === attending.id && write !== undefined && status === undefined;
      return (byFault === true || isAwaited) && at <= to && at + (isAwaited ? answerMs : 0) >= from;
    })
  );
}

const isReady = ({ metadata, status }: KubeObject): boolean =>
  metadata.deletionTimestamp === undefined &&
  ((status as { conditions?: { type: string; status: string }[] } | undefined)?.conditions ?? []).some(
    (condition) => condition.type === 'Ready' && condition.status === 'True',
  );

/** A member that has been away for so long is known to be. */
const missedMs = 5_000;
/** Who asks the member itself knows that it is back before the kubelet's next probe says so. */
const probeMs = 2_000;

interface BlindClaim {
  readonly name: string;
  readonly at: number;
  readonly awayMs: number;
}

/** Ready, claimed anew while a data member had long been away. */
function blindClaims({ before, commits }: RunRecord): string[] {
  const pods = new Map<string, KubeObject>();
  const awaySince = new Map<string, number>();
  const sets = new Map<string, boolean>();
  let found: BlindClaim[] = [];
  const seeSet = ({ metadata, spec }: KubeObject, isGone: boolean): void => {
    const { replicas = 1 } = (spec ?? {}) as { readonly replicas?: number };
    const isWanted = !isGone && metadata.deletionTimestamp === undefined && replicas > 0;
    sets.set(metadata.name, isWanted);
    // Whose set is parked is not away: it counts from when it is wanted again.
    if (!isWanted) awaySince.delete(`${metadata.name}-0`);
  };
  const see = (pod: KubeObject, at: number, isGone: boolean): void => {
    const { name, labels = {} } = pod.metadata;
    if (pod.kind === 'StatefulSet') seeSet(pod, isGone);
    const part = labels['app.kubernetes.io/component'] ?? '';
    if (pod.kind !== 'Pod' || !['data', 'member'].includes(part)) return;
    // A second pod of a member's set is nobody's: somebody has asked for it behind the operator's back.
    if (part === 'member' && !name.endsWith('-0')) return;
    pods.set(name, pod);
    if (!isGone && isReady(pod)) {
      awaySince.delete(name);
      found = found.filter((claim) => claim.name !== name || at - claim.at > probeMs);
    } else if (!awaySince.has(name)) awaySince.set(name, at);
  };
  for (const object of before) see(object, 0, false);
  for (const { at, actor, after, before: old } of commits) {
    const object = after ?? old;
    if (object === undefined) continue;
    see(object, at, after === undefined);
    const { replicas = 0 } = (object.spec ?? {}) as { readonly replicas?: number };
    if (actor !== 'clusterwright' || after === undefined || !isCluster(after)) continue;
    const { observedGeneration } = (after.status ?? {}) as { readonly observedGeneration?: number };
    if (!isReady(after) || observedGeneration !== after.metadata.generation) continue;
    for (const [name, since] of awaySince) {
      // A member of an etcd has a set of its own, and is wanted as long as that is there.
      const isWanted = sets.get(name.replace(/-0$/, '')) ?? Number(/-(\d+)$/.exec(name)?.[1]) < replicas;
      if (isWanted && at - since > missedMs) found.push({ name, at, awayMs: at - since });
    }
  }
  return found.slice(0, 3).map(({ name, awayMs }) => `Ready is claimed while ${name} has been away for ${awayMs} ms`);
}

const conditionsOf = ({ status }: KubeObject): readonly { readonly reason?: string; readonly message?: string }[] =>
  (status as { conditions?: { reason?: string; message?: string }[] } | undefined)?.conditions ?? [];

/** An object of the cluster's own, called somebody else's: it would wait for a person who has nothing to do. */
function falseConflicts({ before, commits }: RunRecord): string[] {
  const key = ({ kind, metadata }: KubeObject): string => `${kind} ${metadata.name}`;
  const there = new Map(before.map((object) => [key(object), object]));
  const found = new Set<string>();
  for (const { actor, before: old, after } of commits) {
    if (after !== undefined) there.set(key(after), after);
    else if (old !== undefined) there.delete(key(old));
    if (actor !== 'clusterwright' || after?.apiVersion.startsWith('clusterwright.dev/') !== true) continue;
    for (const { reason, message = '' } of conditionsOf(after)) {
      const named = reason === 'NameConflict' ? there.get(message.split(' exists ')[0] ?? '') : undefined;
      if (named?.metadata.ownerReferences?.some(({ uid }) => uid === after.metadata.uid) === true)
        found.add(`${key(named)} is the cluster's own, and called somebody else's`);
    }
  }
  return [...found];
}

/** Phase, conditions, generations and the plan's words that deny each other, in any status that the operator wrote. */
function contradictions({ commits }: RunRecord): string[] {
  const told = commits.flatMap(({ actor, subresource, after }) =>
    actor === 'clusterwright' && subresource === 'status' && after !== undefined ? [after] : [],
  );
  return [
    ...new Set(
      told.flatMap((object) =>
        statusContradictions(object).map((words) => `the status of ${object.kind} ${object.metadata.name}: ${words}`),
      ),
    ),
  ];
}

export const honesty: Oracle = {
  id: 'O8',
  promise:
    'Ready is not claimed while a member is away, nor for long while clients cannot write; no conflict is made up, and no status contradicts itself',
  check(run) {
    const claims = readyClaims(run);
    const stale = (run.ledger?.outages ?? []).flatMap(({ from, to }) => {
      if (!wasAttended(run, from, to)) return [];
      const ms = staleMs(claims, from, to);
      return ms <= noticeMs ? [] : [`Ready was claimed for ${ms} ms of an outage that began at ${from} ms`];
    });
    return [
      ...stale,
      ...blindClaims(run),
      ...falseConflicts(run),
      ...contradictions(run),
      ...run.untrue,
      ...run.vault.untrue,
    ];
  },
};
