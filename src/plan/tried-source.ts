/**
 * Whether servers can be given what the source of a certificate says. One that starts with a certificate that it cannot load does not start, and
 * clients refuse one that they do not believe. So what differs from the copy is tried in handshakes, with each bundle of CAs that it would meet
 * on its way.
 */
import { type CopySeen, copied } from '../certificates/copied.ts';
import { leafKeys, type Values } from '../certificates/facts.ts';
import { certificateOf, factsOf } from '../certificates/x509.ts';
import { readCopy } from './certificates-seen.ts';
import { memoize } from './memoize.ts';

/** How it is tried: see `system/accepted.ts`. */
export interface Trial {
  readonly refusalOf: (
    shown: { readonly cert: string; readonly key: string },
    ca: string,
  ) => Promise<string | undefined>;
  /** What that answers for a key with more bits than this. */
  readonly keyTooLong: string;
  readonly longestKeyBits: number;
}

/**
 * What the source and the copy say, with a fault of the source that only a trial tells.
 *
 * @param ownFault what else the servers do not take
 */
export async function triedSource(
  source: Values | undefined,
  copy: Values | undefined,
  now: number,
  trial: Trial,
  ownFault: (source: Values) => string | undefined = () => undefined,
): Promise<CopySeen> {
  const seen = readCopy(source, copy);
  if (source === undefined || seen.source.fault !== undefined) return seen;
  const fault = lifeFault(source, now) ?? ownFault(source) ?? (await refusals(trial)(source)(copy ?? noValues));
  return fault === undefined ? seen : { ...seen, source: { ...seen.source, fault } };
}

function lifeFault(source: Values, now: number): string | undefined {
  const leaf = certificateOf(source[leafKeys.certificate]);
  if (leaf === undefined) return undefined;
  const { notBefore, notAfter } = factsOf(leaf);
  if (notAfter <= now) return `has a tls.crt that has expired at ${timeOf(notAfter)}`;
  return notBefore > now ? `has a tls.crt that is valid from ${timeOf(notBefore)} on` : undefined;
}

function timeOf(at: number): string {
  return new Date(at).toISOString().replace(/\.\d+Z$/, 'Z');
}

const shownIn = (values: Values) => ({ cert: values[leafKeys.certificate] ?? '', key: values[leafKeys.key] ?? '' });

const noValues: Values = {};

/** Once for each reading of the Secrets: a handshake takes time in which nobody else is served. */
const refusals = memoize((trial: Trial) =>
  memoize((source: Values) => memoize((copy: Values) => refusal(source, copy, trial))),
);

async function refusal(source: Values, copy: Values, trial: Trial): Promise<string | undefined> {
  const { refusalOf, keyTooLong, longestKeyBits } = trial;
  const isSame = (key: string): boolean => source[key] === copy[key];
  if (isSame(leafKeys.certificate) && isSame(leafKeys.key) && isSame(leafKeys.trusted)) return undefined;
  const code = await refusalOf(shownIn(source), source[leafKeys.trusted] ?? '');
  if (code === keyTooLong) return `has a tls.key with more than ${longestKeyBits} bits`;
  if (code !== undefined) return `has a tls.crt that clients refuse by its ca.crt (${code})`;
  if (readCopy(source, copy).copy.facts === undefined) return undefined;
  // As the steps of a change of CA would have it: each is trusted beside the other.
  const first = copied('next-ca', source, copy, 0);
  const second = copied('certificate', source, { ...copy, ...first }, 0);
  // Where nobody accepts what is shown now, nothing can be made worse for it.
  const isShownAccepted = (await refusalOf(shownIn(copy), copy[leafKeys.trusted] ?? '')) === undefined;
  for (const { [leafKeys.trusted]: together = '' } of [first, second]) {
    for (const one of isShownAccepted ? [source, copy] : [source]) {
      const why = await refusalOf(shownIn(one), together);
      if (why !== undefined)
        return `has a CA that clients do not tell from the one that they trust now (${why}): give it a name or a key identifier of its own`;
    }
  }
  return undefined;
}
