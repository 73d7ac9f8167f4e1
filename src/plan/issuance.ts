/**
 * What has to be made of an authority and of the certificates that it signs: pure, from what their Secrets say.
 *
 * An authority is followed by another one in three steps, each of which changes whom the members trust, or what they
 * show: the successor is trusted beside it; the successor signs; the old one is trusted no more. Between two steps every
 * member has to have taken up the step before, or members would refuse each other. Those outside, whom nobody can ask,
 * are given the life of a certificate: before that is over they have to read the Secret again anyway.
 */
import type { LeafRequest } from '../certificates/certificate.ts';
import { type AuthorityFacts, isDue, type LeafFacts, type Seen } from '../certificates/facts.ts';
import type { Issue } from '../certificates/issue.ts';

export interface LeafWanted extends LeafRequest {
  /** Name of the Secret. */
  readonly secret: string;
}

/** An authority with everything that it signs. */
export interface AuthorityWanted {
  readonly secret: string;
  readonly hours: number;
  readonly leafHours: number;
  /** What those outside are given for each step. 0: there are none. */
  readonly patienceHours: number;
  readonly leaves: readonly LeafWanted[];
}

export interface AuthoritySeen {
  readonly authority: Seen<AuthorityFacts>;
  /** By the name of the Secret. */
  readonly leaves: Readonly<Record<string, Seen<LeafFacts>>>;
}

export interface Issuing {
  readonly secret: string;
  readonly issue: Issue;
  readonly reason: string;
}

/** How those who run stand to what the Secrets say. */
export interface Takers {
  /** Whoever runs has started with the Secrets as they are. */
  readonly areUpToDate: boolean;
  /** Nobody runs: nobody trusts anybody yet. */
  readonly areNone: boolean;
  /** Where nobody runs: they have stopped for a while, and clients wait for them, who get their time as ever. Default: false. */
  readonly willResume?: boolean;
}

const hourMs = 3_600_000;

/**
 * Undefined where those who run trust an authority of which nothing is left, or one that is not in the Secret, and cannot
 * be led to another. `now` in milliseconds.
 */
export function issuing(
  wanted: AuthorityWanted,
  seen: AuthoritySeen,
  takers: Takers,
  now: number,
): Issuing[] | undefined {
  const { facts } = seen.authority;
  if (facts === undefined) return founding(wanted, seen, takers);
  // A successor would be trusted instead of whoever has signed what they show.
  const isForeign = wanted.leaves.some(({ secret }) => seen.leaves[secret]?.facts?.isTrusted === false);
  if (isForeign && !facts.hasKey && !takers.areNone) return undefined;
  const step = succession(wanted, seen, facts, takers, now);
  if (step !== undefined) return [step];
  return wanted.leaves.flatMap((leaf) => leafIssuing(wanted, leaf, seen, facts, now));
}

function founding(
  { secret, hours, leafHours, leaves }: AuthorityWanted,
  seen: AuthoritySeen,
  { areNone }: Takers,
): Issuing[] | undefined {
  const own = { name: secret, hours, seen: seen.authority.digest };
  const survivor = leaves.find((leaf) => seen.leaves[leaf.secret]?.facts !== undefined);
  if (survivor !== undefined) {
    const issue: Issue = { what: 'authority-again', from: survivor.secret, ...own };
    return [{ secret, issue, reason: 'the CA is missing, and another one has to follow it' }];
  }
  if (!areNone) return undefined;
  return [
    { secret, issue: { what: 'authority', ...own }, reason: 'no CA exists yet' },
    ...leaves.map((leaf) => issuingOf(secret, leaf, leafHours, seen, true, 'no certificate exists yet')),
  ];
}

function succession(
  { secret, hours, patienceHours, leaves }: AuthorityWanted,
  seen: AuthoritySeen,
  facts: AuthorityFacts,
  { areUpToDate, areNone, willResume = false }: Takers,
  now: number,
): Issuing | undefined {
  const { digest } = seen.authority;
  const { present, hasKey, hasNext, hasPrevious, generation, changed } = facts;
  const hasEnded = present.notAfter <= now;
  const isOver = isDue(present, now) && (!hasPrevious || hasEnded);
  if (!hasNext && (isOver || !hasKey)) {
    const reason = hasKey
      ? 'the CA has passed two thirds of its life'
      : 'the key of the CA is missing, or is not its own';
    return { secret, issue: { what: 'successor', name: secret, hours, seen: digest }, reason };
  }
  // Nobody believes it any more: there is nothing to be careful of.
  if (hasNext && hasEnded) {
    return { secret, issue: { what: 'succession', seen: digest }, reason: 'the CA has expired' };
  }
  const certificates = leaves.flatMap((leaf) => seen.leaves[leaf.secret]?.facts ?? []);
  if (!areUpToDate || certificates.some((leaf) => leaf.generation !== generation)) return undefined;
  const isPatienceOver = (areNone && !willResume) || now >= changed + patienceHours * hourMs;
  // Nobody could renew it.
  const cannotWait = !hasKey && certificates.some((leaf) => isDue(leaf.certificate, now));
  if (hasNext && (isPatienceOver || cannotWait)) {
    return { secret, issue: { what: 'succession', seen: digest }, reason: 'the next CA is trusted everywhere' };
  }
  if (hasPrevious && !hasNext && isPatienceOver) {
    const reason = 'no certificate of the previous CA is in use any more';
    return { secret, issue: { what: 'retirement', seen: digest }, reason };
  }
  return undefined;
}

function leafIssuing(
  { secret, leafHours }: AuthorityWanted,
  leaf: LeafWanted,
  seen: AuthoritySeen,
  { present, hasKey, generation }: AuthorityFacts,
  now: number,
): Issuing[] {
  const facts = seen.leaves[leaf.secret]?.facts;
  const newEnd = Math.min(now + leafHours * hourMs, present.notAfter);
  const why = facts === undefined ? 'no certificate exists' : whyRenewed(leaf, facts, newEnd, now);
  const renew = why !== undefined && hasKey;
  if (renew) return [issuingOf(secret, leaf, leafHours, seen, true, why)];
  if (facts === undefined || facts.generation === generation) return [];
  return [issuingOf(secret, leaf, leafHours, seen, false, 'other CAs are to be trusted')];
}

/** `newEnd`: of the one that would take its place. One that ends no later would be as due as it is. */
function whyRenewed(
  { names }: LeafWanted,
  { certificate, isCurrent }: LeafFacts,
  newEnd: number,
  now: number,
): string | undefined {
  if (!isCurrent) return 'another CA signs now';
  if (names.join() !== certificate.names.join()) return 'it needs other names';
  // By a clock that was ahead, or this one is behind: the new one is good by both.
  if (now < certificate.notBefore && certificate.notBefore < newEnd) return 'the certificate is not valid yet';
  return isDue(certificate, now) && newEnd > certificate.notAfter
    ? 'the certificate has passed two thirds of its life'
    : undefined;
}

function issuingOf(
  authority: string,
  { secret, ...request }: LeafWanted,
  hours: number,
  seen: AuthoritySeen,
  renew: boolean,
  reason: string,
): Issuing {
  const { digest = '' } = seen.leaves[secret] ?? {};
  return { secret, issue: { what: 'leaf', ...request, authority, hours, renew, seen: digest }, reason };
}
