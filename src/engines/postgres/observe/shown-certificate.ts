/**
 * What the source of the members' certificate says, and the copy that they have. Secrets are not watched, so the source is read again every
 * half minute.
 *
 * Members that start with a certificate that PostgreSQL cannot load do not start, and standbys that refuse the primary's do not copy. So what
 * differs from the copy is tried in handshakes, with each bundle of CAs that it would meet on its way.
 */
import type { X509Certificate } from 'node:crypto';
import type { Cluster } from '../../../api/cluster.ts';
import { type CopySeen, copied } from '../../../certificates/copied.ts';
import { certificatesIn, leafKeys, type Values } from '../../../certificates/facts.ts';
import { certificateOf, factsOf, isSignedBy } from '../../../certificates/x509.ts';
import type { EngineContext } from '../../../engine/engine-context.ts';
import { readCopy } from '../../../plan/certificates-seen.ts';
import { memoize } from '../../../plan/memoize.ts';
import { keyTooLong, longestKeyBits, refusalOf } from '../../../system/accepted.ts';
import type { PostgresSpec } from '../kind/schema.ts';
import { postgresNames } from '../names.ts';
import { casDigest, shownWanted } from '../resources/shown-certificate.ts';

export interface ShownSeen {
  readonly source: CopySeen;
  /** Digest of the CAs of the source. */
  readonly sourceCas: string;
  /** The operator's certificate as the source. Only where there is no copy. */
  readonly own?: CopySeen;
  readonly copy?: CopyContent;
}

export interface CopyContent {
  /** PEM texts of the CAs alone: clients are told, who must not see a key that somebody has put beside them. */
  readonly trusted: string;
  /** Digest of the CAs as the file has them: see `casDigest`. */
  readonly cas: string;
  /** Of the certificate that is shown. */
  readonly fingerprint: string;
  /** Of the names that clients call members by, those that it is not valid for. */
  readonly missingNames: readonly string[];
}

/** After which a source is read again. */
export const readEveryMs = 30_000;

export async function observeShown(cluster: Cluster<PostgresSpec>, io: EngineContext): Promise<ShownSeen | undefined> {
  const wanted = shownWanted(cluster);
  if (wanted === undefined) return undefined;
  const { name } = cluster.metadata;
  const { server } = postgresNames(name).certificates;
  const read = (secret: string): Promise<Values | undefined> => io.secret(secret, { of: name });
  const told = String(Math.floor(io.now() / readEveryMs));
  const [source, copy] = await Promise.all([
    wanted.from === server ? read(server) : io.secret(wanted.from, undefined, told),
    read(wanted.secret),
  ]);
  const seen = await seenWith(source, copy, io.now());
  const content = contentOf(cluster, copy);
  const sourceCas = casDigest(source?.[leafKeys.trusted] ?? '');
  if (content !== undefined) return { source: seen, sourceCas, copy: content };
  return { source: seen, sourceCas, own: readCopy(await read(server), copy) };
}

function contentOf({ metadata }: Cluster<PostgresSpec>, copy: Values | undefined): CopyContent | undefined {
  const leaf = certificateOf(copy?.[leafKeys.certificate]);
  const trusted = copy?.[leafKeys.trusted];
  if (leaf === undefined || trusted === undefined) return undefined;
  const { primary, replicas } = postgresNames(metadata.name);
  const names = [primary, replicas].map((service) => `${service}.${metadata.namespace}.svc`);
  return {
    trusted: certificatesIn(trusted).join(''),
    cas: casDigest(trusted),
    fingerprint: leaf.fingerprint256,
    missingNames: names.filter((name) => leaf.checkHost(name) === undefined),
  };
}

async function seenWith(source: Values | undefined, copy: Values | undefined, now: number): Promise<CopySeen> {
  const seen = readCopy(source, copy);
  if (source === undefined || seen.source.fault !== undefined) return seen;
  const fault = lifeFault(source, now) ?? signatureFault(source) ?? (await refusals(source)(copy ?? noValues));
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

/** PostgreSQL binds a login to the certificate by the hash that has signed it. Ed25519 has none, and no password would be accepted. */
function signatureFault(source: Values): string | undefined {
  const read = (key: string): X509Certificate[] =>
    certificatesIn(source[key] ?? '').flatMap((text) => certificateOf(text) ?? []);
  const [leaf, ...chain] = read(leafKeys.certificate);
  if (leaf === undefined) return undefined;
  const signer = [...chain, ...read(leafKeys.trusted)].find((one) => isSignedBy(leaf, one));
  const type = signer?.publicKey.asymmetricKeyType ?? '';
  return ['ed25519', 'ed448'].includes(type)
    ? `has a tls.crt that is signed with ${type}: PostgreSQL accepts no password on such a connection; use a CA with an ECDSA or RSA key`
    : undefined;
}

const shownIn = (values: Values) => ({ cert: values[leafKeys.certificate] ?? '', key: values[leafKeys.key] ?? '' });

const noValues: Values = {};

/** Once for each reading of the Secrets: a handshake takes time in which nobody else is served. */
const refusals = memoize((source: Values) => memoize((copy: Values) => refusal(source, copy)));

async function refusal(source: Values, copy: Values): Promise<string | undefined> {
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
