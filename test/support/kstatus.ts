/**
 * What kstatus, by which Flux judges health, makes of one of our resources. `real-kstatus.test.ts` compares it with the library
 * itself on everything that it reads.
 */
import type { Phase } from '../../src/api/status.ts';

export type Kstatus = 'Current' | 'InProgress' | 'Failed' | 'Terminating';

export interface Judgeable {
  readonly metadata: {
    readonly generation?: number | undefined;
    readonly deletionTimestamp?: string | undefined;
  };
  readonly status?: unknown;
}

interface Told {
  readonly observedGeneration?: number;
  readonly conditions?: readonly { readonly type: string; readonly status: string }[];
}

export function kstatusOf({ metadata, status }: Judgeable): Kstatus {
  const { observedGeneration, conditions = [] } = (status ?? {}) as Told;
  const { generation, deletionTimestamp = '' } = metadata;
  if (deletionTimestamp !== '') return 'Terminating';
  if (generation !== undefined && observedGeneration !== undefined && observedGeneration !== generation) {
    return 'InProgress';
  }
  const first = conditions.find(
    ({ type, status: is }) => (type === 'Reconciling' || type === 'Stalled') && is === 'True',
  );
  if (first !== undefined) return first.type === 'Stalled' ? 'Failed' : 'InProgress';
  const ready = conditions.find(({ type }) => type === 'Ready');
  return ready === undefined || ready.status === 'True' ? 'Current' : 'InProgress';
}

/** Of a phase on the present generation. Who is paused is as it was found. */
const kstatusOfPhase: Readonly<Record<Phase, readonly Kstatus[]>> = {
  Creating: ['InProgress'],
  Ready: ['Current'],
  Updating: ['InProgress'],
  // The operator repairs it, or waits for what is away: both may end without anybody.
  Degraded: ['InProgress'],
  // A person has to act, as where data is lost.
  Blocked: ['Failed'],
  Paused: ['Current', 'InProgress', 'Failed'],
  Deleting: ['InProgress'],
  Invalid: ['Failed'],
  Pending: ['InProgress'],
  Running: ['InProgress'],
  Verified: ['Current'],
  Failed: ['Failed'],
  Active: ['Current'],
  Suspended: ['Current'],
};

/** Where Flux would tell a person something else than the phase does. */
export function kstatusContradictions(told: Told & { readonly phase?: Phase | undefined }): string[] {
  const { phase, conditions = [] } = told;
  const judged = kstatusOf({ metadata: {}, status: { conditions } });
  return phase === undefined || kstatusOfPhase[phase].includes(judged)
    ? []
    : [`phase ${phase}, and Flux calls it ${judged}`];
}
