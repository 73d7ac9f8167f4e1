/** O14: a fault costs minutes at most: nobody waits for long where nothing is left to wait for. */
import type { Fault } from '../plan.ts';
import type { Oracle, RunRecord } from '../record.ts';

/** The longest that the operator waits on purpose before it gives somebody up, and some time to do what is left then. */
const patienceMs = 240_000;

/** A watch that dies without a word before its first bookmark is given up when its time-out is over: ten minutes at most. */
const hangingMs = 630_000;

function lasting(fault: Fault): number {
  if (fault.do === 'endWatch' && fault.how === 'hang') return hangingMs;
  return 'forMs' in fault ? (fault.forMs ?? 0) : 0;
}

const tookMs = ({ armedAt, settledAt }: RunRecord): number => settledAt - armedAt;

const seconds = (ms: number): string => `${Math.round(ms / 1000)} s`;

export const availability: Oracle = {
  id: 'O14',
  promise: 'it is whole, and clients write again, within minutes after the fault is over',
  check(run, reference) {
    if (!run.settled) return [];
    const allowance = patienceMs + run.plan.faults.reduce((sum, fault) => sum + lasting(fault), 0);
    const late = tookMs(run) - tookMs(reference);
    const gap = (run.ledger?.longestGapMs ?? 0) - (reference.ledger?.longestGapMs ?? 0);
    return [
      ...(late > allowance
        ? [`it took ${seconds(tookMs(run))}, and ${seconds(tookMs(reference))} without the fault`]
        : []),
      ...(gap > allowance ? [`no write was acknowledged for ${seconds(run.ledger?.longestGapMs ?? 0)}`] : []),
    ];
  },
};
