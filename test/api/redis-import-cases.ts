/** RedisClusters that begin with a Redis or Valkey that runs elsewhere. */
import type { Case, Json } from './case.ts';

const whole = { host: 'old.example.com', password: { name: 'source' } } as const;

const from = (change: Json): Json => ({ bootstrap: { importFrom: { ...whole, ...(change as object) } } });
const at = (field: string): string => `spec.bootstrap.importFrom.${field}`;
const long = (length: number): string => 'a'.repeat(length);

const accepted: readonly (readonly [story: string, spec: Json])[] = [
  ['a source', from({})],
  ['a source without a password', { bootstrap: { importFrom: { host: 'old' } } }],
  ['a source with an address, a port and a user', from({ host: '10.0.0.7', port: 6380, user: 'copier' })],
  ['a source with an IPv6 address', from({ host: 'fd00::7' })],
  ['a source with a key of its own', from({ password: { name: 's', key: 'pw' } })],
  ['the longest host and user', from({ host: long(253), user: long(128) })],
  ['ports at the bounds', from({ port: 65_535 })],
  ['a source for one node', { mode: 'Standalone', replicas: 1, bootstrap: { importFrom: whole } }],
];

const refused: readonly (readonly [story: string, spec: Json, field: string])[] = [
  ['nothing to begin with', { bootstrap: {} }, 'spec.bootstrap'],
  [
    'a backup and a source',
    { bootstrap: { importFrom: whole, restore: { target: { claim: { name: 'backups' } } } } },
    'spec.bootstrap',
  ],
  ['a source without a host', { bootstrap: { importFrom: { password: { name: 's' } } } }, at('host')],
  ['a host with an option in it', from({ host: 'old 6379' }), at('host')],
  ['a host that is a path', from({ host: '/tmp' }), at('host')],
  ['a host that is too long', from({ host: long(254) }), at('host')],
  ['port 0', from({ port: 0 }), at('port')],
  ['port 65536', from({ port: 65_536 }), at('port')],
  ['a user with a blank', from({ user: 'a b' }), at('user')],
  ['no user', from({ user: '' }), at('user')],
  ['a user that is too long', from({ user: long(129) }), at('user')],
  [
    'a user without a password',
    { bootstrap: { importFrom: { host: 'old', user: 'copier' } } },
    'spec.bootstrap.importFrom',
  ],
  ['a password of no Secret', from({ password: {} }), at('password.name')],
  ['a password of a Secret in another namespace', from({ password: { name: 'a/b' } }), at('password.name')],
  ['a Secret with a long name', from({ password: { name: long(254) } }), at('password.name')],
  ['a key with a slash', from({ password: { name: 's', key: 'a/b' } }), at('password.key')],
  ['a long key', from({ password: { name: 's', key: long(254) } }), at('password.key')],
  ['a password in the spec', from({ password: 'secret' }), at('password')],
  ['a copy that is kept nowhere', { storage: { ephemeral: true }, bootstrap: { importFrom: whole } }, 'spec.bootstrap'],
];

export const redisImportCases: readonly Case[] = [
  ...accepted.map(([story, spec]) => ({ story, spec })),
  ...refused.map(([story, spec, field]) => ({ story, spec, refused: field })),
  { story: 'a cluster that would import again', old: {}, spec: from({}), refused: 'spec.bootstrap' },
  { story: 'another source', old: from({}), spec: from({ host: 'other.example.com' }), refused: 'spec.bootstrap' },
];
