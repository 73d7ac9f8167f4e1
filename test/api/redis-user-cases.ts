/** ACL users of a RedisCluster. */
import type { Case, Json } from './case.ts';

const named = (name: unknown): Json => ({ users: [{ name, secretRef: { name: 'a' }, rules: [] }] });
const ruled = (...rules: readonly unknown[]): Json => ({ users: [{ name: 'app', secretRef: { name: 'a' }, rules }] });
const many = (count: number): Json => ({
  users: Array.from({ length: count }, (_, i) => ({ name: `u${i}`, secretRef: { name: 'a' }, rules: [] })),
});

const goodRules = [
  '+get',
  '-get',
  '+config|get',
  '+FT.SEARCH',
  '+@read',
  '-@dangerous',
  '~app:*',
  '~a[b-c]?',
  '~{tag}:*',
  '%R~a',
  '%RW~a',
  '&news.*',
  'allkeys',
  'resetchannels',
  'allcommands',
  'db=0,12',
  '(+get ~a)',
  '(%R~a &b -@all +get)',
  `~${'a'.repeat(127)}`,
];

const ofSecret = (secretRef: Json): Json => ({ users: [{ name: 'app', secretRef, rules: [] }] });

const badSecrets: readonly (readonly [secretRef: Json, place: string])[] = [
  [{}, 'secretRef.name'],
  [{ name: 'A' }, 'secretRef.name'],
  [{ name: 'a'.repeat(254) }, 'secretRef.name'],
  [{ name: 'a', key: 'a/b' }, 'secretRef.key'],
  [{ name: 'a', key: 'a'.repeat(254) }, 'secretRef.key'],
];

/** What would be more than one rule, or no rule of commands, keys and channels. */
const badRules = [
  '',
  'on',
  'off',
  'nopass',
  'reset',
  'resetpass',
  '>password',
  '<password',
  '#hash',
  `#${'0'.repeat(64)}`,
  'clearselectors',
  'skip-sanitize-payload',
  '+get +set',
  '~a b',
  '~a;b',
  '~a"b',
  "~a'b",
  '~a\\b',
  '~a(b)',
  '~',
  '+',
  '+get\n',
  '~a\u0000',
  '~\u00e4',
  '(+get',
  '()',
  '(+get (+set))',
  '(on)',
  '(>password)',
  '(+get  ~a)',
  `~${'a'.repeat(128)}`,
  1,
];

export const userCases: readonly Case[] = [
  { story: 'users: none', spec: { users: [] } },
  { story: 'users: the most', spec: many(32) },
  {
    story: 'users: an administrator, and a key of its own',
    spec: { users: [{ name: 'A.b_c-9', secretRef: { name: 'a', key: 'k' }, rules: ['+@all'], admin: true }] },
  },
  { story: 'users: a name of 63 characters', spec: named('a'.repeat(63)) },
  { story: 'users: the most rules', spec: ruled(...Array.from({ length: 12 }, () => '+get')) },
  ...goodRules.map((rule) => ({ story: `users: the rule ${JSON.stringify(rule)}`, spec: ruled(rule) })),
  { story: 'users: too many', spec: many(33), refused: 'spec.users' },
  {
    story: 'users: too many rules',
    spec: ruled(...Array.from({ length: 13 }, () => '+get')),
    refused: 'spec.users[0].rules',
  },
  {
    story: 'users: one name twice',
    spec: { users: [...(named('a').users as []), ...(named('a').users as [])] },
    refused: 'spec.users[1]',
  },
  { story: 'users: no Secret', spec: { users: [{ name: 'a', rules: [] }] }, refused: 'spec.users[0].secretRef' },
  {
    story: 'users: no rules',
    spec: { users: [{ name: 'a', secretRef: { name: 'a' } }] },
    refused: 'spec.users[0].rules',
  },
  {
    story: 'users: no name',
    spec: { users: [{ secretRef: { name: 'a' }, rules: [] }] },
    refused: 'spec.users[0].name',
  },
  ...['default', 'clusterwright-users', 'clusterwright', '', 'a b', 'a/b', '-a', 'a-', 'a'.repeat(64), 1].map(
    (name) => ({
      story: `users: the name ${JSON.stringify(name)}`,
      spec: named(name),
      refused: 'spec.users[0].name',
    }),
  ),
  ...badSecrets.map(([secretRef, place]) => ({
    story: `users: the Secret ${JSON.stringify(secretRef)}`,
    spec: ofSecret(secretRef),
    refused: `spec.users[0].${place}`,
  })),
  ...badRules.map((rule) => ({
    story: `users: the rule ${JSON.stringify(rule)}`,
    spec: ruled(rule),
    refused: 'spec.users[0].rules[0]',
  })),
];
