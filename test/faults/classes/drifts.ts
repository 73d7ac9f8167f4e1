/** F15: somebody changes or deletes what is ours, or copies it. */
import { managedBy, managedByLabel } from '../../../src/resources/metadata.ts';
import { changedJobs, jobMoment } from './agents.ts';
import type { Cell, FaultGenerator, Variant } from './fault-class.ts';

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

/** Without its ConfigMaps nothing of the cluster is changed. */
const untouched = {
  oracle: 'O2',
  why: 'nothing is changed back before a person has brought the ConfigMaps back',
} as const;

/**
 * Patroni takes the lock, and promotes without a second look at it: where somebody deletes it in between, another member can take it, too.
 * The first one finds out in its next round. Until then its commits wait for members that follow the other one: what is lost and what is
 * acknowledged on two timelines is judged as ever.
 */
const lockGone = {
  oracle: 'O6',
  about: 'holds the lock',
  why: 'the lock was deleted while a member was promoted',
} as const;

const personDecides = 'a person decides where the primary and Patroni’s ConfigMap are lost';
/** Only a primary writes the database's identifier anew, and there is none. */
const stopped = [
  { oracle: 'O1', about: 'StateLost', why: personDecides },
  { oracle: 'O2', why: personDecides },
  { oracle: 'O5', about: 'nobody takes writes', why: personDecides },
] as const;

export const drifted: FaultGenerator = {
  id: 'F15',
  title: 'children changed by others',
  exhaustive: true,
  variants(cell) {
    const { reference, scenario } = cell;
    const jobs = changedJobs(cell);
    const copied = copiesIn(cell);
    if (scenario.end === 'gone') return [...jobs, ...copied];
    const children = (scenario.before === undefined ? reference.after : reference.before).flatMap((object) => {
      const resource = resourceOfKind[object.kind];
      const isOurs = object.metadata.labels?.['app.kubernetes.io/managed-by'] === 'clusterwright';
      return resource === undefined || !isOurs ? [] : [{ resource, name: object.metadata.name }];
    });
    const late = scenario.before === undefined ? 4_000 : 300;
    // Without its set, a primary whose volume is lost as well leaves a question that only a person can answer.
    const isLoss = /volume/.test(scenario.title) && /primary$/.test(scenario.id);
    // While the operator is away nobody would make its members again, and so nobody fails over.
    const isAway = scenario.id === 'S15 power';
    // While no member runs, nobody vouches for what is lost with them, and a person is asked: see S15 all.
    const isStopped = ['postgres S12', 'postgres S13 park'].includes(scenario.id);
    const mayDiffer = scenario.engine === 'postgres' && scenario.end === 'blocked' ? [...again, untouched] : again;
    const isPatronis = (name: string): boolean =>
      scenario.engine === 'postgres' && /-(config|leader|failover|sync)$/.test(name);
    const hows = (kind: string, name: string): readonly ('delete' | 'edit' | 'relabel' | 'disown')[] => {
      // Patroni and the operator find their ConfigMaps by label. One that has no owner and another one's label is another one's.
      if (isPatronis(name)) return isStopped ? ['edit'] : ['delete', 'edit'];
      if ((isLoss || isAway) && kind === 'statefulsets') return ['edit', 'relabel', 'disown'];
      // Whoever starts meanwhile starts with the password in the Secret, and is not let in: sizes stay as they are found.
      if (scenario.id === 'S7 unusable' && kind === 'statefulsets') return ['relabel', 'disown'];
      return ['delete', 'edit', 'relabel', 'disown'];
    };
    // Patroni and the operator write annotations there and nothing else: what else somebody writes, nobody reads.
    const unread = (how: string, name: string) =>
      how === 'edit' && isPatronis(name)
        ? [
            {
              oracle: 'O2',
              about: `ConfigMap/${name} `,
              why: 'what nobody reads stays in a ConfigMap of Patroni',
            } as const,
          ]
        : [];
    const undecided = (how: string, name: string) =>
      how === 'delete' && isPatronis(name)
        ? [...(name.endsWith('-leader') ? [lockGone] : []), ...(isLoss && name.endsWith('-config') ? stopped : [])]
        : [];
    const changed = (child: { readonly resource: string; readonly name: string }, ms: number): Variant[] =>
      hows(child.resource, child.name).map(
        (how): Variant => ({
          faults: [{ do: 'drift', at: { ms }, how, ...child }],
          mayDiffer: [...mayDiffer, ...unread(how, child.name), ...undecided(how, child.name)],
        }),
      );
    const crons = reference.after.filter(({ kind }) => kind === 'CronJob');
    return [
      ...jobs,
      ...copied,
      ...children.flatMap((child) => changed(child, late)),
      ...crons.flatMap(({ metadata: { name } }) =>
        [900, 20_000].flatMap((ms) => changed({ resource: 'cronjobs', name }, (jobMoment(cell) ?? 0) + ms)),
      ),
    ];
  },
};

/** Kinds that tools for backups and clones copy, with every label. */
const copiedKinds = {
  PersistentVolumeClaim: 'persistentvolumeclaims',
  StatefulSet: 'statefulsets',
  Secret: 'secrets',
  Pod: 'pods',
} as const;

/** One of each kind, before anything else happens and in the middle of it. */
function copiesIn({ reference, scenario }: Cell): readonly Variant[] {
  const isNew = scenario.before === undefined;
  const there = isNew ? reference.after : reference.before;
  return Object.entries(copiedKinds).flatMap(([kind, resource]) => {
    const first = there.find(
      (object) => object.kind === kind && object.metadata.labels?.[managedByLabel] === managedBy,
    );
    if (first === undefined) return [];
    const { name } = first.metadata;
    return (isNew ? [4_000] : [0, 2_000]).map(
      (ms): Variant => ({ faults: [{ do: 'drift', at: { ms }, how: 'copy', resource, name }] }),
    );
  });
}
