/** A major upgrade of PostgreSQL, under way to its end or back. */
import type { KubeObject } from '../../../src/api/object.ts';
import type { Data } from '../postgres/wal.ts';
import type { Volume } from '../world/workload.ts';
import { inBucket } from './furniture.ts';
import type { Scenario, Spec, Stage } from './scenario.ts';

/** Has both versions. */
const image = 'registry.example/postgres:17';
const older: Spec = { version: '15', image, instances: 3, storage: { size: '1Gi' } };
const consent: Spec = { ...older, upgrade: { withoutBackup: true } };

/** Also where the operator is not there for a while. */
const patienceMs = 900_000;

/** What the status says the data is of. */
const versionIn = (stage: Stage): string => /"version":"(\d+)/.exec(stage.said())?.[1] ?? '';

async function until(stage: Stage, holds: () => boolean, lookMs = 1_000): Promise<boolean> {
  for (let ms = 0; ms < patienceMs; ms += lookMs) {
    if (holds()) return true;
    await stage.pause(lookMs);
  }
  return false;
}

/** Wherever the operator has given up for a reason, a person tries again: any change of the spec tells so. */
async function persist(stage: Stage): Promise<void> {
  const hasGivenUp = (): boolean => stage.said().includes('It is tried again when the spec changes');
  await until(stage, () => versionIn(stage) === '17' || hasGivenUp());
  if (!hasGivenUp()) return;
  await stage.change({ paused: true });
  await stage.change({ paused: false });
  await persist(stage);
}

const kept: NonNullable<Scenario['mayDiffer']> = [
  { oracle: 'O2', about: '"clusterwright.dev/upgrade"', why: 'a Job of an upgrade is for a generation of the spec' },
  { oracle: 'O2', about: '-backup-task', why: 'it names the generation of the spec, or the new system identifier' },
  { oracle: 'O2', about: 'way-back', why: 'whose volume it is, and how many are equal, is chance' },
];

export const majorUpgrades: readonly Omit<Scenario, 'engine'>[] = [
  {
    id: 'postgres S5',
    title: 'version 15→17, with a backup before and after',
    touches: ['version'],
    before: { ...older, backup: inBucket.place },
    furniture: inBucket.furniture,
    async act(stage) {
      await stage.change({ version: '17' });
      await persist(stage);
    },
    mayDiffer: kept,
    resources: ['jobs'],
    end: 'whole',
    writes: 90,
    written: true,
  },
  {
    id: 'postgres S5 back',
    title: 'version 15→17, back while the members are stopped, and 17 again',
    touches: ['version'],
    before: consent,
    async act(stage) {
      await stage.change({ version: '17' });
      await until(stage, () => stage.has('jobs', 'db-checkpoint-0'), 100);
      await stage.change({ version: '15' });
      // Where pg_upgrade has begun before anybody has seen it, it goes on.
      await until(stage, () => /"phase":"Ready"|DowngradeRefused/.test(stage.said()));
      await stage.change({ version: '17' });
      await persist(stage);
    },
    mayDiffer: [
      ...kept,
      { oracle: 'O3', about: 'jobs/', why: 'how far the upgrade got before it was taken back is chance' },
    ],
    resources: ['jobs'],
    end: 'whole',
    writes: 110,
    written: true,
  },
  {
    id: 'postgres S5 failed',
    title: 'pg_upgrade is killed until its Job fails, then the previous version',
    touches: ['version'],
    before: consent,
    async act(stage) {
      await stage.change({ version: '17' });
      await failing(stage, () => true);
      await stage.change({ version: '15' });
    },
    mayDiffer: kept,
    resources: ['jobs'],
    end: 'whole',
    writes: 60,
    written: true,
  },
  {
    id: 'postgres S5 late',
    title: 'the same once the new version has run: it is not put back, and goes on when 17 is wanted again',
    touches: ['version'],
    before: consent,
    async act(stage) {
      await stage.change({ version: '17' });
      await failing(stage, (volume) => (volume.get('data.new-17') as Data | undefined)?.user !== undefined);
      await stage.change({ version: '15' });
      await until(stage, () => stage.said().includes('cannot be put back'));
      await stage.change({ version: '17' });
      if (stage.has('jobs', 'db-upgrade')) await stage.discard('jobs', 'db-upgrade');
      await until(stage, () => versionIn(stage) === '17');
    },
    mayDiffer: kept,
    resources: ['jobs'],
    end: 'whole',
    writes: 90,
    written: true,
  },
  {
    id: 'postgres S5 resumed',
    title:
      'the operator is away once the primary has stopped, and a person ends the pause: a standby is promoted, and then it goes on',
    touches: ['version'],
    before: consent,
    async act(stage) {
      await stage.change({ version: '17' });
      await until(stage, () => !hasPrimary(stage), 50);
      await stage.stopOperator();
      await stage.pause(5_000);
      await stage.edit('configmaps', 'db-config', withoutPause);
      await stage.pause(60_000);
      stage.startOperator();
      await persist(stage);
    },
    mayDiffer: kept,
    resources: ['jobs'],
    end: 'whole',
    writes: 100,
    written: true,
  },
];

function hasPrimary(stage: Stage): boolean {
  try {
    return stage.primary() !== '';
  } catch {
    return false;
  }
}

function withoutPause({ metadata }: KubeObject): object {
  const { pause: _, ...config } = JSON.parse(metadata.annotations?.config ?? '{}') as Record<string, unknown>;
  return { metadata: { annotations: { config: JSON.stringify(config) } } };
}

/** The process of pg_upgrade is killed at that moment, as often as its Job tries. */
async function failing(stage: Stage, isThen: (volume: Volume) => boolean): Promise<void> {
  const hasFailed = (): boolean => {
    stage.killJob('db-upgrade', isThen);
    return stage.said().includes('UpgradeFailed');
  };
  await until(stage, hasFailed, 50);
}
