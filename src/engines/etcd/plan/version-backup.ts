/**
 * The backup that comes before another minor version. It is found by its Job, which says between which minors: as long as
 * no member may have begun to run the new one, a Job of the same two that has ended well within the hour is that backup.
 * Afterwards it stays as the record of it, until the next one takes its name.
 */
import type { Cluster } from '../../../api/cluster.ts';
import type { OwnBackup } from '../../../engine/backup-support.ts';
import { configName } from '../../../jobs/agent-job.ts';
import { beforeAnnotation, goodForMs, removal } from '../../../jobs/required-backup.ts';
import type { ObjectStep } from '../../../plan/plan.ts';
import type { EtcdSpec } from '../kind/schema.ts';
import { minorNumber } from '../kind/versions.ts';
import type { Situation } from '../observe/situation.ts';

export function versionJobName(cluster: string): string {
  return `${cluster}-version-backup`;
}

const between = (from: number, to: number): string => `3.${from}-3.${to}`;

/**
 * `now` in milliseconds. The generation tells it from the one of the same two minors that was taken a year ago, and the
 * hour from one that is too old by now: an attempt that is repeated within the hour finds what is stored.
 */
export function versionBackup({ metadata, spec }: Cluster<EtcdSpec>, from: number, now: number): OwnBackup {
  const { name, uid, generation = 0 } = metadata;
  return {
    name: versionJobName(name),
    purpose: 'version',
    before: between(from, minorNumber(spec.version)),
    ...(uid === undefined ? {} : { uid: `${uid}-${generation}-${Math.floor(now / goodForMs)}` }),
  };
}

/** All members are of the minor that is wanted: one that was taken for another, to which nobody has gone, is of no use. */
export function doneWith({ cluster, children, spec }: Situation): ObjectStep[] {
  const name = versionJobName(cluster.metadata.name);
  const left = [children.get('Job', name), children.get('ConfigMap', configName({ name }))];
  return left.flatMap((found) => {
    const before = found?.metadata.annotations?.[beforeAnnotation];
    const isFor = before?.endsWith(`-3.${minorNumber(spec.version)}`) === true;
    return found === undefined || isFor
      ? []
      : removal(found, 'the version that it was taken for is not wanted any more');
  });
}
