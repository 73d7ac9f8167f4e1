/** The scenarios of backups, of all engines: `B1` to `B4`. */

import { backupKind } from '../../../src/api/backup.ts';
import { scheduleKind } from '../../../src/api/backup-schedule.ts';
import { apiVersionOf, type KubeObject, type Resource } from '../../../src/api/object.ts';
import { inBucket, onClaim } from './furniture.ts';
import type { Scenario, Spec, Stage } from './scenario.ts';

/** Engines with backups. */
type BackedUp = Scenario['engine'];

const clusters: Readonly<Record<BackedUp, Spec>> = {
  redis: { version: '8.0', replicas: 3, storage: { size: '1Gi' } },
  etcd: { version: '3.6.16', replicas: 3, storage: { size: '1Gi' } },
  postgres: { version: '17', instances: 3, storage: { size: '1Gi' } },
};
const kinds: Readonly<Record<BackedUp, string>> = {
  redis: 'RedisCluster',
  etcd: 'EtcdCluster',
  postgres: 'PostgresCluster',
};

/** Of earlier backups. */
const versions: Readonly<Record<BackedUp, string>> = { redis: '8.0.0', etcd: '3.6.16', postgres: '17.2' };

const idOf = (engine: BackedUp, id: string): string => (engine === 'redis' ? id : `${engine} ${id}`);

function about(resource: Resource, name: string, engine: BackedUp, spec: object): KubeObject {
  return {
    apiVersion: apiVersionOf(resource),
    kind: resource.kind,
    metadata: { name },
    spec: { cluster: { kind: kinds[engine], name: 'db' }, ...spec },
  };
}

/** The pods of a Job have names that nobody knows beforehand, and those of a Job that is made again are others. */
function onDemand(engine: BackedUp): Scenario {
  const { furniture, place } = engine === 'redis' ? inBucket : onClaim;
  return {
    engine,
    id: idOf(engine, 'B1'),
    title: 'a backup on demand',
    before: clusters[engine],
    furniture,
    prepare: (stage) => stage.fill(),
    act: (stage) => stage.make(about(backupKind.resource, 'one', engine, place)),
    resources: ['backups', 'jobs'],
    phases: { 'Backup/one': 'Verified' },
    end: 'whole',
    writes: 8,
    written: true,
  };
}

/** Of one member, and in the bucket: runs every minute for three minutes, of which two are kept. */
const scheduled: Scenario = {
  engine: 'etcd',
  id: 'etcd B2',
  title: 'backups by a schedule that keeps the last two',
  before: { ...clusters.etcd, replicas: 1 },
  furniture: inBucket.furniture,
  prepare: (stage) => stage.fill(),
  async act(stage) {
    const spec = { ...inBucket.place, schedule: '* * * * *', retention: { count: 2 } };
    await stage.make(about(scheduleKind.resource, 'often', 'etcd', spec));
    await stage.pause(200_000);
    await stage.amend('BackupSchedule', 'often', { suspend: true });
  },
  resources: ['backupschedules', 'jobs', 'cronjobs'],
  phases: { 'BackupSchedule/often': 'Suspended' },
  end: 'whole',
  writes: 20,
  written: true,
};

/** One is kept, so that the first empty one would push out the last that holds anything. */
const emptied: Scenario = {
  engine: 'redis',
  id: 'B2 loss',
  title: 'backups by a schedule, of a database that is suddenly empty: no backup is deleted',
  before: { ...clusters.redis, mode: 'Standalone', replicas: 1 },
  furniture: inBucket.furniture,
  prepare: (stage) => stage.fill(),
  async act(stage) {
    const spec = { ...inBucket.place, schedule: '* * * * *', retention: { count: 1 } };
    await stage.make(about(scheduleKind.resource, 'often', 'redis', spec));
    await untilTaken(stage, 1);
    await stage.empty();
    // The one that is being taken just then may still hold everything.
    await untilTaken(stage, 2, 'SuddenLoss');
    await stage.amend('BackupSchedule', 'often', { suspend: true });
  },
  mayDiffer: [{ oracle: 'O5', about: ' lacks ', why: 'the later backups are of a database that holds nothing' }],
  resources: ['backupschedules', 'jobs', 'cronjobs'],
  phases: { 'BackupSchedule/often': 'Degraded' },
  end: 'whole',
  writes: 20,
  written: false,
};

/** So many backups more, or until its status says this; also where runs fail for a while. */
async function untilTaken(stage: Stage, count: number, word?: string): Promise<void> {
  const said = (): string => stage.said({ kind: scheduleKind.resource.kind, name: 'often' });
  const last = (): string => /"lastSuccess":({[^}]*})/.exec(said())?.[1] ?? '';
  const seen = new Set([last()]);
  for (let ms = 0; ms < 600_000 && seen.size <= count; ms += 1_000) {
    if (word !== undefined && said().includes(word)) return;
    await stage.pause(1_000);
    seen.add(last());
  }
}

const kept = new Map(Array.from({ length: 20 }, (_, n) => [`kept:${n}`, `since yesterday ${n}`]));
const older = new Map([...kept].slice(0, 5).map(([name]) => [name, 'outdated']));

function restoring(engine: BackedUp): Scenario {
  const version = versions[engine];
  const of = { version, uid: '6f9619ff-8b86-4011-b42d-00c04fc964ff' };
  const another = { version, uid: '7f9619ff-8b86-4011-b42d-00c04fc964ff' };
  return {
    engine,
    id: idOf(engine, 'B3'),
    title: 'a new cluster from the newest backup of an earlier one',
    furniture: inBucket.furniture,
    earlier: [
      { ...of, cluster: 'shop', daysAgo: 3, contents: older },
      { ...of, cluster: 'shop', daysAgo: 2, contents: kept },
      { ...another, cluster: 'other', daysAgo: 1, contents: older },
    ],
    restored: kept,
    act: (stage) =>
      stage.create({
        ...clusters[engine],
        bootstrap: { restore: { ...inBucket.place, cluster: { name: 'shop' } } },
      }),
    resources: ['jobs'],
    end: 'whole',
    writes: engine === 'postgres' ? 52 : 44,
    written: false,
  };
}

function farewell(engine: BackedUp): Scenario {
  const { furniture, place } = engine === 'redis' ? inBucket : onClaim;
  return {
    engine,
    id: idOf(engine, 'B4'),
    title: 'delete, after a last backup',
    before: { ...clusters[engine], deletionPolicy: 'Snapshot', backup: place },
    furniture,
    prepare: (stage) => stage.fill(),
    act: (stage) => stage.remove(),
    resources: ['jobs'],
    end: 'gone',
    // A member has a StatefulSet of its own, and a Role names the pods.
    writes: engine === 'postgres' ? 28 : 20,
    written: false,
  };
}

export const backupScenarios: readonly Scenario[] = [
  onDemand('redis'),
  emptied,
  restoring('redis'),
  farewell('redis'),
  onDemand('etcd'),
  scheduled,
  restoring('etcd'),
  farewell('etcd'),
  onDemand('postgres'),
  restoring('postgres'),
  farewell('postgres'),
];
