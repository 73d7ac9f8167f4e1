/**
 * Certificates (X.509 v3, RFC 5280) with keys on P-256: of an authority, which signs itself, and of those it vouches
 * for. Time and randomness come in as arguments.
 */
import {
  createHash,
  createPrivateKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto';
import { bits, identifier, integer, octets, sequence, set, tagged, time, utf8, yes } from './der.ts';

export interface Pair {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

/** Where keys and serial numbers come from. */
export interface Randomness {
  keyPair(): Pair;
  bytes(count: number): Buffer;
}

export const systemRandomness: Randomness = {
  keyPair: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  bytes: randomBytes,
};

/** PEM texts. */
export interface Issued {
  readonly certificate: string;
  readonly key: string;
}

/** Milliseconds. */
export interface Life {
  readonly from: number;
  readonly to: number;
}

export type Usage = 'server' | 'client';

export interface LeafRequest {
  readonly organisation: string;
  /** Left out where it would mean something else: etcd takes it for the name of a user. PostgreSQL does, too, and is meant to. */
  readonly commonName?: string | undefined;
  /** DNS names; the first label may be `*`. */
  readonly names: readonly string[];
  /** IPv4. */
  readonly addresses?: readonly string[] | undefined;
  readonly usages: readonly Usage[];
}

const oid = {
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  commonName: '2.5.4.3',
  organisation: '2.5.4.10',
  subjectKey: '2.5.29.14',
  keyUsage: '2.5.29.15',
  alternativeNames: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKey: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  server: '1.3.6.1.5.5.7.3.1',
  client: '1.3.6.1.5.5.7.3.2',
} as const;

const algorithm = sequence(identifier(oid.ecdsaWithSha256));
const digitalSignature = bits(Buffer.from([0x80]), 7);
const signsCertificates = bits(Buffer.from([0x06]), 1);

const part = (attribute: string, text: string): Buffer => set(sequence(identifier(attribute), utf8(text)));
const named = (attribute: string, text: string): Buffer => sequence(part(attribute, text));

const extension = (id: string, content: Buffer, isCritical = false): Buffer =>
  sequence(identifier(id), ...(isCritical ? [yes] : []), octets(content));

const infoOf = (key: KeyObject): Buffer => key.export({ type: 'spki', format: 'der' });

/** The first 160 bits of the key's hash, as RFC 7093 has it. */
const keyId = (key: KeyObject): Buffer => createHash('sha256').update(infoOf(key)).digest().subarray(0, 20);

interface Content {
  readonly issuer: Buffer;
  readonly subject: Buffer;
  readonly life: Life;
  readonly key: KeyObject;
  readonly extensions: readonly Buffer[];
}

function signed({ issuer, subject, life, key, extensions }: Content, signer: KeyObject, random: Randomness): string {
  // Positive, and never short: RFC 5280 allows up to 20 bytes.
  const serial = random.bytes(16);
  serial[0] = ((serial[0] ?? 0) & 0x3f) | 0x40;
  const content = sequence(
    tagged(0, integer(Buffer.from([2])), true),
    integer(serial),
    algorithm,
    issuer,
    sequence(time(life.from), time(life.to)),
    subject,
    infoOf(key),
    tagged(3, sequence(...extensions), true),
  );
  return pem('CERTIFICATE', sequence(content, algorithm, bits(sign('sha256', content, signer))));
}

function pem(label: string, der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}

const keyText = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString();

/** `name` with a few random digits is its common name, at most 64 characters: no two authorities are called the same. */
export function makeAuthority(name: string, life: Life, random: Randomness = systemRandomness): Issued {
  const { privateKey, publicKey } = random.keyPair();
  const subject = named(oid.commonName, `${name.slice(0, 55)}-${random.bytes(4).toString('hex')}`);
  const certificate = signed(
    {
      issuer: subject,
      subject,
      life,
      key: publicKey,
      extensions: [
        // It vouches for nobody who vouches for others.
        extension(oid.basicConstraints, sequence(yes, integer(Buffer.from([0]))), true),
        extension(oid.keyUsage, signsCertificates, true),
        extension(oid.subjectKey, octets(keyId(publicKey))),
      ],
    },
    privateKey,
    random,
  );
  return { certificate, key: keyText(privateKey) };
}

/** It ends with its authority at the latest. */
export function makeLeaf(
  request: LeafRequest,
  life: Life,
  authority: Issued,
  random: Randomness = systemRandomness,
): Issued {
  const issuer = new X509Certificate(authority.certificate);
  const signer = createPrivateKey(authority.key);
  const { privateKey, publicKey } = random.keyPair();
  const { organisation, commonName, names, addresses = [], usages } = request;
  const alternatives = [
    ...names.map((name) => tagged(2, Buffer.from(name, 'latin1'), false)),
    ...addresses.map((address) => tagged(7, Buffer.from(address.split('.').map(Number)), false)),
  ];
  const certificate = signed(
    {
      issuer: subjectOf(issuer),
      subject: sequence(
        part(oid.organisation, organisation),
        ...(commonName === undefined ? [] : [part(oid.commonName, commonName)]),
      ),
      life: { from: life.from, to: Math.min(life.to, Date.parse(issuer.validTo)) },
      key: publicKey,
      extensions: [
        extension(oid.basicConstraints, sequence(), true),
        extension(oid.keyUsage, digitalSignature, true),
        extension(oid.extendedKeyUsage, sequence(...usages.map((usage) => identifier(oid[usage])))),
        extension(oid.authorityKey, sequence(tagged(0, keyId(issuer.publicKey), false))),
        ...(alternatives.length === 0 ? [] : [extension(oid.alternativeNames, sequence(...alternatives))]),
      ],
    },
    signer,
    random,
  );
  return { certificate, key: keyText(privateKey) };
}

/** An authority of ours has a common name and nothing else. */
function subjectOf({ subject }: X509Certificate): Buffer {
  const [, name] = /^CN=([^\n]+)$/.exec(subject) ?? [];
  if (name === undefined) throw new Error(`the authority is called ${JSON.stringify(subject)}, which is none of ours`);
  return named(oid.commonName, name);
}
