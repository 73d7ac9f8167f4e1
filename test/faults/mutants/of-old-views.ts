/**
 * Defects of what is done about an old view, most of them of ADR 10: what takes something away is decided on a fresh look.
 * Most are found by one plan only, which is why it is named.
 */
import type { Mutant } from './mutant.ts';

export const oldViewMutants: readonly Mutant[] = [
  {
    id: 'second-look-at-the-cache',
    defect: 'before it makes again what is gone, it looks at the cluster once more, in its cache',
    seen: 'zookeeper #410',
    edits: [
      {
        file: 'runtime/freshness.ts',
        find: 'const live = await client.get({ resource, namespace, name }, { signal });\n      if (live.metadata.uid === uid) cache.observeRead(live);',
        replace: 'const live = cluster;',
      },
    ],
    plans: ['T10b-owner-gone-watch-behind'],
    scenarios: ['S11 retain'],
    classes: ['F10'],
    oracle: 'O3',
  },
  {
    id: 'shrinks-on-an-old-spec',
    defect: 'a member goes because the spec wanted it to go when the operator last saw it',
    seen: 'zookeeper #314',
    edits: [
      {
        file: 'runtime/fresh-look.ts',
        find: "if (step.type === 'act') return step.destructive === true;",
        replace: "if (step.type === 'act') return false;",
      },
    ],
    plans: ['T02b-old-spec-of-etcd'],
    scenarios: [],
    classes: [],
    oracle: 'O3',
  },
  {
    id: 'pods-not-read-anew',
    defect: 'a pod is stopped on a view of the others in which one that is gone is still there',
    seen: 'opensearch-k8s-operator #1471',
    edits: [
      {
        file: 'runtime/freshness.ts',
        find: 'if (plan.destructive !== true && !plan.steps.some(countsOnOthers)) return false;',
        replace: 'return false;',
      },
    ],
    plans: ['W07b-restart-beside-a-leaver'],
    scenarios: [],
    classes: [],
    oracle: 'O4',
  },
  {
    id: 'late-on-an-old-view',
    defect: 'a pod restarts because its resize takes too long, on a view in which it is not done yet',
    edits: [{ file: 'runtime/fresh-look.ts', find: ', resizeTold(pod)]', replace: ']' }],
    scenarios: ['S4 resources'],
    classes: ['F12'],
    oracle: 'O3',
  },
  {
    id: 'old-word-of-a-pod',
    defect: 'a member is removed on the word of a pod that has been replaced since',
    edits: [
      {
        file: 'runtime/freshness.ts',
        find: "const precondition = plan.steps.flatMap((step) => (step.type === 'act' ? (step.precondition ?? []) : []));",
        replace: 'const precondition = [];',
      },
    ],
    plans: ['E05-restarted-out-of-sight'],
    scenarios: [],
    classes: [],
    oracle: 'O2',
  },
  {
    id: 'starts-blank-as-primary',
    defect: 'a primary that lost its volume starts again as primary, blank, and its replicas become blank, too',
    seen: 'redis documentation on persistence, redis-operator #97',
    edits: [
      {
        file: '../test/faults/redis/scripts/start-data.ts',
        find: '} else if (named.address !== shell.podIP) {',
        replace:
          '} else if (named.address === shell.podIP) {\n      return undefined;\n    } else if (named.address !== shell.podIP) {',
      },
    ],
    plans: ['T24-blank-primary-returns'],
    scenarios: ['S10 primary'],
    classes: ['F1'],
    oracle: 'O5',
  },
];
