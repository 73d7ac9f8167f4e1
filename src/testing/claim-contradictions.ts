/**
 * What of an engine's status contradicts itself: phase and conditions are told from one judgement, so no reader may find one
 * of them saying what another denies. The conditions are read as kstatus reads them.
 */
import type { DesiredCondition } from '../api/condition.ts';
import type { Phase } from '../api/status.ts';

export interface Claimed {
  readonly phase?: Phase | undefined;
  readonly conditions?: readonly DesiredCondition[];
}

/** What a phase says of the conditions; undefined: it says nothing. `ready: 'asFound'`: either. */
interface Meaning {
  readonly ready: 'True' | 'False' | 'asFound';
  readonly progressing?: boolean;
  readonly degraded?: boolean;
  readonly stalled: boolean | 'asFound';
}

const phases: Readonly<Record<Phase, Meaning>> = {
  Creating: { ready: 'False', progressing: true, degraded: false, stalled: false },
  Ready: { ready: 'True', progressing: false, degraded: false, stalled: false },
  Updating: { ready: 'False', progressing: true, degraded: false, stalled: false },
  Degraded: { ready: 'False', degraded: true, stalled: false },
  Blocked: { ready: 'False', progressing: false, stalled: true },
  // Nothing is changed, whatever is found.
  Paused: { ready: 'asFound', progressing: false, stalled: 'asFound' },
  Deleting: { ready: 'False', progressing: true, stalled: false },
  Invalid: { ready: 'False', progressing: false, stalled: true },
  Pending: { ready: 'False', progressing: true, degraded: false, stalled: false },
  Running: { ready: 'False', progressing: true, degraded: false, stalled: false },
  // It may hold less than the one before, which is worth a page.
  Verified: { ready: 'True', progressing: false, stalled: false },
  Failed: { ready: 'False', progressing: false, degraded: true, stalled: true },
  Active: { ready: 'True', progressing: false, stalled: false },
  Suspended: { ready: 'True', progressing: false, degraded: false, stalled: false },
};

/** These are there with every state; any other exists while it holds, and at no other time. */
const standing: readonly string[] = ['Ready', 'Progressing', 'Degraded'];

export function claimContradictions({ phase, conditions = [] }: Claimed): string[] {
  const types = conditions.map(({ type }) => type);
  const of = (type: string): DesiredCondition | undefined => conditions.find((condition) => condition.type === type);
  const holds = (type: string): boolean => of(type)?.status === 'True';
  const [isReady, isReconciling, isStalled] = [holds('Ready'), holds('Reconciling'), holds('Stalled')];
  const said: readonly (readonly [isWrong: boolean, words: string])[] = [
    [phase === undefined, 'there is no phase'],
    [of('Ready') === undefined, 'there is no condition Ready'],
    [new Set(types).size !== types.length, 'a condition is there twice'],
    [isReady && isReconciling, 'Ready and Reconciling'],
    [isReady && isStalled, 'Ready and Stalled'],
    [isReady && holds('Progressing'), 'Ready and Progressing'],
    [isReconciling && isStalled, 'Reconciling and Stalled'],
    [isReconciling !== holds('Progressing'), 'Progressing and Reconciling differ'],
    [isReconciling && !agree(of('Reconciling'), of('Progressing')), 'Progressing and Reconciling differ in words'],
  ];
  return [
    ...said.flatMap(([isWrong, words]) => (isWrong ? [words] : [])),
    ...conditions.flatMap(wordless),
    ...(phase === undefined ? [] : phaseContradictions(phase, of)),
  ];
}

function agree(some: DesiredCondition | undefined, other: DesiredCondition | undefined): boolean {
  return some?.reason === other?.reason && some?.message === other?.message;
}

function wordless({ type, status, reason, message }: DesiredCondition): string[] {
  return [
    ...(/^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/.test(reason) ? [] : [`${type} has no reason`]),
    ...(message.trim() === '' ? [`${type} has no message`] : []),
    ...(!standing.includes(type) && status !== 'True' ? [`${type} is there and ${status}`] : []),
  ];
}

function phaseContradictions(phase: Phase, of: (type: string) => DesiredCondition | undefined): string[] {
  const meaning = phases[phase];
  const mismatch = (type: string, wanted: boolean | 'asFound' | undefined): string[] => {
    if (wanted === undefined || wanted === 'asFound') return [];
    const status = of(type)?.status;
    return (status === 'True') === wanted ? [] : [`phase ${phase} and ${type} ${status ?? 'absent'}`];
  };
  return [
    ...mismatch('Ready', meaning.ready === 'asFound' ? 'asFound' : meaning.ready === 'True'),
    ...mismatch('Progressing', meaning.progressing),
    ...mismatch('Degraded', meaning.degraded),
    ...mismatch('Stalled', meaning.stalled),
  ];
}
