/**
 * Whether a plan that is made offline, from the manifest alone, holds exactly the objects that a new cluster then gets:
 * names, kinds and contents. Only the UID is taken from the cluster, and generated text is in no plan.
 */
import type { KubeObject } from '../../../src/api/object.ts';
import { resourceOf } from '../../../src/api/resource.ts';
import { validateCluster } from '../../../src/api/validate.ts';
import { offlinePreview } from '../../../src/cli/preview.ts';
import { referredAmong } from '../../../src/cli/referral.ts';
import { engines } from '../../../src/engines/index.ts';
import type { Plan } from '../../../src/plan/plan.ts';
import { instanceLabel, nameLabel } from '../../../src/resources/metadata.ts';
import type { WireEntry } from '../wire/wire.ts';
import type { Commit } from '../world/kubernetes.ts';
import { isPlanned } from './planned-request.ts';

/** What is made with other contents than an offline plan shows, and why: see `docs/faults.md`. */
const otherwise: readonly {
  readonly kind: string;
  readonly isRestored: boolean;
  readonly title: (name: string) => string;
}[] = [
  // Its members join one by one, and the roster says so of each when it does.
  { kind: 'EtcdCluster', isRestored: true, title: (name) => `ConfigMap ${name}-members` },
];

function mayDiffer({ kind, metadata, spec }: KubeObject, title: string): boolean {
  const { bootstrap } = (spec ?? {}) as { readonly bootstrap?: { readonly restore?: unknown } };
  return otherwise.some(
    (one) =>
      one.kind === kind && one.isRestored === (bootstrap?.restore !== undefined) && one.title(metadata.name) === title,
  );
}

/** A line for each object that was planned and not made, made and not planned, or made otherwise. */
export function offlineDifferences(commits: readonly Commit[], entries: readonly WireEntry[]): readonly string[] {
  const made = commits.flatMap(({ at, actor, verb, after }) =>
    verb === 'create' && actor !== 'clusterwright' && after !== undefined ? [{ at, object: after }] : [],
  );
  return made.flatMap(({ at, object }) =>
    differencesOf(
      object,
      at,
      made.map((one) => one.object),
      entries,
    ),
  );
}

function differencesOf(
  object: KubeObject,
  at: number,
  others: readonly KubeObject[],
  entries: readonly WireEntry[],
): string[] {
  const engine = engines.find(({ kind }) => kind.resource.kind === object.kind);
  if (engine === undefined) return [];
  const { name, namespace, uid } = object.metadata;
  const manifest = { ...object, metadata: { name, namespace, uid }, status: undefined };
  const verdict = validateCluster(engine.kind, manifest);
  // What the API server takes and we refuse is planned by nobody.
  if (!verdict.ok) return [];
  const referred = referredAmong(engines, engine, verdict.cluster, others);
  if (engine.refersTo !== undefined && referred === undefined) return [];
  const { plan } = offlinePreview(engine, verdict.cluster, referred);
  const posts = entries.filter(
    (entry) => entry.at >= at && entry.request?.method === 'POST' && isOf(entry, engine.name, name),
  );
  const wrong = posts.flatMap((entry) =>
    entry.request !== undefined && isPlanned(plan, entry.request) ? [] : [titleOf(bodyOf(entry))],
  );
  const there = posts.map((entry) => titleOf(bodyOf(entry)));
  const missing = planned(plan).filter((title) => !there.includes(title));
  return [
    ...new Set(
      wrong
        .filter((title) => !mayDiffer(object, title))
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
