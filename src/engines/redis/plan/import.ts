/**
 * `bootstrap.importFrom`: the first node copies a server that runs elsewhere and follows it until a person has it cut over. Until then there is
 * no other node and no sentinel, and the volume has no mark: a node that starts again takes no writes by itself, and is told anew.
 *
 * How far it is stands in the world: the claim says for which cluster the copy is, from before it begins, until when a request to cut over is tried, and
 * the term, which is written before the node becomes primary. The node says whether it copies for an import, and whom it follows.
 */
import { blocked, type ObjectStep, type Outcome, wait } from '../../../plan/plan.ts';
import { importSource } from '../kind/source.ts';
import { choiceAnnotation, cutOverAnnotation, cutOverUntilAnnotation, importAnnotation, redisNames } from '../names.ts';
import {
  choiceNaming,
  claimOf,
  dataPodNames,
  isChosen,
  type Situation,
  sizeToldBy,
  termOf,
} from '../observe/situation.ts';
import type { SourceFacts } from '../observe/source.ts';
import { annotationSteps } from './annotations.ts';
import { planCutOver } from './cut-over.ts';
import { importRefusal } from './import-refusal.ts';
import { followMs, type Import, type ImportPlan } from './import-state.ts';
import { nodeProblem } from './node-problem.ts';
import { annotationGone } from './record.ts';
import { promotion, target } from './repair.ts';
import type { Sizes } from './scaling.ts';

const soonMs = 500;

/** The data of the cluster is yet to come from elsewhere. */
export function isImporting({ cluster, topology }: Situation): boolean {
  const isDone = cluster.status?.initialized === true || topology.primary !== undefined;
  const isWatched = topology.watching.length > 0;
  return importSource(cluster) !== undefined && !isDone && !isWatched;
}

/** An earlier cluster of the name has left its data, and something else is asked for. Nothing is made then: a node would begin with that data. */
export function importOccupied(situation: Situation): Outcome | undefined {
  const { cluster, children } = situation;
  if (!isImporting(situation)) return undefined;
  const others = children.claims.filter(
    ({ metadata }) => metadata.annotations?.[importAnnotation] !== cluster.metadata.uid,
  );
  const isNew = children.statefulSet(redisNames(cluster.metadata.name).data) === undefined;
  const isHeld = others.some((claim) => isNew || termOf(claim) > 0);
  if (!isHeld) return undefined;
  const names = others.map(({ metadata }) => metadata.name).join(', ');
  return blocked(
    'DataExists',
    `there are volumes of an earlier cluster of this name (${names}), and an import never writes over data: delete them, import under another name, or make the resource anew without bootstrap.importFrom to go on with their data`,
  );
}

/** One node, and no sentinel that could elect anybody. What is there already stays. */
export function importSizes({ cluster, children, dataPods, dataSize, sentinelSize }: Situation): Sizes {
  const names = redisNames(cluster.metadata.name);
  const told = sizeToldBy(
    names.data,
    dataPods.map(({ metadata }) => metadata.name),
    1,
  );
  return {
    data: children.statefulSet(names.data) === undefined ? told : dataSize,
    sentinels: children.statefulSet(names.sentinel) === undefined ? 0 : sentinelSize,
  };
}

/** Undefined where nothing is to be imported any more. */
export function planImport(situation: Situation): ImportPlan | undefined {
  const { cluster, nodes, dataPods, children } = situation;
  const source = importSource(cluster);
  if (source === undefined || !isImporting(situation)) return undefined;
  const [seed = ''] = dataPodNames(cluster, 1);
  const node = nodes.find(({ pod }) => pod === seed);
  const claim = claimOf(children, seed);
  if (node?.imports === undefined || claim === undefined) {
    const problems = dataPods.flatMap((pod) => nodeProblem(pod) ?? []);
    const words = problems.length === 0 ? `${seed} does not answer yet` : problems.join('; ');
    return { steps: [], outcome: wait('Importing', words, dataPods.length === 0 ? undefined : soonMs) };
  }
  const found: Import = { situation, source, node: { ...node, imports: node.imports }, claim };
  return planInterrupted(found) ?? planMark(found) ?? planSource(found);
}

/** It ended between its cut-over and the moment in which its volume could tell of that. It may have taken writes. */
function planInterrupted({ situation, node, claim }: Import): ImportPlan | undefined {
  const { pod, imports, failoverEligible } = node;
  if (imports.isTold || termOf(claim) === 0) return undefined;
  const isByHand = isChosen(situation, pod);
  if (failoverEligible || isByHand) {
    const why = isByHand ? `the annotation ${choiceAnnotation} names it` : 'it had cut over before it started again';
    const action = promotion(situation, node, termOf(claim));
    const step = { type: 'act', action, summary: `make ${pod} primary: ${why}`, event: 'Promote' } as const;
    return { steps: [step], outcome: wait('Promoting', `${pod} becomes primary`, soonMs) };
  }
  const message = `${pod} ended while it cut over: it may have taken writes, and does not tell whether it holds all of them. To go on with what it has, set the annotation ${choiceAnnotation} to ${choiceNaming(situation, pod)}; to copy everything again, delete this cluster and its volumes, and make it anew`;
  return { steps: [], outcome: blocked('ImportInterrupted', message, followMs) };
}

/** A copy replaces what a node has: it begins on a volume that was seen blank, and that says so from then on. */
function planMark({ situation, node, claim }: Import): ImportPlan | undefined {
  const { uid = '' } = situation.cluster.metadata;
  if (claim.metadata.annotations?.[importAnnotation] === uid) return undefined;
  if (!node.empty || node.failoverEligible || uid === '') {
    const message = `the volume of ${node.pod} holds data that is not of this import, and an import never writes over data: delete this cluster and the volume, and make it anew`;
    return { steps: [], outcome: blocked('DataExists', message, followMs) };
  }
  const steps = annotationSteps(claim, { [importAnnotation]: uid });
  return { steps, outcome: wait('Importing', `${node.pod} is about to copy`, soonMs) };
}

function planSource(found: Import): ImportPlan {
  const { situation, source, node } = found;
  const { observed, cluster } = situation;
  const { imports } = node;
  const place = `${source.host}:${source.port}`;
  const seen = observed.source;
  if (seen?.state === 'unusable') return { steps: [], outcome: blocked('SecretMissing', seen.why, followMs) };
  if (seen === undefined || seen.state === 'silent') {
    const why = seen === undefined ? 'nobody has asked it yet' : seen.why;
    const words = seen?.isRefusal === true ? `${place} answers: ${why}` : `${place} does not answer: ${why}`;
    if (!imports.isTold) return { steps: [], outcome: wait('ImportFailing', words, followMs) };
    return planCutOver(found, undefined, words);
  }
  const { facts } = seen;
  if (facts.isLoading) {
    return { steps: [], outcome: wait('ImportFailing', `${place} is loading its dataset`, followMs) };
  }
  const refusal = importRefusal(facts, node, cluster);
  if (!imports.isTold && refusal !== undefined) {
    return { steps: [], outcome: blocked('ImportRefused', `${place} cannot be imported: ${refusal}`, followMs * 2) };
  }
  if (refusal !== undefined) return planCutOver(found, undefined, `${place} cannot be cut over from: ${refusal}`);
  const told = tell(found, facts);
  if (told !== undefined) return told;
  return planCutOver(found, facts, undefined);
}

/** It has yet to be told, or of another login; or the name of the source has come to mean another server. */
function tell({ source, node }: Import, facts: SourceFacts): ImportPlan | undefined {
  const { imports, linkUp } = node;
  const isThere = imports.host === source.host && imports.port === source.port;
  const isAtAnother = isThere && linkUp && facts.replid !== imports.replid;
  if (imports.isTold && imports.hasLogin && isThere && !isAtAnother) return undefined;
  const from = { host: source.host, port: source.port };
  const action = { type: 'redis.import', node: target(node), from, anew: isAtAnother } as const;
  const summary = `have ${node.pod} copy from ${source.host}:${source.port}`;
  return { steps: [{ type: 'act', action, summary }], outcome: wait('Importing', summary, soonMs) };
}

/** A request that is done goes. */
export function settledCutOverSteps({ cluster, children }: Situation): ObjectStep[] {
  if (importSource(cluster) === undefined) return [];
  const tried = children.claims.flatMap((claim) => annotationSteps(claim, { [cutOverUntilAnnotation]: null }));
  return [...tried, ...annotationGone(cluster, cutOverAnnotation)];
}
