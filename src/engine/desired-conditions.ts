/** The conditions that every engine claims, from one judgement: see `api/condition.ts` for what they mean. */
import type { DesiredCondition } from '../api/condition.ts';

export interface Judged {
  readonly progressing?: boolean;
  readonly degraded?: boolean;
  readonly stalled?: boolean;
}

export function desiredConditions(
  ready: 'True' | 'False',
  reason: string,
  message: string,
  judged: Judged,
): DesiredCondition[] {
  const state = (value: boolean | undefined): 'True' | 'False' => (value === true ? 'True' : 'False');
  const claim = { reason, message };
  return [
    { type: 'Ready', status: ready, ...claim },
    { type: 'Progressing', status: state(judged.progressing), ...claim },
    { type: 'Degraded', status: state(judged.degraded), ...claim },
    ...(judged.progressing === true ? [{ type: 'Reconciling' as const, status: 'True' as const, ...claim }] : []),
    ...(judged.stalled === true ? [{ type: 'Stalled' as const, status: 'True' as const, ...claim }] : []),
  ];
}
