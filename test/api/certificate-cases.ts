/** Where the certificates of a cluster come from: what is accepted and refused. Of etcd, for clients and for peers alike. */
import type { Case, Json } from './case.ts';

const issuerRef = { name: 'a' };

/** The source of one kind of connection, and where its fault is, below it. */
type Row = readonly [story: string, source: Json, fault?: string];

const rows: readonly Row[] = [
  ['certificates in a Secret', { secretRef: { name: 'a' } }],
  ['certificates from nowhere', {}, ''],
  ['certificates from two places', { secretRef: { name: 'a' }, selfManaged: {} }, ''],
  ['certificates from two others', { certManager: { issuerRef }, selfManaged: {} }, ''],
  ['certificates from two more', { secretRef: { name: 'a' }, certManager: { issuerRef } }, ''],
  ['a Secret without a name', { secretRef: {} }, '.secretRef.name'],
  ['a Secret of another namespace', { secretRef: { name: 'kube-system/admin' } }, '.secretRef.name'],
  ['a Secret whose name is too long', { secretRef: { name: 'a'.repeat(254) } }, '.secretRef.name'],
  ['certificates from cert-manager', { certManager: { issuerRef } }],
  [
    'everything of cert-manager',
    { certManager: { issuerRef: { ...issuerRef, kind: 'ClusterIssuer' }, duration: '24h', renewBefore: '23h' } },
  ],
  [
    'an issuer of another group',
    { certManager: { issuerRef: { ...issuerRef, kind: 'VaultIssuer', group: 'example.com' } } },
  ],
  ['nobody who issues', { certManager: {} }, '.certManager.issuerRef'],
  ['an issuer without a name', { certManager: { issuerRef: {} } }, '.certManager.issuerRef.name'],
  ['an issuer of another namespace', { certManager: { issuerRef: { name: 'b/a' } } }, '.certManager.issuerRef.name'],
  [
    'an issuer whose name is too long',
    { certManager: { issuerRef: { name: 'a'.repeat(254) } } },
    '.certManager.issuerRef.name',
  ],
  [
    'an issuer of a kind that cert-manager does not have',
    { certManager: { issuerRef: { ...issuerRef, kind: 'VaultIssuer' } } },
    '.certManager.issuerRef.kind',
  ],
  [
    'an issuer whose kind is no kind',
    { certManager: { issuerRef: { ...issuerRef, kind: 'issuer', group: 'example.com' } } },
    '.certManager.issuerRef.kind',
  ],
  [
    'an issuer whose kind is too long',
    { certManager: { issuerRef: { ...issuerRef, kind: 'I'.repeat(64), group: 'example.com' } } },
    '.certManager.issuerRef.kind',
  ],
  [
    'an issuer whose group is none',
    { certManager: { issuerRef: { ...issuerRef, kind: 'VaultIssuer', group: 'Example' } } },
    '.certManager.issuerRef.group',
  ],
  [
    'an issuer whose group is too long',
    { certManager: { issuerRef: { ...issuerRef, kind: 'VaultIssuer', group: 'a'.repeat(254) } } },
    '.certManager.issuerRef.group',
  ],
  ['a time in minutes', { certManager: { issuerRef, duration: '90m' } }, '.certManager.duration'],
  ['a time that is too long', { certManager: { issuerRef, duration: '87601h' } }, '.certManager.duration'],
  ['a time with too many digits', { certManager: { issuerRef, duration: '1000000h' } }, '.certManager.duration'],
  [
    'a renewal before there is a certificate',
    { certManager: { issuerRef, duration: '24h', renewBefore: '24h' } },
    '.certManager.renewBefore',
  ],
  ['a renewal in days', { certManager: { issuerRef, renewBefore: '1d' } }, '.certManager.renewBefore'],
  [
    'a renewal with too many digits',
    { certManager: { issuerRef, renewBefore: '1000000h' } },
    '.certManager.renewBefore',
  ],
  ['certificates of our own', { selfManaged: {} }],
  ['the shortest of our own', { selfManaged: { duration: '1h', authorityDuration: '8h' } }],
  ['the longest of our own', { selfManaged: { duration: '27375h', authorityDuration: '219000h' } }],
  ['no time at all', { selfManaged: { duration: '0h' } }, '.selfManaged.duration'],
  ['a certificate with too many digits', { selfManaged: { duration: '1000000h' } }, '.selfManaged.duration'],
  ['an authority in years', { selfManaged: { authorityDuration: '10y' } }, '.selfManaged.authorityDuration'],
  [
    'an authority with too many digits',
    { selfManaged: { authorityDuration: '1000000h' } },
    '.selfManaged.authorityDuration',
  ],
  [
    'an authority that is too short',
    { selfManaged: { duration: '1h', authorityDuration: '7h' } },
    '.selfManaged.authorityDuration',
  ],
  [
    'an authority that is too long',
    { selfManaged: { authorityDuration: '219001h' } },
    '.selfManaged.authorityDuration',
  ],
  ['a key in the open', { selfManaged: { key: 'secret' } }, '.selfManaged.key'],
];

const sides = ['client', 'peer'] as const;

/** `side`: the field of `spec.tls` that has the source. */
export const certificatesOf = (side: string): readonly Case[] =>
  rows.map(([story, source, fault]) => ({
    story: `${side}: ${story}`,
    spec: { tls: { [side]: source } },
    ...(fault === undefined ? {} : { refused: `spec.tls.${side}${fault}` }),
  }));

export const certificateCreates: readonly Case[] = sides.flatMap(certificatesOf);

const both = (side: string): readonly Case[] => {
  const from = (source: Json | undefined): Json => (source === undefined ? {} : { tls: { [side]: source } });
  const refused = `spec.tls.${side}`;
  const changes: readonly (readonly [story: string, old: Json | undefined, next: Json | undefined])[] = [
    ['TLS where there was none', undefined, { secretRef: { name: 'a' } }],
    ['no TLS where there was', { selfManaged: {} }, undefined],
    ['a Secret in place of our own', { selfManaged: {} }, { secretRef: { name: 'a' } }],
    ['our own in place of a Secret', { secretRef: { name: 'a' } }, { selfManaged: {} }],
    ['cert-manager in place of our own', { selfManaged: {} }, { certManager: { issuerRef } }],
    ['another issuer', { certManager: { issuerRef } }, { certManager: { issuerRef: { name: 'b' } } }],
  ];
  return [
    ...changes.map(([story, old, next]) => ({ story: `${side}: ${story}`, old: from(old), spec: from(next), refused })),
    {
      story: `${side}: other times of our own`,
      old: from({ selfManaged: {} }),
      spec: from({ selfManaged: { duration: '24h' } }),
    },
    {
      story: `${side}: other times of cert-manager`,
      old: from({ certManager: { issuerRef } }),
      spec: from({ certManager: { issuerRef, duration: '24h', renewBefore: '8h' } }),
    },
  ];
};

export const certificateUpdates: readonly Case[] = [
  ...sides.flatMap(both),
  {
    story: 'another Secret for clients',
    old: { tls: { client: { secretRef: { name: 'a' } } } },
    spec: { tls: { client: { secretRef: { name: 'b' } } } },
  },
  {
    story: 'another Secret for peers',
    old: { tls: { peer: { secretRef: { name: 'a' } } } },
    spec: { tls: { peer: { secretRef: { name: 'b' } } } },
    refused: 'spec.tls.peer',
  },
];
