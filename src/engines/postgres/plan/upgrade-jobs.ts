/** The Job of one task of an upgrade: made where it is missing, made again where it is of no use, and what came of it. */
import { removal } from '../../../jobs/required-backup.ts';
import { fingerprinted } from '../../../plan/difference.ts';
import type { ObjectStep } from '../../../plan/plan.ts';
import type { Situation } from '../observe/situation.ts';
import {
  type UpgradeTask,
  upgradeAnnotation,
  upgradeContainer,
  upgradeJob,
  upgradeJobName,
} from '../resources/upgrade-job.ts';
import type { UpgradeRecord } from '../resources/upgrade-record.ts';
import { type JobResult, jobResult } from './upgrade-result.ts';

/** Of what a Job is made. */
export type Upgrade = Pick<UpgradeRecord, 'from' | 'to' | 'image' | 'generation'>;

export interface TaskProgress {
  readonly name: string;
  readonly result: JobResult;
  readonly steps: readonly ObjectStep[];
}

/** `detail`: what else the Job is made for. */
export function taskProgress(
  situation: Situation,
  upgrade: Upgrade,
  task: UpgradeTask,
  detail = `${upgrade.generation}`,
): TaskProgress {
  const { cluster, children, observed } = situation;
  const name = upgradeJobName(cluster.metadata.name, task);
  const purpose = `${upgrade.from}-${upgrade.to}-${detail}`;
  const result = jobResult(
    children,
    { name, annotation: upgradeAnnotation, purpose, container: upgradeContainer },
    observed.at,
  );
  switch (result.state) {
    case 'missing': {
      const object = upgradeJob(cluster, upgrade.image, upgrade, task, purpose);
      return { name, result, steps: [{ type: 'create', object: fingerprinted(object) }] };
    }
    case 'useless':
      return { name, result, steps: removal(result.job, result.why) };
    default:
      return { name, result, steps: [] };
  }
}

/** Jobs that are left of an upgrade which is over, or was given up: an operator that ends between its writes leaves some. */
export function leftJobs(situation: Situation): ObjectStep[] {
  const { upgrade, wanted, spec } = situation;
  return upgrade === undefined && wanted.version === spec.version ? finishedJobs(situation) : [];
}

/** Jobs of an upgrade that is over. */
export function finishedJobs({ children }: Situation): ObjectStep[] {
  return children.jobs
    .filter(({ metadata }) => metadata.annotations?.[upgradeAnnotation] !== undefined)
    .flatMap((job) => removal(job, 'the upgrade is over'));
}
