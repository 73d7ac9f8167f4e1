/** Defects of backups and restores. */
import type { Mutant } from './mutant.ts';

export const backupMutants: readonly Mutant[] = [
  {
    id: 'no-last-backup',
    defect: 'a cluster is deleted as soon as its last backup has been begun',
    edits: [
      {
        file: 'jobs/last-backup.ts',
        find: 'if (isTaken(engine, cluster, children, now) || !hasData(cluster, children)) return undefined;',
        replace:
          "if (isTaken(engine, cluster, children, now) || !hasData(cluster, children) || children.get('Job', lastJobName(cluster.metadata.name)) !== undefined) return undefined;",
      },
    ],
    scenarios: ['B4', 'etcd B4'],
    classes: ['F1'],
    oracle: 'O4',
  },
  {
    id: 'failed-is-good-enough',
    defect: 'a last backup that has failed counts as one that was taken',
    edits: [
      {
        file: 'jobs/job-state.ts',
        find: 'if (complete !== undefined) {',
        replace: 'if (complete !== undefined || failed !== undefined) {',
      },
      {
        file: 'jobs/job-state.ts',
        find: 'Date.parse(complete.lastTransitionTime',
        replace: 'Date.parse((complete ?? failed)?.lastTransitionTime',
      },
    ],
    scenarios: ['B4'],
    classes: ['F16'],
    oracle: 'O4',
  },
  {
    id: 'retention-takes-the-newest',
    defect: 'retention counts from the wrong end, and the newest backup goes',
    edits: [
      {
        file: 'backup/retention.ts',
        find: '.sort(newestFirst);',
        replace: '.sort((a, b) => newestFirst(b, a));',
      },
      {
        file: 'backup/retention.ts',
        find: 'if (backup === newest || backup.id === justMade || backup.id === confirmed) return false;',
        replace: '',
      },
    ],
    scenarios: ['etcd B2'],
    classes: ['F1'],
    oracle: 'O4',
  },
  {
    id: 'retention-forgotten',
    defect: 'nothing is ever let go',
    edits: [{ file: 'backup/retention.ts', find: 'return index >= count ||', replace: 'return' }],
    scenarios: ['etcd B2'],
    classes: ['F1'],
    oracle: 'O3',
  },
  {
    id: 'starts-without-the-data',
    defect: 'a restored cluster is formed as soon as its first claim is there, filled or not',
    edits: [
      {
        file: 'jobs/restore.ts',
        find: 'if (filled.length === claims.length && isUsed(children, retired)) {',
        replace: 'if (claim !== undefined) return undefined;\n  if (filled.length === claims.length) {',
      },
    ],
    scenarios: ['B3', 'etcd B3'],
    classes: ['F1'],
    oracle: 'O4',
  },
  {
    id: 'any-backup-will-do',
    defect: 'a restore takes the oldest backup instead of the newest',
    edits: [
      {
        file: 'agent/repository.ts',
        find: 'newestFirst(a.manifest, b.manifest)',
        replace: 'newestFirst(b.manifest, a.manifest)',
      },
    ],
    scenarios: ['B3'],
    classes: ['F1'],
    oracle: 'O5',
  },
  {
    id: 'verified-too-early',
    defect: 'a backup is called verified as soon as somebody works on it',
    edits: [
      {
        file: 'jobs/job-state.ts',
        find: 'if (complete !== undefined) {',
        replace: 'if (complete !== undefined || own.length > 0) {',
      },
      {
        file: 'jobs/job-state.ts',
        find: 'Date.parse(complete.lastTransitionTime',
        replace: 'Date.parse(complete?.lastTransitionTime',
      },
    ],
    scenarios: ['B1', 'etcd B1'],
    classes: ['F1'],
    oracle: 'O8',
  },
  {
    id: 'taken-again',
    defect: 'a Backup whose Job is cleared away after it was verified is taken again',
    edits: [
      {
        file: 'jobs/backup/plan.ts',
        find: "if (before.phase === 'Verified' || before.phase === 'Failed') return",
        replace: "if (before.phase === 'Failed') return",
      },
    ],
    scenarios: ['B1'],
    classes: ['F15'],
    oracle: 'O3',
  },
  {
    id: 'two-for-one',
    defect: 'a second attempt for the same Backup does not look for what the first has stored',
    edits: [
      {
        file: 'agent/take.ts',
        find: 'manifest.purpose.uid === purpose.uid',
        replace: "manifest.purpose.uid === 'nobody'",
      },
    ],
    scenarios: ['B1', 'etcd B1'],
    classes: ['F16'],
    oracle: 'O3',
  },
  {
    id: 'sudden-loss-unseen',
    defect: 'a backup of a database that came up empty counts like any other, and pushes out the last that holds data',
    edits: [
      {
        file: 'agent/prune.ts',
        find: 'const losses = lossesIn(drivers, history, confirmed);',
        replace: 'const losses: ReadonlyMap<string, string> = new Map();',
      },
    ],
    scenarios: ['B2 loss'],
    classes: ['F1'],
    oracle: 'O4',
  },
];
