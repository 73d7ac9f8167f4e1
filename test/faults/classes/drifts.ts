/** F15: somebody changes or deletes what is ours. */
import { changedJobs, jobMoment } from './agents.ts';
import type { FaultGenerator, Variant } from './fault-class.ts';

/** Kinds whose objects can be made again without any process noticing. */
const resourceOfKind: Readonly<Record<string, string>> = {
  ConfigMap: 'configmaps',
  Service: 'services',
  PodDisruptionBudget: 'poddisruptionbudgets',
  StatefulSet: 'statefulsets',
};

const again = [
  { oracle: 'O2', about: 'PersistentVolumeClaim/data-', why: 'the volume of a member too many is kept' },
  { oracle: 'O3', why: 'what somebody deleted is made again' },
  { oracle: 'O9', why: 'what somebody changed is changed back' },
] as const;

export const drifted: FaultGenerator = {
  id: 'F15',
  title: 'children changed by others',
  exhaustive: true,
  variants(cell) {
    const { reference, scenario } = cell;
    const jobs = changedJobs(cell);
    if (scenario.end === 'gone') return jobs;
    const children = (scenario.before === undefined ? reference.after : reference.before).flatMap((object) => {
      const resource = resourceOfKind[object.kind];
      const isOurs = object.metadata.labels?.['app.kubernetes.io/managed-by'] === 'clusterwright';
      return resource === undefined || !isOurs ? [] : [{ resource, name: object.metadata.name }];
    });
    const late = scenario.before === undefined ? 4_000 : 300;
    // Without its set, a primary whose volume is lost as well leaves a question that only a person can answer.
    const isLoss = /volume/.test(scenario.title) && /primary$/.test(scenario.id);
    const hows = (kind: string): readonly ('delete' | 'edit' | 'relabel' | 'disown')[] => {
      if (isLoss && kind === 'statefulsets') return ['edit', 'relabel', 'disown'];
      return ['delete', 'edit', 'relabel', 'disown'];
    };
    const changed = (child: { readonly resource: string; readonly name: string }, ms: number): Variant[] =>
      hows(child.resource).map(
        (how): Variant => ({ faults: [{ do: 'drift', at: { ms }, how, ...child }], mayDiffer: again }),
      );
    const crons = reference.after.filter(({ kind }) => kind === 'CronJob');
    return [
      ...jobs,
      ...children.flatMap((child) => changed(child, late)),
      ...crons.flatMap(({ metadata: { name } }) =>
        [900, 20_000].flatMap((ms) => changed({ resource: 'cronjobs', name }, (jobMoment(cell) ?? 0) + ms)),
      ),
    ];
  },
};
