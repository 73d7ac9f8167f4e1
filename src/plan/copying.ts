/**
 * What of a certificate that somebody else makes is given to the members now: pure, from what its Secret and the copy
 * say.
 *
 * Whoever makes it asks nobody before it comes from another CA. So the members get a copy, which follows in three steps:
 * the next CA is trusted beside the one before; the certificate of the next CA is shown; the one before is trusted no
 * more. Between two steps every member has to have started with the step before, as with CAs of our own.
 */
import type { CopyFacts, CopyPart, CopySeen } from '../certificates/copied.ts';
import type { Issue } from '../certificates/issue.ts';

export interface CopyWanted {
  /** Name of the Secret with the copy. */
  readonly secret: string;
  /** Name of the Secret that it is made from. */
  readonly from: string;
  /** What those outside are given for each step. 0: there are none. */
  readonly patienceHours: number;
}

export interface CopyTakers {
  /** Whoever runs has started with the copy as it is. */
  readonly areUpToDate: boolean;
  /** Nobody runs, and nobody is about to. */
  readonly areNone: boolean;
  /** Where nobody runs: they have stopped for a while, and clients wait for them, who get their time as ever. Default: false. */
  readonly willResume?: boolean;
  /** Whoever runs trusts the CAs of the source: known where the copy is gone. */
  readonly trustSource: boolean;
}

export type Copying =
  | { readonly state: 'due'; readonly secret: string; readonly issue: Issue; readonly reason: string }
  | { readonly state: 'done' }
  /** Said to people: why the members have not been given what the source says. */
  | { readonly state: 'held'; readonly reason: 'Unusable' | 'NotTrustedYet'; readonly message: string }
  /** Whom the members trust is nowhere to be found. */
  | { readonly state: 'lost'; readonly message: string };

const hourMs = 3_600_000;
/** Of its life a certificate is shown at most so long when another CA has signed the next one. */
const latestShare = 5 / 6;

/** `now` in milliseconds. */
export function copying(wanted: CopyWanted, seen: CopySeen, takers: CopyTakers, now: number): Copying {
  const { secret, from } = wanted;
  const { fault } = seen.source;
  const { facts } = seen.copy;
  if (fault !== undefined) return { state: 'held', reason: 'Unusable', message: `Secret ${from} ${fault}` };
  const due = (part: CopyPart, reason: string): Copying => {
    const issue: Issue = { what: 'copy', part, from, source: seen.source.digest, seen: seen.copy.digest };
    return { state: 'due', secret, issue, reason };
  };
  if (facts === undefined) {
    if (takers.areNone || takers.trustSource) return due('all', 'the members have no certificate yet');
    const message = `Secret ${secret} is gone, and Secret ${from} has another CA than the members trust: bring it back, or stop all members with replicas 0`;
    return { state: 'lost', message };
  }
  if (!facts.isCurrent && facts.isSameCa) return due('renewal', 'the certificate has been renewed');
  const isAnew = takers.areNone && takers.willResume !== true;
  if (isAnew && (!facts.isCurrent || facts.hasOtherCa)) return due('all', 'nobody runs who trusts another CA');
  return facts.isCurrent ? dropping(wanted, facts, takers, now, due) : showing(wanted, facts, takers, now, due);
}

type Due = (part: CopyPart, reason: string) => Copying;

/** Another CA has signed the certificate in the source. */
function showing(wanted: CopyWanted, facts: CopyFacts, takers: CopyTakers, now: number, due: Due): Copying {
  if (!facts.hasNextCa || !facts.isOrdered) return due('next-ca', 'the next certificate is of another CA');
  const { notBefore } = facts.certificate;
  const last = notBefore + (facts.end - notBefore) * latestShare;
  const at = Math.min((facts.changed ?? 0) + wanted.patienceHours * hourMs, last);
  // Nobody believes the one that is shown any more: there is nothing to be careful of.
  if (facts.end <= now) return due('certificate', 'the life of the one before is over');
  if (takers.areUpToDate && now >= at) return due('certificate', 'its CA is trusted everywhere');
  const waits = [
    ...(takers.areUpToDate ? [] : ['every member is well and has started with that CA trusted']),
    ...(now >= at ? [] : [`${timeOf(at)}, so that clients can come to trust that CA`]),
  ];
  const message = `the certificate in Secret ${wanted.from} is of another CA than the one that the members show: it waits until ${waits.join(', and until ')}`;
  return { state: 'held', reason: 'NotTrustedYet', message };
}

function timeOf(at: number): string {
  return new Date(at).toISOString().replace(/\.\d+Z$/, 'Z');
}

/** The certificate of the source is shown, or was everywhere when the members started. */
function dropping({ patienceHours }: CopyWanted, facts: CopyFacts, takers: CopyTakers, now: number, due: Due): Copying {
  // One that comes beside the CA of the certificate is trusted at once.
  if (!facts.hasNextCa) return due('next-ca', 'another CA is to be trusted');
  const isPatienceOver = now >= (facts.changed ?? 0) + patienceHours * hourMs;
  if (!facts.hasOtherCa || !takers.areUpToDate || !isPatienceOver) return { state: 'done' };
  return due('ca', 'nobody shows a certificate of the CA before any more');
}
