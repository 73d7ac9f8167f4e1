/**
 * What the next pass of the controller would do about one cluster: the same reads, the same functions, and no write.
 *
 * A plan never spans two observations, so this is one pass; what is known to come after it is said in words.
 */
import type { Cluster, CommonSpec } from '../api/cluster.ts';
import type { KubeObject } from '../api/object.ts';
import { accessOf } from '../engine/access-of.ts';
import type { KindHandler, ObjectReference } from '../engine/engine.ts';
import { plansOf } from '../engine/judgement.ts';
import { asItEnds, planFinalization } from '../jobs/last-backup.ts';
import { claimInUse, withCheckedTarget } from '../jobs/target-claim.ts';
import { forecastDeletion, isHeldForData, secretsThatGo, stateThatGoes, wasGeneratedFor } from '../plan/deletion.ts';
import { notJudged, type ObstructedPlan, withoutObstructed, withUnjudged } from '../plan/obstacle.ts';
import { type PassFacts, passPlan } from '../plan/pass.ts';
import { type FieldChange, type Outcome, type Plan, type Step, wait } from '../plan/plan.ts';
import { gated } from '../plan/rollout-gate.ts';
import { withoutSuperseded } from '../plan/template-use.ts';
import { type Children, noChildren } from '../resources/children.ts';
import type { KubeClient } from '../runtime/client.ts';
import { createResizes } from '../runtime/resizes.ts';
import { createTemplateJudge, noDryRuns } from '../runtime/template-judge.ts';
import { createUnseenPods } from '../runtime/unseen-pods.ts';
import { systemClock } from '../system/clock.ts';
import { forecastExpansion } from './expansion.ts';
import { findSecret, readChildren } from './live.ts';
import { type About, ioTo, type ObserveOptions, observe } from './observation.ts';
import { type ManifestRead, missingTarget } from './referral.ts';
import { forecastRollout, withAskedResizes } from './rollout-forecast.ts';

/** What a plan was made from. `objects`: the API server alone, as no process could be asked. */
export type Basis = 'nothing' | 'objects' | 'processes';

export interface Preview {
  readonly cluster: Cluster;
  readonly basis: Basis;
  /** What applying the manifest changes about the custom resource itself. */
  readonly spec: readonly FieldChange[];
  readonly plan: Plan;
  /** What follows in later passes, as far as this one tells. */
  readonly follows: readonly string[];
  /** What the spec risks. Absent where it was not asked for, as without a Kubernetes cluster. */
  readonly warnings?: readonly string[];
}

const nothingElse: ManifestRead = { subject: 'the manifest', objects: [] };

/**
 * Against nothing: the first pass over a cluster that does not exist.
 *
 * @param manifest where `referred` was looked for
 */
export function offlinePreview(
  engine: KindHandler,
  cluster: Cluster,
  referred?: Cluster,
  manifest = nothingElse,
): Preview {
  const referral = engine.targetRef?.(cluster);
  const untold = referred === undefined ? referral : undefined;
  const planned =
    untold === undefined ? engine.planOffline(cluster, referred) : withoutReferred(untold, cluster, manifest);
  const plan = passPlan(cluster as Cluster<CommonSpec>, passFacts(engine, cluster, noChildren), planned);
  const forecast = plan.steps.length > 0 || untold !== undefined ? engine.forecast?.(cluster, noChildren) : [];
  return { cluster, basis: 'nothing', spec: [], plan, follows: forecast ?? (untold ? [inWords(cluster, untold)] : []) };
}

function passFacts(engine: KindHandler, cluster: Cluster, children: Children): PassFacts {
  return { resource: engine.kind.resource, children, access: accessOf(engine, cluster) };
}

/** Of a kind that has no forecast of its own. It changes something all the same: the exit code must say so. */
function inWords({ kind, metadata }: Cluster, target: ObjectReference): string {
  return `the operator applies ${kind}/${metadata.name} to ${target.kind}/${target.name}`;
}

/** Whether the other cluster exists is not known here, and the objects cannot be made without it. */
function withoutReferred(target: ObjectReference, { metadata }: Cluster, manifest: ManifestRead): Plan {
  const missing = missingTarget(target, metadata.namespace, manifest);
  const advice = 'check spec.cluster.name, add the cluster, or plan without --offline';
  return { steps: [], outcome: wait('NotObserved', `${missing}: ${advice}`) };
}

export interface LiveOptions extends ObserveOptions {
  readonly client: KubeClient;
  /** Whether the operator has pods of new templates judged by dry run. Default true. */
  readonly dryRuns?: boolean;
}

/** @param spec what differs between the cluster as it is meant and as it is */
export async function livePreview(
  engine: KindHandler,
  cluster: Cluster<CommonSpec>,
  spec: readonly FieldChange[],
  options: LiveOptions,
  referred?: Cluster,
  about?: About,
): Promise<Preview> {
  const { client, clock = systemClock } = options;
  const { namespace, name, deletionTimestamp } = cluster.metadata;
  const seen = await readChildren(client, engine, namespace, name);
  const whole = await createUnseenPods(client, systemClock)(seen, {});
  const resizes = createResizes({ client, clock: systemClock, now: () => clock.now() });
  const asked = options.dryRuns === false ? undefined : client;
  const children = await withAskedResizes(await resizes.tell(whole, {}), asked);
  if (deletionTimestamp !== undefined) {
    const secrets = await generatedSecrets(engine, cluster, client);
    const removal = await removalOf(engine, cluster, options, referred, about);
    if (removal !== undefined) return { cluster, basis: 'processes', spec, plan: removal, follows: [] };
    const end = planFinalization(engine, cluster, children, secrets, clock.now());
    const plan = await withCheckedTarget(end.plan, ioTo(cluster, children, options));
    const { isWaitingForBackup } = end;
    const upkeep = isWaitingForBackup ? await upkeepSteps(engine, cluster, children, options) : [];
    // As the controller does it: what a process refuses may not keep the cluster from its end.
    const kept = upkeep.filter(({ type }) => type !== 'act');
    const follows = forecastDeletion(
      asItEnds(engine, cluster, children),
      children,
      [...secrets, ...stateThatGoes(engine.resources(cluster), children)],
      plan.steps,
      isWaitingForBackup,
    );
    return { cluster, basis: 'objects', spec, plan: { ...plan, steps: [...kept, ...plan.steps] }, follows };
  }
  const { assessment, unheard } = await observe(engine, cluster, children, options, referred, about);
  const wanted = passPlan(
    cluster,
    passFacts(engine, cluster, children),
    unheard === undefined ? plansOf(assessment) : withoutProcesses(assessment.plan, unheard),
  );
  // Whether other clusters roll out is the operator's to know.
  const gate = gated(wanted, {
    ...{ cluster, children, now: clock.now(), resource: engine.kind.resource },
    takePlace: () => undefined,
  });
  const planned = gate.plan;
  const judge = options.dryRuns === false ? noDryRuns : createTemplateJudge({ client, clock: systemClock });
  const { obstacles, unjudged } = await judge.judge(planned, children, {});
  const { plan: rest, ...held } = withoutObstructed(planned, obstacles);
  const plan = withUnjudged(withoutSuperseded(rest), unjudged);
  const untold =
    unjudged === undefined || plan.outcome !== rest.outcome || plan.steps.length === 0 ? [] : [notJudged(unjudged)];
  const basis = unheard === undefined ? 'processes' : 'objects';
  const forecast = plan.steps.length > 0 ? (engine.forecast?.(cluster, children) ?? []) : [];
  const volumes = await forecastExpansion(plan.steps, children, client);
  const rollout = await forecastRollout(plan.steps, children, asked);
  const turn = gate.place === 'begins' ? [turnWords] : [];
  const waiting = gate.hold !== undefined && !gate.isOutcome ? [gate.hold.message] : [];
  const follows = [...refusals(held), ...waiting, ...untold, ...turn, ...rollout, ...volumes, ...forecast];
  const warnings = assessment.status.conditions.flatMap(({ type, reason, message }) =>
    type === 'SpecWarning' ? [`${message} (${reason})`] : [],
  );
  return { cluster, basis, spec, plan, follows, warnings };
}

/** Said of a plan by which pods restart. */
const turnWords = 'where other clusters of the operator restart pods, this one waits for its turn before it does';

/**
 * Of one whose spec is not valid: what goes on all the same; undefined where nothing does.
 *
 * @param legible what of it counts
 */
export async function invalidPreview(
  engine: KindHandler,
  legible: Cluster<CommonSpec>,
  outcome: Outcome,
  options: LiveOptions,
): Promise<Preview | undefined> {
  const children = await readChildren(options.client, engine, legible.metadata.namespace, legible.metadata.name);
  const steps = await upkeepSteps(engine, legible, children, options);
  if (steps.length === 0) return undefined;
  return { cluster: legible, basis: 'objects', spec: [], plan: { steps, outcome }, follows: [] };
}

/** As the controller does it: undefined where nothing is left inside of another cluster, or it is not asked. */
async function removalOf(
  engine: KindHandler,
  cluster: Cluster<CommonSpec>,
  options: LiveOptions,
  referred: Cluster | undefined,
  about: About | undefined,
): Promise<Plan | undefined> {
  if (engine.removal === undefined || options.way === 'never' || !isHeldForData(cluster)) return undefined;
  const io = ioTo(cluster, about?.children ?? noChildren, options);
  const plan = (await engine.removal(cluster, io, referred))?.plan;
  return plan === undefined || (plan.outcome.state === 'settled' && plan.steps.length === 0) ? undefined : plan;
}

/** It rests on what is in Secrets. */
async function upkeepSteps(
  engine: KindHandler,
  cluster: Cluster,
  children: Children,
  options: LiveOptions,
): Promise<readonly Step[]> {
  if (options.way === 'never') return [];
  return (await engine.maintenance?.plan(cluster, ioTo(cluster, children, options), children)) ?? [];
}

/** The objects are compared all the same; what the processes would have decided is unknown. */
function withoutProcesses({ steps, outcome }: Plan, why: string): Plan {
  // The API server has told that.
  if (outcome.state === 'blocked' && outcome.reason === claimInUse) return { steps: [], outcome };
  return {
    // What Secrets say is unknown, too.
    steps: steps.filter(({ type }) => type !== 'act' && type !== 'issue'),
    outcome: wait('NotObserved', `${why}: only what the API server tells was compared`),
  };
}

async function generatedSecrets(
  engine: KindHandler,
  cluster: Cluster<CommonSpec>,
  client: KubeClient,
): Promise<KubeObject[]> {
  const found = await Promise.all(
    secretsThatGo(engine.resources(cluster), cluster).map(async (wanted) => {
      const live = await findSecret(client, cluster.metadata.namespace, wanted.metadata.name);
      return live !== undefined && wasGeneratedFor(wanted, live) ? [live] : [];
    }),
  );
  return found.flat();
}

/** What holds steps back, where the plan waits for something else. */
function refusals({ outcome, conditions }: Pick<ObstructedPlan, 'outcome' | 'conditions'>): string[] {
  return outcome === undefined ? conditions.map(({ message }) => message) : [];
}
