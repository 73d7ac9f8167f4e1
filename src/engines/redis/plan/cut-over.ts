/**
 * The end of an import, which a person asks for by an annotation that names the UID of the cluster. The request is tried for a minute, and
 * then refused until it is withdrawn: a copy never becomes a database at a later moment than the one that a person has looked at. What it needs is
 * checked by the action itself, on both servers.
 */
import { blocked, type Outcome, wait } from '../../../plan/plan.ts';
import { cutOverAnnotation, cutOverUntilAnnotation, termAnnotation } from '../names.ts';
import type { SourceFacts } from '../observe/source.ts';
import { annotationSteps } from './annotations.ts';
import { followMs, type Import, type ImportPlan } from './import-state.ts';
import { termFor } from './record.ts';
import { target } from './repair.ts';

/** From the first look at a request. An attempt takes up to ten seconds. */
export const triedForMs = 60_000;
const soonMs = 1000;

/** @param problem why the source cannot be compared with; `facts` are there where it can */
export function planCutOver(found: Import, facts: SourceFacts | undefined, problem: string | undefined): ImportPlan {
  const { situation, node, claim, source } = found;
  const { cluster, observed } = situation;
  const { metadata } = claim;
  const request = cluster.metadata.annotations?.[cutOverAnnotation];
  const until = metadata.annotations?.[cutOverUntilAnnotation];
  const withdrawn = { [cutOverUntilAnnotation]: null, [termAnnotation]: null };
  if (request === undefined) {
    return { steps: annotationSteps(claim, withdrawn), outcome: following(found, facts, problem) };
  }
  const asked = requestIn(request, cluster.metadata.uid);
  if ('wrong' in asked) {
    return {
      steps: annotationSteps(claim, withdrawn),
      outcome: refused(`${cutOverAnnotation} ${asked.wrong}`, found, facts),
    };
  }
  const now = observed.at ?? 0;
  if (until === undefined) {
    const steps = annotationSteps(claim, { [cutOverUntilAnnotation]: new Date(now + triedForMs).toISOString() });
    return { steps, outcome: wait('CuttingOver', `the request is tried for ${triedForMs / 1000} s`, soonMs) };
  }
  const obstacle = obstacleTo(found, facts, problem, asked.givenUpAt);
  if (!(now <= Date.parse(until))) {
    const why =
      obstacle ?? 'the source was written to, or the copy did not catch up with it: events of this resource say which';
    const message = `not cut over within ${triedForMs / 1000} s: ${why}; remove ${cutOverAnnotation}, and set it again`;
    return { steps: annotationSteps(claim, { [termAnnotation]: null }), outcome: refused(message, found, facts) };
  }
  if (obstacle !== undefined) {
    return { steps: [], outcome: wait('CuttingOver', `${obstacle}. ${position(found, facts)}`, soonMs) };
  }
  const term = termFor(situation, node);
  const action = {
    type: 'redis.cutOver',
    node: target(node),
    from: { host: source.host, port: source.port },
    term,
    ...(asked.givenUpAt === undefined ? {} : { givenUpAt: asked.givenUpAt }),
  } as const;
  const summary = `cut over to ${node.pod}, as ${cutOverAnnotation} says`;
  return {
    steps: [
      ...annotationSteps(claim, { [termAnnotation]: String(term) }),
      { type: 'act', action, summary, event: 'CutOver' },
    ],
    outcome: wait('CuttingOver', summary, soonMs),
  };
}

type Request = { readonly givenUpAt?: number } | { readonly wrong: string };

/** One that was kept in Git, or in a backup of the resource, is for another cluster. */
function requestIn(request: string, uid: string | undefined): Request {
  const [, how = '', forUid] = /^(verified|\d{1,15})@([0-9A-Za-z-]{1,64})$/.exec(request) ?? [];
  if (forUid === undefined) {
    return {
      wrong: `must be verified@UID where the source answers, or OFFSET@UID where it is gone for good and the copy ends at that offset (the UID of this cluster is ${uid})`,
    };
  }
  if (forUid !== uid) return { wrong: `is for the cluster with the UID ${forUid}; this one has ${uid}` };
  return how === 'verified' ? {} : { givenUpAt: Number(how) };
}

/** What has to pass before an attempt is of use. */
function obstacleTo(
  { node, situation }: Import,
  facts: SourceFacts | undefined,
  problem: string | undefined,
  givenUpAt: number | undefined,
): string | undefined {
  const { imports, linkUp, unwritten, offset } = node;
  const seen = situation.observed.source;
  if (!imports.wasLinked || imports.isSyncing) return 'the copy is not whole';
  if (unwritten === true) return 'the copy is not on the volume yet';
  if (givenUpAt === undefined) {
    if (facts === undefined) return problem ?? 'the source does not answer';
    if (facts.keys === 0)
      return 'the source is empty, and so is the copy: is it the right one? A cluster without data needs no import';
    return linkUp ? undefined : 'the copy has no link to the source';
  }
  if (seen?.state !== 'silent') return 'the source answers: stop its clients, and ask for verified@UID';
  if (seen.isRefusal === true) return `the source answers, and nobody knows whether it is written to: ${seen.why}`;
  if (linkUp) return 'the copy has a link to the source';
  return offset === givenUpAt ? undefined : `the copy ends at the offset ${offset}, not at ${givenUpAt}`;
}

function refused(message: string, found: Import, facts: SourceFacts | undefined): Outcome {
  return blocked('CutOverRefused', `${message}. ${position(found, facts)}`, followMs);
}

function following(found: Import, facts: SourceFacts | undefined, problem: string | undefined): Outcome {
  const { source, node, situation } = found;
  const { imports, linkUp, unwritten } = node;
  const place = `${source.host}:${source.port}`;
  if (problem !== undefined) {
    const end = imports.wasLinked && !imports.isSyncing && !linkUp;
    const advice = end
      ? `; where the source is gone for good, ${cutOverAnnotation}=${node.offset}@${situation.cluster.metadata.uid} goes on with what the copy has`
      : '';
    return wait('ImportFailing', `${problem}; ${position(found, facts)}${advice}`, followMs);
  }
  if (imports.isSyncing) return wait('Importing', `${place} is copied${share(found)}`, followMs);
  if (!linkUp)
    return wait('ImportFailing', `${node.pod} has no link to ${place}, and tries again; its log says why`, followMs);
  if (unwritten === true) return wait('Importing', 'the copy is written to the volume', followMs);
  const notes = facts?.keys === 0 ? '; the source is empty: is it the right one?' : '';
  const advice = `to cut over, stop the clients of the source and set ${cutOverAnnotation}=verified@${situation.cluster.metadata.uid}`;
  return wait('Following', `follows ${place}: ${position(found, facts)}; ${advice}${notes}`, followMs);
}

function share({ node: { imports } }: Import): string {
  const { copied, total } = imports;
  // A server that sends its copy without a file does not know how large it will be.
  if (copied === undefined || copied === 0) return '';
  const mebibytes = (bytes: number): string => `${Math.round(bytes / 1024 ** 2)}`;
  const of = total === undefined || total < copied ? '' : ` of ${mebibytes(total)}`;
  return `: ${mebibytes(copied)}${of} MiB`;
}

function position({ node }: Import, facts: SourceFacts | undefined): string {
  const here = `here ${node.offset}`;
  if (facts === undefined) return here;
  return `${Math.max(0, facts.offset - node.offset)} bytes behind, source ${facts.offset}, ${here}`;
}
