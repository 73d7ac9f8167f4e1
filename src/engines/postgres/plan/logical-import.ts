/**
 * `bootstrap.importFrom.logical`: a Job copies one database of a PostgreSQL that runs elsewhere into a database that is made for this Job
 * alone. When the copy is whole, it becomes the first database by a new name. So the first database is the whole copy or does not exist.
 *
 * The mark in the comment of a copy says that it is whole, whatever became of the Job. Databases of earlier attempts are dropped.
 */
import { removal } from '../../../jobs/required-backup.ts';
import { fingerprinted } from '../../../plan/difference.ts';
import { jobSteps } from '../../../plan/objects.ts';
import { type ActStep, blocked, type Outcome, type Step, wait } from '../../../plan/plan.ts';
import type { PostgresAction } from '../action.ts';
import { dumpedSource } from '../kind/source.ts';
import { copyAnnotation, dumpJobName, stagingName } from '../names.ts';
import type { LiveMember } from '../observe/observed.ts';
import type { Situation } from '../observe/situation.ts';
import { dumpContainer, dumpJob } from '../resources/dump-job.ts';
import { recheckMs } from './restart.ts';
import { jobResult } from './upgrade-result.ts';

export interface CopyPlan {
  readonly steps: readonly Step<PostgresAction>[];
  readonly outcome: Outcome;
}

/** After a failure that may pass by itself. The next attempt copies everything again. */
const againMs = 60_000;
/** A copy takes minutes to hours, and the end of its pod is an event. */
const watchMs = 15_000;

/** The first database is yet to come from elsewhere: nobody else may make it. True while that is not known. */
export function awaitsCopy({ wanted, observed }: Situation): boolean {
  const { staging } = observed;
  return dumpedSource(wanted) !== undefined && !(staging?.state === 'seen' && staging.isFilled);
}

/** Undefined where nothing is to be copied any more. */
export function planLogicalImport(situation: Situation, primary: LiveMember): CopyPlan | undefined {
  if (!isDue(situation)) return undefined;
  const { children, cluster, observed, wanted } = situation;
  const { staging } = observed;
  if (staging?.state !== 'seen')
    return { steps: [], outcome: wait('Importing', staging?.why ?? 'the primary is asked', recheckMs) };
  if (observed.source?.state === 'unusable')
    return { steps: [], outcome: blocked('SecretMissing', observed.source.why, watchMs) };
  const name = dumpJobName(cluster.metadata.name);
  const job = children.jobs.find(({ metadata }) => metadata.name === name);
  const own = job === undefined ? '' : stagingName(job.metadata.uid);
  const found = staging.databases.find(({ database }) => database === own);
  const leftovers = staging.databases.filter(({ database }) => database !== own);
  const drops = leftovers.map(({ database }) =>
    staged(primary, 'drop', database, `drop ${database}, which an earlier attempt has left`),
  );
  const first = wanted.initial.database;
  if (found?.copied !== undefined) {
    const step = staged(primary, 'publish', own, `make the copy database ${first}: ${found.copied}`);
    return {
      steps: [{ ...step, event: 'Imported' }],
      outcome: wait('Importing', `the copy becomes database ${first}`, recheckMs),
    };
  }
  const wantedJob = { name, annotation: copyAnnotation, purpose: wanted.version, container: dumpContainer };
  const result = jobResult(children, wantedJob, observed.at);
  switch (result.state) {
    case 'missing':
      return {
        steps: [...jobSteps(dumpJob(cluster), children), ...drops],
        outcome: wait('Importing', `a Job is made that copies database ${sourceOf(situation)}`, recheckMs),
      };
    case 'useless':
      return { steps: removal(result.job, result.why), outcome: wait('Importing', result.why, recheckMs) };
    case 'running': {
      const objects = dumpJob(cluster).filter(({ kind }) => kind !== 'Job');
      const told = objects.filter(({ kind, metadata }) => children.get(kind, metadata.name) === undefined);
      const made = found === undefined ? [staged(primary, 'create', own, `make database ${own}, which is filled`)] : [];
      return {
        steps: [
          ...told.map((object) => ({ type: 'create', object: fingerprinted(object) }) as const),
          ...made,
          ...drops,
        ],
        outcome: wait('Importing', `database ${sourceOf(situation)} is copied: ${result.message}`, watchMs),
      };
    }
    // It ends with the mark. Without it, somebody has dropped what was copied.
    case 'done':
      return job === undefined
        ? undefined
        : {
            steps: removal(job, 'its copy is gone'),
            outcome: wait('Importing', `the copy is gone, and is made again`, recheckMs),
          };
    case 'failed': {
      if (result.isRefused)
        return {
          steps: [],
          outcome: blocked('ImportRefused', `${result.message}. To try again, delete Job ${name}`, watchMs),
        };
      const left = endOf(situation, name) + againMs - observed.at;
      const steps = left > 0 || job === undefined ? [] : removal(job, 'it has failed, and another attempt begins');
      return {
        steps,
        outcome: wait('ImportFailing', `${result.message}; everything is copied again`, Math.max(left, 1000)),
      };
    }
    default:
      return result satisfies never;
  }
}

/** What is left when the first database is there: the Job, and databases of attempts that were given up. */
export function settledCopySteps(situation: Situation, primary: LiveMember): Step<PostgresAction>[] {
  const { wanted, children, observed, cluster } = situation;
  const { staging } = observed;
  if (dumpedSource(wanted) === undefined || staging?.state !== 'seen' || isDue(situation)) return [];
  const name = dumpJobName(cluster.metadata.name);
  const jobs = children.jobs.filter(
    ({ metadata }) => metadata.name === name && metadata.deletionTimestamp === undefined,
  );
  return [
    ...jobs.flatMap((job) => removal(job, 'the import is over')),
    ...staging.databases.map(({ database }) =>
      staged(primary, 'drop', database, `drop ${database}, which the import has left`),
    ),
  ];
}

function isDue(situation: Situation): boolean {
  const { application } = situation.observed;
  return awaitsCopy(situation) && application?.state === 'seen' && application.facts.owner === undefined;
}

function staged(
  { pod, address }: LiveMember,
  change: 'create' | 'drop' | 'publish',
  database: string,
  summary: string,
): ActStep<PostgresAction> {
  return { type: 'act', action: { type: 'postgres.stage', via: { pod, address }, change, database }, summary };
}

function sourceOf({ wanted }: Situation): string {
  const source = dumpedSource(wanted);
  return source === undefined ? '' : `${source.logical.database} of ${source.host}:${source.port}`;
}

function endOf({ children }: Situation, name: string): number {
  const job = children.jobs.find(({ metadata }) => metadata.name === name);
  const failed = job?.status?.conditions?.find(({ type, status }) => type === 'Failed' && status === 'True');
  return Date.parse(failed?.lastTransitionTime ?? '') || 0;
}
