/**
 * What of the source of the members' certificate is given to them now. The steps are those of `copying.ts`. libpq reads the CAs of servers for
 * each connection, and PostgreSQL its certificate at a reload, so no step takes a restart. That a member has the next CA is what its pod says:
 * see `relabel.py`. That it shows the next certificate is seen in a handshake.
 */
import type { DesiredCondition } from '../../../api/condition.ts';
import type { SpecWarning } from '../../../engine/spec-warnings.ts';
import { type Copying, type CopyTakers, copying } from '../../../plan/copying.ts';
import { type ActStep, blocked, type ObjectStep, type Outcome, type Step, settled, wait } from '../../../plan/plan.ts';
import type { PostgresAction } from '../action.ts';
import { hasSource } from '../client/server-ca.ts';
import { serverCasAnnotation } from '../names.ts';
import type { LiveMember } from '../observe/observed.ts';
import { readEveryMs } from '../observe/shown-certificate.ts';
import { indexOf, type Situation } from '../observe/situation.ts';
import { issuedSecret } from '../resources/certificates.ts';
import { memberPart } from '../resources/resources.ts';
import { isShownMounted, ownWanted, shownWanted } from '../resources/shown-certificate.ts';
import { isBesideOutdated } from './beside.ts';
import { memberProblems } from './health.ts';
import { isOutdated, isUnsettled } from './outdated.ts';
import { asked } from './restart.ts';
import { willResume } from './resumption.ts';

export interface ShownPlan {
  readonly steps: readonly ObjectStep[];
  /** Why members could trust nobody who starts anew. */
  readonly lost?: string;
  /** Members have yet to be given a certificate: until then nobody can start who mounts it. */
  readonly awaited?: Outcome;
}

/** How often to look again while the kubelets bring new files to the pods. */
const underWayMs = 5_000;
/** Between two reloads of a server whose files are not there yet. */
const reloadMs = 15_000;
const issuingMs = 1_000;
const missingMs = 5_000;
const unusableMs = 30_000;

export function planShown(situation: Situation): ShownPlan {
  const { cluster } = situation;
  const step = copyingIn(situation);
  if (step === undefined) return { steps: [] };
  const { shown } = situation.observed;
  // Where nobody was asked, as in an offline plan, what a new cluster begins with is shown, and nothing else is known.
  if (shown === undefined && step.state !== 'due') return { steps: [] };
  const isAwaited = shown !== undefined && shown.copy === undefined;
  switch (step.state) {
    case 'due': {
      const { object } = issuedSecret(cluster, step.secret, memberPart(cluster));
      const { issue, reason } = step;
      const awaited = wait('IssuingCertificates', `Secret ${step.secret} is being made`, issuingMs);
      return { steps: [{ type: 'issue', object, issue, reason }], ...(isAwaited ? { awaited } : {}) };
    }
    case 'held':
      return { steps: [], ...(isAwaited ? { awaited: awaiting(situation, step.message) } : {}) };
    case 'lost':
      return { steps: [], lost: step.message };
    case 'done':
      return { steps: [] };
    default:
      return step satisfies never;
  }
}

/** Somebody has yet to bring it, or has brought one that nobody can use. */
function awaiting({ observed }: Situation, message: string): Outcome {
  return observed.shown?.source.source.digest === ''
    ? wait('AwaitingCertificates', message, missingMs)
    : blocked('CertificateUnusable', message, unusableMs);
}

/** Undefined where members show what the operator issues, as it is. */
function copyingIn(situation: Situation): Copying | undefined {
  const { cluster, observed } = situation;
  const wanted = shownWanted(cluster);
  if (wanted === undefined) return undefined;
  const nothing = { source: { digest: '' }, copy: { digest: '' } };
  const { source = nothing, own } = observed.shown ?? {};
  const takers = takersIn(situation);
  // Those who run, or have stopped for an upgrade, show the operator's certificate, and trust its CA alone: that is what they begin with.
  if (
    own !== undefined &&
    (!takers.areNone || takers.willResume === true) &&
    !isShownMounted([...situation.sets.values()], cluster.metadata.name)
  ) {
    return copying(ownWanted(cluster.metadata.name), own, { ...takers, trustSource: true }, observed.at);
  }
  return copying(wanted, source, takers, observed.at);
}

function takersIn(situation: Situation): CopyTakers {
  const { pods, sets, roster, live, observed } = situation;
  const { shown } = observed;
  const areNone = pods.size === 0 && [...sets.values()].every(({ spec }) => spec?.replicas === 0);
  const doAllTrust = (cas: string | undefined): boolean =>
    cas !== undefined &&
    [...roster.keys()].every((index) => pods.get(index)?.metadata.annotations?.[serverCasAnnotation] === cas);
  const areWell =
    memberProblems(situation).length === 0 &&
    !isUnsettled(situation) &&
    !isBesideOutdated(situation) &&
    [...roster.keys()].every((index) => !isOutdated(situation, index));
  const doAllShow = [...roster.keys()].every((index) => {
    const server = live.get(index)?.server;
    return server?.state === 'seen' && server.shown === shown?.copy?.fingerprint;
  });
  return {
    areNone,
    // Their archive, poolers and clients have yet to trust another CA.
    willResume: willResume(situation),
    areUpToDate: areNone || (areWell && doAllTrust(shown?.copy?.cas) && doAllShow),
    trustSource: doAllTrust(shown?.sourceCas),
  };
}

/** Servers that have yet to read their files again, or to say that they have: nobody tells PostgreSQL when the kubelet has replaced them. */
export function shownReloads(situation: Situation): ActStep<PostgresAction>[] {
  return behind(situation)
    .filter(({ server }) =>
      server?.state === 'seen'
        ? server.facts.configAgeMs >= reloadMs
        : server?.state === 'unknown' && /certificate/i.test(server.why),
    )
    .map((member) => ({
      type: 'act',
      action: { type: 'postgres.reload', member: asked(member) },
      summary: `have ${member.pod} read the certificate that it shows, and the CAs of the others`,
    }));
}

function behind(situation: Situation): LiveMember[] {
  const { copy } = situation.observed.shown ?? {};
  if (copy === undefined) return [];
  return [...situation.live.values()].filter((member) => {
    const index = indexOf(situation, member);
    const pod = index === undefined ? undefined : situation.pods.get(index);
    // One that has yet to restart with the new template has no such files.
    if (index === undefined || pod === undefined || isOutdated(situation, index) || member.postgres !== 'running')
      return false;
    const { server } = member;
    const isTold = pod.metadata.annotations?.[serverCasAnnotation] === copy.cas;
    return !isTold || (server?.state === 'seen' ? server.shown !== copy.fingerprint : server?.state === 'unknown');
  });
}

/** The cluster is as the spec says. What no watch tells of is looked at again. */
export function settledWith(situation: Situation): Outcome {
  if (!hasSource(situation.cluster)) return settled;
  const step = copyingIn(situation);
  const isUnderWay = behind(situation).length > 0 || step?.state === 'due' || isWaiting(step);
  return { state: 'settled', recheckMs: isUnderWay ? underWayMs : readEveryMs };
}

const isWaiting = (step: Copying | undefined): boolean => step?.state === 'held' && step.reason === 'NotTrustedYet';

/** Why the members do not show what the source says. */
export function heldBack(situation: Situation): DesiredCondition[] {
  const step = copyingIn(situation);
  if (step?.state !== 'held' || situation.observed.shown?.copy === undefined) return [];
  return [{ type: 'CertificateHeldBack', status: 'True', reason: step.reason, message: step.message }];
}

export function nameWarnings({ cluster, observed }: Situation): SpecWarning[] {
  const missing = observed.shown?.copy?.missingNames ?? [];
  if (missing.length === 0) return [];
  const from = shownWanted(cluster)?.from ?? '';
  const message = `the certificate that members show, of Secret ${from}, is not valid for ${missing.join(', ')}: clients that connect by that name with sslmode=verify-full refuse it`;
  return [{ reason: 'CertificateNames', message }];
}

/**
 * Until members have a certificate no template names it: a pod would wait for it. Nor does the Role name the pods of StatefulSets that are
 * not made.
 */
export function withoutTemplates(steps: readonly Step<PostgresAction>[]): Step<PostgresAction>[] {
  const writes = (step: Step<PostgresAction>, kind: string): boolean =>
    (step.type === 'create' || step.type === 'apply') && step.object.kind === kind;
  const isOneMissing = steps.some((step) => step.type === 'create' && step.object.kind === 'StatefulSet');
  return steps.filter(
    (step) => !writes(step, 'StatefulSet') && !(isOneMissing && (writes(step, 'Role') || writes(step, 'RoleBinding'))),
  );
}
