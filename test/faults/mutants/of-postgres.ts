/** Defects of what is decided for PostgreSQL. */
import type { Mutant } from './mutant.ts';

export const postgresMutants: readonly Mutant[] = [
  {
    id: 'postgres-store-made-again',
    defect:
      'the ConfigMaps of Patroni are made again whenever they are gone: a stale standby that starts first is promoted',
    seen: 'Patroni itself, where its pods may make them',
    edits: [
      {
        file: 'engines/postgres/plan/store.ts',
        find: '  return state.filter(({ object }) => mayMakeAgain(situation, object.metadata.name));',
        replace: '  return state;',
      },
      {
        file: 'engines/postgres/plan/store.ts',
        find: '  return situation.store.missing.filter((name) => !mayMakeAgain(situation, name));',
        replace: '  return [];',
      },
    ],
    scenarios: ['postgres S15 stale'],
    classes: ['F1'],
    oracle: 'O6',
  },
  {
    id: 'postgres-forms-anew',
    defect: 'with its store and its volumes lost, the cluster makes a new database under the same name',
    edits: [
      {
        file: 'engines/postgres/observe/situation.ts',
        find: 'const isKnown = cluster.status?.initialized === true || store.systemId !== undefined;',
        replace: 'if (cluster.status !== undefined) return false;\n  const isKnown = store.systemId !== undefined;',
      },
      {
        file: 'engines/postgres/plan/members.ts',
        find: 'withPrimary(situation, isFormed ? resuming(situation, kept) : kept);',
        replace:
          'withPrimary(situation, isFormed || situation.primary !== undefined ? resuming(situation, kept) : forming(kept.size));',
      },
    ],
    scenarios: ['postgres S15 blank'],
    classes: ['F1'],
    oracle: 'O4',
  },
  {
    id: 'postgres-promotes-by-itself',
    defect:
      'where nobody is promoted for a minute the operator itself names whoever is there, also a standby without the last commits',
    seen: 'operators that elect',
    edits: [
      {
        file: 'engines/postgres/plan/recovery.ts',
        find: "import { judged, type Verdict } from './recovery-request.ts';",
        replace: "import { hasLasted, judged, offers, type Verdict } from './recovery-request.ts';",
      },
      {
        file: 'engines/postgres/plan/recovery.ts',
        find: 'const request = cluster.metadata.annotations?.[recoverAnnotation];',
        replace:
          "const request = cluster.metadata.annotations?.[recoverAnnotation] ?? /(\\S+@\\S+) \\(timeline/.exec(hasLasted(situation) ? offers(situation) : '')?.[1];",
      },
    ],
    scenarios: ['postgres S15 power'],
    classes: ['F1'],
    oracle: 'O6',
  },
  {
    id: 'postgres-primary-restarts',
    defect: 'the primary is deleted for a new template without having handed over',
    edits: [
      {
        file: 'engines/postgres/plan/restart.ts',
        find: 'const successor = isLeader(next) ? successorTo(situation, primary) : undefined;',
        replace: 'const successor = isLeader(next) && roster.size > 9 ? successorTo(situation, primary) : undefined;',
      },
    ],
    scenarios: ['postgres S4 pods'],
    classes: ['F1'],
    oracle: 'O4',
  },
  {
    id: 'postgres-primary-leaves',
    defect: 'a scale-in removes the highest number, also where it is the primary',
    edits: [
      {
        file: 'engines/postgres/plan/members.ts',
        find: 'const kept = primary === undefined ? undefined : indexOf(situation, primary);',
        replace: 'const kept = primary === undefined ? undefined : -1 - (indexOf(situation, primary) ?? 0);',
      },
      {
        file: 'engines/postgres/plan/members.ts',
        find: '  if (index === undefined || set === undefined || set.metadata.deletionTimestamp !== undefined) return roster;',
        replace: '  if (index === undefined || set === undefined || index >= 0) return roster;',
      },
    ],
    scenarios: ['postgres S3 primary'],
    classes: ['F1'],
    oracle: 'O4',
  },
  {
    id: 'postgres-label-left',
    defect: 'the label of a primary that has died stays on its pod, and the Service leads to it',
    edits: [
      {
        file: '../test/faults/postgres/participant.ts',
        find: 'if (store.view().holder !== this.name || others.length === 0) return;',
        replace: "if (this.name !== '' || others.length === 0) return;",
      },
      {
        file: 'engines/postgres/plan/roles.ts',
        find: "if (role !== 'primary' || pod.metadata.name === primary.pod || ref === undefined) return [];",
        replace: "if (role !== 'nobody' || pod.metadata.name === primary.pod || ref === undefined) return [];",
      },
    ],
    scenarios: ['postgres S9 node'],
    classes: ['F1'],
    oracle: 'O4',
  },
  {
    id: 'postgres-wiped-instead-of-retired',
    defect: 'the volume of a member that has left is deleted, whatever the policy says',
    edits: [
      {
        file: 'engines/postgres/plan/volumes.ts',
        find: "if (spec.deletionPolicy !== 'Delete') return retiredMark(claim);",
        replace: "if (spec.deletionPolicy === 'Retain' && index < 0) return retiredMark(claim);",
      },
    ],
    scenarios: ['postgres S3'],
    classes: ['F1'],
    oracle: 'O4',
  },
  {
    id: 'postgres-ready-before-in-force',
    defect: 'Ready is told before the members have taken up the settings',
    seen: 'clusterwright before 0.1',
    edits: [
      {
        file: 'engines/postgres/plan/plan.ts',
        find: 'if (unread !== undefined)',
        replace: 'if (unread !== undefined && spec.instances > 99)',
      },
      {
        // It takes another value of these for one that was refused.
        file: 'engines/postgres/plan/parameters.ts',
        find: 'const isLess =',
        replace: 'const isLess = name.length > 99 &&',
      },
    ],
    scenarios: ['postgres S4'],
    classes: ['F1'],
    oracle: 'O8',
  },
  {
    id: 'postgres-secret-forgotten',
    defect: 'an operator that ends after it has made another child never makes the Secret of the application',
    seen: 'clusterwright before 0.1',
    edits: [
      {
        file: 'engines/postgres/plan/plan.ts',
        find: '    ...made.filter(isSecret),\n',
        replace: '',
      },
      {
        file: 'engines/postgres/plan/plan.ts',
        find: '    ...made.filter((step) => !isSecret(step)),',
        replace: '    ...made.filter((step) => !isSecret(step)),\n    ...made.filter(isSecret),',
      },
    ],
    scenarios: ['postgres S1'],
    classes: ['F1'],
    oracle: 'O1',
  },
  {
    id: 'postgres-upgrade-unrehearsed',
    defect: 'the members stop for another major version without a copy of the data having been upgraded',
    seen: 'operators that run pg_upgrade on the data at once',
    edits: [
      {
        file: 'engines/postgres/plan/upgrade-begin.ts',
        find: 'const rehearsed = rehearsal(situation, planned);',
        replace: 'const rehearsed = undefined;\n  void rehearsal;',
      },
    ],
    scenarios: ['postgres S16 refused'],
    classes: ['F1'],
    oracle: 'O4',
  },
  {
    id: 'postgres-archive-fills-the-disk',
    defect: 'the slot of the archive keeps the log without a limit: the volume is full when the store is away for long',
    seen: 'clusters with a replication slot and without max_slot_wal_keep_size',
    edits: [
      {
        file: 'engines/postgres/resources/parameters.ts',
        find: '    max_slot_wal_keep_size:',
        replace: "    'clusterwright.unused':",
      },
    ],
    scenarios: ['postgres S18 archive'],
    classes: ['F1'],
    oracle: 'O1',
  },
  {
    id: 'postgres-upgrade-uncompared',
    defect:
      'pg_upgrade runs though no standby has the last checkpoint of the primary: there is no way back to all that was committed',
    edits: [
      {
        file: 'engines/postgres/plan/upgrade-compare.ts',
        find: 'if (roster.size > 1 && kept.length === 0)',
        replace: 'if (roster.size > 99 && kept.length === 0)',
      },
    ],
    plans: ['P06-standbys-cut-off-as-the-primary-stops'],
    scenarios: [],
    classes: [],
    oracle: 'O4',
  },
  {
    id: 'postgres-upgrade-unpaused',
    defect: 'the primary is stopped for an upgrade while Patroni may promote a standby',
    edits: [
      {
        file: 'engines/postgres/plan/upgrade-stop.ts',
        find: 'const steps = pauseSteps(situation, true);',
        replace: 'const steps = pauseSteps(situation, false);',
      },
      {
        file: 'engines/postgres/plan/upgrade-stop.ts',
        find: 'live.get(index)?.isPaused !== true',
        replace: 'live.get(index)?.isPaused === undefined',
      },
    ],
    scenarios: ['postgres S5'],
    classes: ['F1'],
    oracle: 'O4',
  },
  {
    id: 'postgres-upgrade-without-backup',
    defect: 'another major version is begun without a backup, though a target is named',
    edits: [
      {
        file: 'engines/postgres/plan/upgrade-begin.ts',
        find: '    ...(backup(situation, planned, objects) ?? {',
        replace: '    ...({',
      },
    ],
    scenarios: ['postgres S5'],
    classes: ['F1'],
    oracle: 'O4',
  },
  {
    id: 'postgres-way-back-unchecked',
    defect: 'the old data is put back and started on, though the new version has run on the same files',
    seen: 'the documentation of pg_upgrade warns of it',
    edits: [
      {
        file: '../test/faults/postgres/upgrade/script.ts',
        find: 'if (this.#major() !== old || volume.has(this.#names.linked))',
        replace: 'if (this.#major() !== old)',
      },
    ],
    scenarios: ['postgres S5 late'],
    classes: ['F1'],
    oracle: 'O6',
  },
  {
    id: 'postgres-upgrade-unlocked',
    defect: 'the pod of a Job that somebody has deleted is still at work on the volume when the next one begins',
    edits: [
      {
        file: '../test/faults/postgres/upgrade/job.ts',
        find: 'while (disk.has(lock)) await pause(lockMs);',
        replace: '',
      },
    ],
    plans: ['P08-job-of-pg_upgrade-deleted'],
    scenarios: [],
    classes: [],
    oracle: 'O6',
  },
  {
    id: 'postgres-upgrade-of-old-data',
    defect:
      'a standby that has been promoted while the members stop is stopped, and the data of the old primary is upgraded',
    seen: 'clusterwright before 0.1',
    edits: [
      {
        file: 'engines/postgres/plan/upgrade-stop.ts',
        find: 'if (isAnotherElected(situation, leader)) return',
        replace: 'if (isAnotherElected(situation, leader) && roster.size > 99) return',
      },
      {
        file: 'engines/postgres/plan/upgrade-compare.ts',
        find: 'if (ahead !== undefined)',
        replace: 'if (ahead !== undefined && roster.size > 99)',
      },
    ],
    plans: ['P07-promoted-while-the-members-stop'],
    scenarios: [],
    classes: [],
    oracle: 'O6',
  },
];
