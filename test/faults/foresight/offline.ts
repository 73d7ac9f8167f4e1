/**
 * Whether a plan that is made offline, from the manifest alone, holds exactly the objects that a new cluster then gets:
 * names, kinds and contents. Only the UID is taken from the cluster, and generated text is in no plan.
 */
import type { KubeObject } from '../../../src/api/object.ts';
import { resourceOf } from '../../../src/api/resource.ts';
import { validateCluster } from '../../../src/api/validate.ts';
import { offlinePreview } from '../../../src/cli/preview.ts';
import { referredAmong } from '../../../src/cli/referral.ts';
import { stateNames } from '../../../src/engines/postgres/names.ts';
import type { Plan } from '../../../src/plan/plan.ts';
import { instanceLabel, nameLabel } from '../../../src/resources/metadata.ts';
import { handlers as engines } from '../../support/handlers.ts';
import type { WireEntry } from '../wire/wire.ts';
import type { Commit } from '../world/kubernetes.ts';
import { isPlanned } from './planned-request.ts';

/**
 * What is made with other contents than an offline plan shows, and why: see `docs/faults.md`. The roster of an etcd
 * or a PostgreSQL that begins with data tells of that data: its members resume it, or join.
 */
function mayDiffer({ kind, metadata, spec }: KubeObject, title: string, hasEarlierData: boolean): boolean {
  const { bootstrap } = (spec ?? {}) as { readonly bootstrap?: { readonly restore?: unknown } };
  const beginsWithData = hasEarlierData || bootstrap?.restore !== undefined;
  const hasRoster = kind === 'EtcdCluster' || kind === 'PostgresCluster';
  return hasRoster && beginsWithData && title === `ConfigMap ${metadata.name}-members`;
}

/** What a cluster that was deleted with its data kept has left: it is there already. */
function isKept({ kind, metadata: { name } }: KubeObject, title: string): boolean {
  const state = stateNames(name).map((part) => `ConfigMap ${part}`);
  return kind === 'PostgresCluster' && (title.startsWith('Secret ') || state.includes(title));
}

/** A line for each object that was planned and not made, made and not planned, or made otherwise. */
export function offlineDifferences(commits: readonly Commit[], entries: readonly WireEntry[]): readonly string[] {
  const made = commits.flatMap(({ at, actor, verb, after }) =>
    verb === 'create' && actor !== 'clusterwright' && after !== undefined ? [{ at, object: after }] : [],
  );
  const others = made.map(({ object }) => object);
  return made.flatMap(({ at, object }) => {
    const hasEarlierData = commits.some(
      (commit) =>
        commit.verb === 'delete' &&
        commit.at <= at &&
        commit.before?.kind === object.kind &&
        commit.before.metadata.name === object.metadata.name,
    );
    return differencesOf(
      object,
      others,
      entries.filter((entry) => entry.at >= at),
      hasEarlierData,
    );
  });
}

function differencesOf(
  object: KubeObject,
  others: readonly KubeObject[],
  entries: readonly WireEntry[],
  hasEarlierData: boolean,
): string[] {
  const engine = engines.find(({ kind }) => kind.resource.kind === object.kind);
  if (engine === undefined) return [];
  const { name, namespace, uid } = object.metadata;
  const manifest = { ...object, metadata: { name, namespace, uid }, status: undefined };
  const verdict = validateCluster(engine.kind, manifest);
  // What the API server takes and we refuse is planned by nobody.
  if (!verdict.ok) return [];
  const referred = referredAmong(engines, engine, verdict.cluster, others);
  if (engine.targetRef !== undefined && referred === undefined) return [];
  const { plan } = offlinePreview(engine, verdict.cluster, referred);
  const posts = entries.filter((entry) => entry.request?.method === 'POST' && isOf(entry, engine.name, name));
  const wrong = posts.flatMap((entry) =>
    entry.request !== undefined && isPlanned(plan, entry.request) ? [] : [titleOf(bodyOf(entry))],
  );
  const there = posts.map((entry) => titleOf(bodyOf(entry)));
  const missing = planned(plan).filter((title) => !there.includes(title) && !(hasEarlierData && isKept(object, title)));
  return [
    ...new Set(
      wrong
        .filter((title) => !mayDiffer(object, title, hasEarlierData))
        .map((title) => `offline, ${title} of ${object.kind} ${name} is not planned as it was made`),
    ),
    ...missing.map((title) => `offline, ${title} of ${object.kind} ${name} is planned, and was never made`),
  ];
}

const titleOf = ({ kind, metadata }: KubeObject): string => `${kind} ${metadata.name}`;

function bodyOf({ request }: WireEntry): KubeObject {
  return JSON.parse(request?.body ?? '{}') as KubeObject;
}

function isOf(entry: WireEntry, engine: string, name: string): boolean {
  const { labels } = bodyOf(entry).metadata ?? {};
  return labels?.[nameLabel] === engine && labels[instanceLabel] === name;
}

function planned({ steps }: Plan): string[] {
  return steps.flatMap((step) =>
    step.type === 'create' || step.type === 'issue'
      ? [titleOf({ ...step.object, kind: resourceOf(step.object).kind })]
      : [],
  );
}
