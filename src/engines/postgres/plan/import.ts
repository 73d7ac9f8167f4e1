/**
 * `bootstrap.importFrom`: the first member copies a PostgreSQL that runs elsewhere and follows it, by itself, until a person has it cut over.
 * The operator tells it the password of the source and the request, and says how far it is. Until Patroni has begun with the data there is no
 * other member, and no database of this cluster.
 */
import { blocked, type ObjectStep, type Outcome, type Step, wait } from '../../../plan/plan.ts';
import { restartSteps } from '../../../plan/rollout.ts';
import type { PostgresAction } from '../action.ts';
import { formatLsn } from '../client/lsn.ts';
import { followedSource } from '../kind/source.ts';
import { cutOverAnnotation } from '../names.ts';
import type { ImportSeen } from '../observe/import-seen.ts';
import type { LiveMember } from '../observe/observed.ts';
import { hasHeldData, podOf, type Situation } from '../observe/situation.ts';
import type { Roster } from '../resources/roster.ts';
import { memberProblems } from './health.ts';
import { nextRoster } from './members.ts';
import { isOutdated } from './outdated.ts';
import { dropAnnotation } from './recovery.ts';
import { asked, recheckMs } from './restart.ts';

/** No watch tells how far it is. */
const followMs = 5000;

interface ImportPlan {
  readonly roster: Roster;
  readonly steps: readonly Step<PostgresAction>[];
  readonly outcome: Outcome;
}

/** The data of the cluster is yet to come from elsewhere. */
export function isImporting({ cluster, wanted, store, primary }: Situation): boolean {
  const isDone = store.systemId !== undefined || primary !== undefined || cluster.status?.initialized === true;
  return followedSource(wanted) !== undefined && !isDone;
}

/** An earlier cluster of the name has left its data, and something else is asked for. */
export function importOccupied(situation: Situation): Outcome | undefined {
  const { cluster, wanted, roster } = situation;
  const isNew = cluster.status?.initialized !== true && roster.size === 0;
  if (wanted.bootstrap?.importFrom === undefined || !isNew || !hasHeldData(situation)) return undefined;
  return blocked(
    'DataExists',
    'there are volumes or ConfigMaps of an earlier cluster of this name, and an import never writes over data: delete them, import under another name, or make the resource anew without bootstrap.importFrom to go on with their data',
  );
}

/** Undefined where nothing is to be imported any more. */
export function planImport(situation: Situation): ImportPlan | undefined {
  if (!isImporting(situation)) return undefined;
  const roster = nextRoster(situation, { mayShrink: false, isImporting: true });
  const [index = 0] = roster.keys();
  const member = situation.live.get(index);
  const pod = situation.pods.get(index);
  if (pod !== undefined && isOutdated(situation, index) && member?.imported?.phase !== 'cutting-over') {
    const message = `${podOf(situation, index)} restarts with the new template`;
    return { roster, steps: restartSteps(pod), outcome: wait('Restarting', message, recheckMs) };
  }
  if (member?.imported === undefined) {
    const problems = memberProblems(situation);
    const words = problems.length === 0 ? 'the first member begins' : problems.join('; ');
    return { roster, steps: [], outcome: wait('Importing', words, recheckMs) };
  }
  return { roster, ...progress(situation, member, member.imported) };
}

/** A request that is done goes. */
export function settledCutOverSteps(situation: Situation): ObjectStep[] {
  return followedSource(situation.wanted) === undefined ? [] : dropAnnotation(situation, cutOverAnnotation);
}

function progress(situation: Situation, member: LiveMember, seen: ImportSeen): Omit<ImportPlan, 'roster'> {
  const { observed, cluster } = situation;
  const { source } = observed;
  if (source?.state === 'unusable') return { steps: [], outcome: blocked('SecretMissing', source.why, followMs) };
  if (source !== undefined && source.digest !== seen.digest) {
    const action = { type: 'postgres.import', member: asked(member) } as const;
    const summary = `tell ${member.pod} the password of the source`;
    return { steps: [{ type: 'act', action, summary }], outcome: wait('Importing', summary, recheckMs) };
  }
  const request = cluster.metadata.annotations?.[cutOverAnnotation];
  const wrong = request === undefined ? undefined : refusalOf(request, cluster.metadata.uid);
  if (wrong !== undefined) {
    return {
      steps: [],
      outcome: blocked('CutOverRefused', `${cutOverAnnotation} ${wrong}. ${position(seen)}`, followMs),
    };
  }
  const isOpen = seen.phase === 'following' || seen.phase === 'failing';
  if (isOpen && request !== seen.asked) {
    const action = {
      type: 'postgres.cutOver',
      member: asked(member),
      ...(request === undefined ? {} : { request }),
    } as const;
    const summary =
      request === undefined
        ? `withdraw the request to cut over`
        : `cut over to ${member.pod}, as ${cutOverAnnotation} says`;
    const step = { type: 'act', action, summary, ...(request === undefined ? {} : { event: 'CutOver' }) } as const;
    return { steps: [step], outcome: wait('CuttingOver', summary, recheckMs) };
  }
  return { steps: [], outcome: outcomeOf(situation, seen, request) };
}

/** One that was kept in Git, or in a backup of the resource, is for another cluster. In words; undefined where it may be passed on. */
function refusalOf(request: string, uid: string | undefined): string | undefined {
  const [, forUid] =
    /^(?:(?:verified|stopped)@([0-9A-Za-z-]{1,64})|[0-9A-F]{1,8}\/[0-9A-F]{1,8})(?:,collations-differ)?$/.exec(
      request,
    ) ?? [undefined, ''];
  if (forUid === '')
    return `must be verified@UID where the source answers, stopped@UID where it was stopped in order and stays stopped (the UID of this cluster is ${uid}), or the position in the log where it is to end`;
  return forUid === undefined || forUid === uid
    ? undefined
    : `is for the cluster with the UID ${forUid}; this one has ${uid}`;
}

function outcomeOf({ spec, cluster }: Situation, seen: ImportSeen, request: string | undefined): Outcome {
  const { host = '', port } = followedSource(spec) ?? {};
  const from = `${host}:${port}`;
  const { problem } = seen;
  switch (seen.phase) {
    case 'waiting':
      return wait('Importing', 'the first member begins', recheckMs);
    case 'connecting':
      return problem === undefined
        ? wait('Importing', `${from} is asked`, recheckMs)
        : wait('ImportFailing', problem, followMs);
    case 'copying':
      return wait('Importing', `a base backup of ${from} is taken${share(seen)}`, followMs);
    case 'following':
      if (request !== undefined && seen.refusal !== undefined)
        return blocked(
          'CutOverRefused',
          `${seen.refusal}; then remove ${cutOverAnnotation}, and set it again. ${position(seen)}`,
          followMs,
        );
      if (request !== undefined) return wait('CuttingOver', position(seen), recheckMs);
      return problem === undefined
        ? wait(
            'Following',
            [
              `follows ${from}: ${position(seen)}; to cut over, stop the clients of the source and set ${cutOverAnnotation}=verified@${cluster.metadata.uid}, or stop the source in order and set stopped@${cluster.metadata.uid}`,
              ...seen.notes,
            ].join('; '),
            followMs,
          )
        : wait('ImportFailing', `${problem}; ${position(seen)}`, followMs);
    case 'cutting-over':
      return wait('CuttingOver', seen.message ?? 'the copy becomes a database of its own', recheckMs);
    case 'failing':
      return wait('ImportFailing', problem ?? 'the import does not get on', followMs);
    case 'refused':
      return blocked('ImportRefused', problem ?? 'the import is refused', followMs);
    default:
      return seen.phase satisfies never;
  }
}

function share({ copied, total }: ImportSeen): string {
  if (copied === undefined || total === undefined) return '';
  const mebibytes = (bytes: number): string => `${Math.round(bytes / 1024 ** 2)}`;
  return `: ${mebibytes(copied)} of about ${mebibytes(Math.max(copied, total))} MiB`;
}

function position({ source, received, replayed }: ImportSeen): string {
  if (replayed === undefined) return 'the copy has not told its position yet';
  const here = `here ${formatLsn(BigInt(replayed))}`;
  if (source === undefined) return here;
  const behind = Math.max(0, Math.max(source, received ?? 0) - replayed);
  return `${behind} bytes behind, source ${formatLsn(BigInt(source))}, ${here}`;
}
