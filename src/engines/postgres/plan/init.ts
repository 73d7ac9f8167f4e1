/**
 * `init.sql`: run once in a new cluster, by a Job. It ends with a mark on the database, whose owner may change that. So the operator
 * repeats it on the role of the owner. Both are in every copy of the data.
 */
import type { KubeObject } from '../../../api/object.ts';
import { jobState } from '../../../jobs/job-state.ts';
import { jobSteps } from '../../../plan/objects.ts';
import { blocked, type Outcome, type Step, wait } from '../../../plan/plan.ts';
import type { Children, Job } from '../../../resources/children.ts';
import type { PostgresAction } from '../action.ts';
import { initMark, initName } from '../names.ts';
import type { LiveMember } from '../observe/observed.ts';
import type { Situation } from '../observe/situation.ts';
import { initObjects } from '../resources/init.ts';
import { recheckMs } from './restart.ts';

export interface InitPlan {
  readonly steps: readonly Step<PostgresAction>[];
  readonly outcome: Outcome;
}

/** After this time the mark of a transaction that was committed is in what the operator has read. */
const markMs = 60_000;

/** Between two looks: no watch reports a change of a comment. */
const markRecheckMs = 30_000;

/** Undefined where nothing is to be run any more. */
export function planInit({ cluster, children, observed }: Situation, primary: LiveMember): InitPlan | undefined {
  // The data of a restore or an import is no new database, whether SQL has run in it before or not.
  if (cluster.spec.bootstrap !== undefined) return undefined;
  const { application } = observed;
  if (application?.state !== 'seen' || application.init === undefined || application.init === 'done') return undefined;
  if (application.init === 'run') {
    const { pod, address } = primary;
    const action = { type: 'postgres.markFilled', via: { pod, address } } as const;
    const steps = [{ type: 'act', action, summary: 'write down that init.sql has run' } as const];
    return { steps, outcome: wait('Initializing', 'init.sql has run', recheckMs) };
  }
  const objects = initObjects(cluster);
  const made = objects.find(({ kind }) => kind === 'Job');
  const ofText = made === undefined ? undefined : (children.get('Job', made.metadata.name) as Job | undefined);
  // Another text may have run before, and its mark be lost.
  const found = ofText ?? jobsOf(cluster.metadata.name, children).find((job) => isComplete(job, children, observed.at));
  if (found === undefined)
    return { steps: jobSteps(objects, children), outcome: wait('Initializing', 'init.sql is being run', recheckMs) };
  const state = jobState(found, children.jobPods, observed.at);
  switch (state.state) {
    case 'pending':
    case 'running':
      return { steps: [], outcome: wait('Initializing', `init.sql is being run: ${state.message}`, recheckMs) };
    // The database is asked again: the mark came with the last statement.
    case 'complete':
      return {
        steps: [],
        outcome:
          observed.at - state.at > markMs ? markLost(found) : wait('Initializing', 'init.sql has run', recheckMs),
      };
    case 'failed':
      return { steps: [], outcome: blocked('InitFailed', `init.sql failed: ${state.message}`) };
    default:
      return state satisfies never;
  }
}

function jobsOf(name: string, { objects }: Children): readonly Job[] {
  const isInit = ({ kind, metadata }: KubeObject): boolean =>
    kind === 'Job' && metadata.name.startsWith(initName(name, ''));
  return objects.filter(isInit) as readonly Job[];
}

function isComplete(job: Job, { jobPods }: Children, at: number): boolean {
  return jobState(job, jobPods, at).state === 'complete';
}

/** A failover may have lost the transaction, or the owner may have removed the mark. Only a person knows which. */
function markLost({ metadata }: Job): Outcome {
  return blocked(
    'InitFailed',
    `init.sql has run, and its mark is not in the database: a failover has lost the transaction, or somebody has changed the comment of the database; to run it again, delete the Job ${metadata.name}; if all that it wrote is there, add ${initMark} to the comment of the database`,
    markRecheckMs,
  );
}
