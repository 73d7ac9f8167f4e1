/** Stories of a major upgrade from 15 to 17: its record, its Jobs, and Patroni's configuration with a pause. */
import type { KubeObject } from '../../src/api/object.ts';
import { situationOf } from '../../src/engines/postgres/observe/situation.ts';
import { planPostgres } from '../../src/engines/postgres/plan/plan.ts';
import { type UpgradeTask, upgradeContainer, upgradeJob } from '../../src/engines/postgres/resources/upgrade-job.ts';
import type { Stage, UpgradeRecord } from '../../src/engines/postgres/resources/upgrade-record.ts';
import { stored } from '../../src/testing/stored-object.ts';
import { now, postgresCluster, postgresWorld, type Story, systemId } from './postgres-situation.ts';

export const spec = { version: '17', image: 'postgres:17', upgrade: { withoutBackup: true } } as const;
export const before = { version: '15', image: 'postgres:17' } as const;
const versions = { from: '15', to: '17' } as const;
export const base: UpgradeRecord = {
  stage: 'stopping',
  ...versions,
  image: 'postgres:17',
  leader: 0,
  generation: 1,
  oldSystem: systemId,
};
export const at = (stage: Stage, more: Partial<UpgradeRecord> = {}): UpgradeRecord => ({ ...base, stage, ...more });
export const kept = { kept: [1, 2] };
export const told = { ...kept, newSystem: '8008' };

export type Ending =
  | 'running'
  | 'lost'
  /** Its only pod was deleted, and Kubernetes waits before the next one. */
  | 'robbed'
  /** The same, of a Job that has just been made. */
  | 'robbed at once'
  /** Somebody has deleted the Job: its pod is still there. */
  | 'orphaned'
  | { readonly says: string }
  /** Its last pod has ended with this code, and the Job has given up. */
  | { readonly fails: number; readonly says: string };

export function jobOf(task: UpgradeTask, ending: Ending, purpose = '15-17-1'): KubeObject[] {
  return ended(upgradeJob(postgresCluster(spec), 'postgres:17', versions, task, purpose), upgradeContainer, ending);
}

/** A Job and its pod. `lost`: it has ended well a while ago, and its pod is gone. */
export function ended(wanted: KubeObject, container: string, ending: Ending): KubeObject[] {
  const job = stored(wanted);
  const uid = `uid-${job.metadata.name}`;
  const pod = (terminated?: object): KubeObject => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `${job.metadata.name}-x1y2z`,
      namespace: 'apps',
      labels: { ...job.metadata.labels, 'batch.kubernetes.io/job-name': job.metadata.name },
      ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name: job.metadata.name, uid, controller: true }],
    },
    status: {
      phase: 'Running',
      containerStatuses: [{ name: container, state: terminated === undefined ? { running: {} } : { terminated } }],
    },
  });
  const made = (type?: string): KubeObject => ({
    ...job,
    metadata: { ...job.metadata, uid, creationTimestamp: new Date(now - 90_000).toISOString() },
    status: {
      conditions:
        type === undefined ? [] : [{ type, status: 'True', lastTransitionTime: new Date(now - 60_000).toISOString() }],
    },
  });
  if (ending === 'running') return [made(), pod()];
  if (ending === 'robbed') return [{ ...made(), status: { failed: 1 } } as KubeObject];
  if (ending === 'robbed at once') {
    const creationTimestamp = new Date(now - 5_000).toISOString();
    return [{ ...made(), metadata: { ...made().metadata, creationTimestamp }, status: { failed: 1 } } as KubeObject];
  }
  if (ending === 'orphaned') return [pod()];
  if (ending === 'lost') return [made('Complete')];
  if ('fails' in ending) return [made('Failed'), pod({ exitCode: ending.fails, message: ending.says })];
  return [made('Complete'), pod({ exitCode: 0, message: ending.says })];
}

export const withJobs = (...jobs: readonly (readonly KubeObject[])[]): Pick<Story, 'children'> => ({
  children: (objects) => [...objects, ...jobs.flat()],
});

export const paused = { all: { isPaused: true } } as const;
export const withPause =
  (...jobs: readonly (readonly KubeObject[])[]): NonNullable<Story['children']> =>
  (objects) => [
    ...objects.map((object) => {
      const { config, ...rest } = object.metadata.annotations ?? {};
      if (object.metadata.name !== 'db-config' || config === undefined) return object;
      const annotations = { ...rest, config: JSON.stringify({ ...JSON.parse(config), pause: true }) };
      return { ...object, metadata: { ...object.metadata, annotations } };
    }),
    ...jobs.flat(),
  ];
export const allGone = { members: { all: 'gone' }, primary: 'nobody', leader: 0, running: [] } as const;
export const checkpoint = (state: string, location = '0/F8157678', id = systemId, timeline = 2): Ending => ({
  says: `system=${id}\nstate=${state}\ncheckpoint=${location}\ntimeline=${timeline}`,
});
export const compared = (...endings: readonly Ending[]) =>
  endings.map((ending, index) => jobOf({ mode: 'checkpoint', index }, ending));

/** What the roster's ConfigMap becomes. */
export function recordAfter(story: Story): Record<string, unknown> | undefined {
  const { cluster, children, observed } = postgresWorld(story);
  const { steps } = planPostgres(situationOf(cluster, children, observed), () => undefined);
  const step = steps.find((one) => one.type === 'apply' && one.object.metadata.name === 'db-members');
  if (step?.type !== 'apply') return undefined;
  const { upgrade, ...data } = step.object.data as Record<string, string>;
  return { ...data, ...(upgrade === undefined ? {} : { upgrade: JSON.parse(upgrade) }) };
}
