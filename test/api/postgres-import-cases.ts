/** PostgresClusters that begin with a PostgreSQL that runs elsewhere. */
import type { Case, Json } from './case.ts';

const whole = {
  host: 'db.example.com',
  user: 'importer',
  password: { name: 'source' },
  tls: { ca: { name: 'source-ca' } },
} as const;

const from = (change: Json): Json => ({ bootstrap: { importFrom: { ...whole, ...(change as object) } } });
const without = (field: keyof typeof whole): Json => {
  const { [field]: _, ...rest } = whole;
  return { bootstrap: { importFrom: rest } };
};
const at = (field: string): string => `spec.bootstrap.importFrom.${field}`;
const long = (length: number): string => 'a'.repeat(length);

const accepted: readonly (readonly [story: string, spec: Json])[] = [
  ['a source', from({})],
  ['a source with an address, a port and an odd user', from({ host: '10.0.0.7', port: 6432, user: 'the importer' })],
  ['a source with an IPv6 address', from({ host: 'fd00::7' })],
  [
    'a source with keys of its own',
    from({ password: { name: 's', key: 'pw' }, tls: { ca: { name: 's', key: 'root.pem' } } }),
  ],
  ['a source without a CA, whose certificate is not checked', from({ tls: { mode: 'require' } })],
  ['a source without TLS', from({ tls: { mode: 'disable' } })],
  ['the longest host and user', from({ host: long(253), user: long(63) })],
  ['ports at the bounds', from({ port: 65_535 })],
  ['one database of a source', from({ logical: { database: 'the shop' } })],
  [
    'the longest name of a database, whatever is written meanwhile',
    from({ logical: { database: long(63), acceptMissingChanges: true } }),
  ],
];

const refused: readonly (readonly [story: string, spec: Json, field: string])[] = [
  ['nothing to begin with', { bootstrap: {} }, 'spec.bootstrap'],
  [
    'a backup and a source',
    { bootstrap: { importFrom: whole, restore: { target: { claim: { name: 'backups' } } } } },
    'spec.bootstrap',
  ],
  ['a source without a host', without('host'), at('host')],
  ['a source without a user', without('user'), at('user')],
  ['a source without a password', without('password'), at('password')],
  ['a source of which nobody says how it is secured', without('tls'), at('tls')],
  ['a host with an option in it', from({ host: 'db user=x' }), at('host')],
  ['a host that is a path', from({ host: '/tmp' }), at('host')],
  ['several hosts', from({ host: 'a,b' }), at('host')],
  ['a host that is too long', from({ host: long(254) }), at('host')],
  ['port 0', from({ port: 0 }), at('port')],
  ['port 65536', from({ port: 65_536 }), at('port')],
  ['a user with a line break', from({ user: 'a\nb' }), at('user')],
  ['no user', from({ user: '' }), at('user')],
  ['a user that is too long', from({ user: long(64) }), at('user')],
  ['a password of no Secret', from({ password: {} }), at('password.name')],
  ['a password of a Secret in another namespace', from({ password: { name: 'a/b' } }), at('password.name')],
  ['a Secret with a long name', from({ password: { name: long(254) } }), at('password.name')],
  ['a key with a slash', from({ password: { name: 's', key: 'a/b' } }), at('password.key')],
  ['a long key', from({ password: { name: 's', key: long(254) } }), at('password.key')],
  ['an unknown mode', from({ tls: { mode: 'prefer' } }), at('tls.mode')],
  ['a certificate that is checked against nothing', from({ tls: {} }), at('tls.ca')],
  ['a CA of no Secret', from({ tls: { ca: {} } }), at('tls.ca.name')],
  ['a CA of a Secret with an odd name', from({ tls: { ca: { name: 'A' } } }), at('tls.ca.name')],
  ['a CA of a Secret with a long name', from({ tls: { ca: { name: long(254) } } }), at('tls.ca.name')],
  ['a CA under a key with a slash', from({ tls: { ca: { name: 's', key: '/' } } }), at('tls.ca.key')],
  ['a CA under a long key', from({ tls: { ca: { name: 's', key: long(254) } } }), at('tls.ca.key')],
  ['no database of a source', from({ logical: {} }), at('logical.database')],
  ['a database without a name', from({ logical: { database: '' } }), at('logical.database')],
  ['a database with a line break', from({ logical: { database: 'a\nb' } }), at('logical.database')],
  ['a database with a name that is too long', from({ logical: { database: long(64) } }), at('logical.database')],
  [
    'missing changes in words',
    from({ logical: { database: 'a', acceptMissingChanges: 'yes' } }),
    at('logical.acceptMissingChanges'),
  ],
  ['a password in the spec', from({ password: 'secret' }), at('password')],
];

export const postgresImportCases: readonly Case[] = [
  ...accepted.map(([story, spec]) => ({ story, spec })),
  ...refused.map(([story, spec, field]) => ({ story, spec, refused: field })),
  { story: 'a cluster that would import again', old: {}, spec: from({}), refused: 'spec.bootstrap' },
  { story: 'another source', old: from({}), spec: from({ host: 'other.example.com' }), refused: 'spec.bootstrap' },
];
