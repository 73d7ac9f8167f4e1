/** What befalls backups on their way: their processes die, their Jobs are tampered with, and where they are kept is away. */
import type { RunRecord } from '../record.ts';
import type { Cell, Variant } from './fault-class.ts';

/** Milliseconds into the scenario at which the first Job is there. Undefined where there is none. */
export function jobMoment({ reference }: Cell): number | undefined {
  const made = reference.commits.find(({ resource, verb }) => resource === 'jobs' && verb === 'create');
  return made === undefined ? undefined : momentOf(reference, made.at);
}

function momentOf({ armedAt }: RunRecord, at: number): number {
  return Math.max(0, Math.round(at - armedAt));
}

/** Those that the operator has made, each by when it did. */
function jobsOf(reference: RunRecord): readonly { readonly name: string; readonly at: number }[] {
  return reference.commits.flatMap(({ actor, verb, resource, after, at }) =>
    actor === 'clusterwright' && verb === 'create' && resource === 'jobs' && after !== undefined
      ? [{ name: after.metadata.name, at: momentOf(reference, at) }]
      : [],
  );
}

/** From the start of its pod to its end, every so often. */
const lifetimeMs = { from: 600, to: 3_600, step: 300 } as const;
/** For as long a Job tries again by itself. */
const shortMs = 15_000;
/** Longer than that. */
const longMs = 200_000;

const madeAgain = [
  { oracle: 'O3', about: 'jobs/', why: 'a Job that has failed, or that somebody deleted, is made again' },
  { oracle: 'O3', about: '-task', why: 'its task goes with a Job that has failed' },
  { oracle: 'O2', about: 'clusterwright.dev/attempt', why: 'it tells that it is the second one' },
  { oracle: 'O9', why: 'to begin anew costs some writes' },
] as const;

export function agentFaults(cell: Cell): readonly Variant[] {
  const { scenario } = cell;
  const at = jobMoment(cell);
  if (scenario.furniture === undefined || at === undefined) return [];
  const deaths: Variant[] = [];
  for (let ms = lifetimeMs.from; ms <= lifetimeMs.to; ms += lifetimeMs.step) {
    deaths.push({ faults: [{ do: 'killAgent', at: { ms: at + ms } }] });
  }
  // A Backup on demand fails for good where its Job has failed; whatever is needed for something else is begun anew.
  const mayLast = scenario.phases === undefined;
  const absences = [Math.max(0, at - 500), at + 1_200, at + 1_900].flatMap((ms): Variant[] => [
    { faults: [{ do: 'storeAway', at: { ms }, forMs: shortMs }] },
    ...(mayLast ? [{ faults: [{ do: 'storeAway', at: { ms }, forMs: longMs }], mayDiffer: madeAgain } as const] : []),
  ]);
  return [...deaths, ...absences];
}

/** Of `pg_upgrade` and all that belongs to it. */
const upgradeMs = { from: 500, to: 3_500, step: 200 } as const;

/** The process of an upgrade's Job, every so often while it changes the data; of the others, of which one is like another, in the middle. */
export function upgradeFaults({ reference, scenario }: Cell): readonly Variant[] {
  if (scenario.engine !== 'postgres' || scenario.touches?.includes('version') !== true) return [];
  return jobsOf(reference).flatMap(({ name, at }): Variant[] => {
    const isChange = name.endsWith('-upgrade');
    const { from, to, step } = isChange ? upgradeMs : { from: 1_000, to: 1_000, step: 1 };
    return Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, n): Variant => {
      return { faults: [{ do: 'killAgent', at: { ms: at + from + n * step } }], mayDiffer: madeAgain };
    });
  });
}

/** While they are at work, and after it. */
const moments = [900, 1_600, 20_000] as const;

export function changedJobs({ reference }: Cell): readonly Variant[] {
  return jobsOf(reference).flatMap(({ name, at }) =>
    moments.flatMap((ms) =>
      (['delete', 'relabel'] as const).map((how): Variant => {
        const isAtWork = ms < 5_000;
        return {
          faults: [{ do: 'drift', at: { ms: at + ms }, how, resource: 'jobs', name }],
          mayDiffer: [...(isAtWork ? madeAgain : []), { oracle: 'O2', about: 'Job/', why: 'nobody needs it any more' }],
        };
      }),
    ),
  );
}
