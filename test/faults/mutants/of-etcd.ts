/** Defects of what is decided for etcd. */
import type { Mutant } from './mutant.ts';

export const etcdMutants: readonly Mutant[] = [
  {
    id: 'etcd-vote-at-once',
    defect: 'a new member has a vote before it has any data',
    seen: 'every operator from before learners',
    edits: [{ file: 'engines/etcd/act/act.ts', find: 'isLearner: true }', replace: 'isLearner: false }' }],
    scenarios: ['etcd S2'],
    classes: ['F1'],
    oracle: 'O4',
  },
  {
    id: 'etcd-stop-before-remove',
    defect: 'a member is stopped while it is still listed, and removed afterwards',
    seen: 'etcd-operator #193',
    edits: [
      {
        file: 'engines/etcd/observe/formation.ts',
        find: 'const isGone = index !== undefined && member.hasStarted && !hasTrace(situation, index);',
        replace:
          'const isGone = index !== undefined && (index >= situation.spec.replicas || !hasTrace(situation, index));',
      },
    ],
    scenarios: ['etcd S3'],
    classes: ['F1'],
    oracle: 'O4',
  },
  {
    id: 'etcd-forms-anew',
    defect: 'where a volume is lost, its member forms the cluster again',
    seen: 'etcd-druid, and every chart with a fixed initial-cluster-state',
    edits: [
      {
        file: 'engines/etcd/observe/formation.ts',
        find: 'return written === undefined || maySeal(situation, member) ? resuming(cluster, index) : written;',
        replace: 'return written === undefined ? resuming(cluster, index) : written;',
      },
    ],
    scenarios: ['etcd S10 only'],
    classes: ['F1'],
    oracle: 'O6',
  },
  {
    id: 'etcd-blank-voter',
    defect: 'a member that has lost its volume comes back under its old number with nothing',
    edits: [
      {
        file: 'engines/etcd/resources/roster.ts',
        find: "return { state: 'existing', cluster: line(cluster, [index]) };",
        replace:
          "return { state: 'existing', cluster: index > 2 ? line(cluster, [index]) : line(cluster, [0, 1, 2]) };",
      },
      {
        file: 'engines/etcd/resources/roster.ts',
        find: '    start.cluster === line(cluster, [index]) &&',
        replace: '    start.cluster === resuming(cluster, index).cluster &&',
      },
    ],
    scenarios: ['etcd S10 leader'],
    classes: ['F1'],
    oracle: 'O6',
  },
  {
    id: 'etcd-number-given-again',
    defect: "a new member is given the number of an old one, and meets that one's data",
    seen: 'etcd #14805, elassandra #17',
    edits: [
      { file: 'engines/etcd/observe/situation.ts', find: '      ...byIndex(children.claims).keys(),\n', replace: '' },
    ],
    scenarios: ['etcd S2 again'],
    classes: ['F1'],
    oracle: 'O4',
  },
  {
    id: 'etcd-leader-restarts',
    defect: 'the leader restarts without having handed over',
    edits: [
      {
        file: 'engines/etcd/plan/restart.ts',
        find: 'if (leader !== undefined && next.id === leader.id && successor !== undefined) {',
        replace:
          'if (leader !== undefined && next.id === leader.id && successor !== undefined && successor.index === -1) {',
      },
    ],
    scenarios: ['etcd S4'],
    classes: ['F1'],
    oracle: 'O4',
  },
  {
    id: 'etcd-several-at-once',
    defect: 'the next member restarts while the last one is not back',
    seen: 'opensearch-k8s-operator #1471',
    edits: [
      { file: 'engines/etcd/plan/plan.ts', find: 'if (missing.length > 0) {', replace: 'if (missing.length > 2) {' },
    ],
    scenarios: ['etcd S4'],
    classes: ['F1'],
    oracle: 'O4',
  },
  {
    id: 'etcd-silence-is-loss',
    defect: 'a member that does not answer is replaced at once',
    edits: [
      {
        file: 'engines/etcd/plan/failed-member.ts',
        find: 'return pod === undefined ? undefined : givenUp(situation, member, pod);',
        replace:
          "return pod === undefined ? 'it has no pod' : (givenUp(situation, member, pod) ?? 'it does not answer');",
      },
    ],
    scenarios: ['etcd S9'],
    classes: ['F1'],
    oracle: 'O9',
  },
  {
    id: 'etcd-alarm-of-nobody-ended',
    defect: 'an alarm that names nobody is taken for that of a member that has left, and ended',
    seen: 'clusterwright before 0.1',
    edits: [
      {
        file: 'engines/etcd/plan/corruption.ts',
        find: "if (raised.has('0')) {",
        replace: "if (raised.has('nobody')) {",
      },
      {
        file: 'engines/etcd/plan/comparison.ts',
        find: 'if (first === undefined || others.length > 0 || unheard.length > 0) return undefined;',
        replace: 'if (first === undefined || unheard.length > 0) return undefined;',
      },
      {
        file: 'engines/etcd/plan/corruption.ts',
        find: 'if (majority.length < members.length) {',
        replace: 'if (majority.length < 2) {',
      },
    ],
    scenarios: ['etcd S16 nobody'],
    classes: ['F1'],
    oracle: 'O4',
  },
  {
    id: 'etcd-starting-member-blamed',
    defect: 'a member that does not start, since another one differs, is taken for the one that is wrong',
    seen: 'clusterwright before 0.1',
    edits: [
      {
        file: 'engines/etcd/plan/failed-member.ts',
        find: "const isDoubtful = complaint === 'inconsistent' && !isOutvoted(situation, member);",
        replace: "const isDoubtful = complaint === 'none' && !isOutvoted(situation, member) && false;",
      },
    ],
    scenarios: ['etcd S16 good'],
    classes: ['F1'],
    oracle: 'O4',
  },
  {
    id: 'etcd-corruption-waits-for-readiness',
    defect: 'an alarm is looked at when everybody is ready, which nobody is while it stands',
    seen: 'clusterwright before 0.1',
    edits: [
      {
        file: 'engines/etcd/plan/plan.ts',
        find: '  if (corruption !== undefined) return corruption;\n',
        replace:
          '  if (corruption !== undefined && memberProblems(situation, members).length === 0) return corruption;\n',
      },
    ],
    scenarios: ['etcd S16'],
    classes: ['F1'],
    oracle: 'O1',
  },
  {
    id: 'etcd-corrupt-volume-deleted',
    defect: 'under deletionPolicy Delete the volume of a member that was called corrupt goes with it',
    seen: 'clusterwright before 0.1',
    edits: [
      {
        file: 'engines/etcd/plan/volumes.ts',
        find: 'oldClaims.filter((claim) => isKeeping || isKept(claim) || isOfAnother(situation, claim));',
        replace: "oldClaims.filter(() => spec.deletionPolicy !== 'Delete');",
      },
    ],
    scenarios: ['etcd S16'],
    classes: ['F1'],
    oracle: 'O4',
  },
  {
    id: 'etcd-old-volumes-deleted',
    defect: "a removed member's volume goes, whatever the policy says",
    edits: [
      {
        file: 'engines/etcd/plan/volumes.ts',
        find: "const isKeeping = spec.deletionPolicy !== 'Delete' ||",
        replace: 'const isKeeping =',
      },
    ],
    scenarios: ['etcd S3'],
    classes: ['F1'],
    oracle: 'O4',
  },
];
