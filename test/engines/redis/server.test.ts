import { expect, it } from 'vitest';
import {
  atLeast,
  canRead,
  firstOfItsOwn,
  parseServer,
  type Server,
  serverIn,
  serverText,
} from '../../../src/engines/redis/kind/server.ts';

const reads = (reader: string, written: string): boolean => canRead(server(reader), server(written));

function server(text: string): Server {
  const [engine = '', version = ''] = text.split(' ');
  return { engine: engine === 'Valkey' ? 'Valkey' : 'Redis', version };
}

it.each([
  // As real servers of 7.0, 8.0, 8.1 and 9.1 have shown: see real-handover.test.ts.
  ['Redis 8.0', 'Redis 7.0', true],
  ['Redis 7.0', 'Redis 8.0', false],
  ['Valkey 8.1', 'Redis 7.0', true],
  ['Valkey 9.1', 'Redis 7.0', true],
  ['Valkey 8.1', 'Redis 8.0', false],
  ['Valkey 9.1', 'Redis 8.0', false],
  ['Redis 7.0', 'Valkey 8.1', false],
  ['Redis 8.0', 'Valkey 8.1', true],
  ['Redis 8.0', 'Valkey 9.1', false],
  ['Valkey 9.1', 'Valkey 8.1', true],
  ['Valkey 8.1', 'Valkey 9.1', false],
  // By the formats of the table.
  ['Valkey 7.2', 'Redis 7.2', true],
  ['Valkey 9.1', 'Redis 7.4', false],
  ['Redis 7.2', 'Valkey 8.1', true],
  ['Redis 8.0', 'Valkey 9.0', false],
  ['Redis 8.0', 'Redis 8.0.2', true],
  ['Valkey 8.1', 'Valkey 8.1.9', true],
  ['Redis 8.0', 'Redis unknown', false],
  ['Valkey 8.1', 'Redis unknown', false],
] as const)('%s reads what %s has written: %s', (reader, written, expected) => {
  expect(reads(reader, written)).toBe(expected);
});

it('the first version whose files the other engine does not read', () => {
  expect([firstOfItsOwn('Redis'), firstOfItsOwn('Valkey')]).toEqual(['7.4', '9.0']);
});

it('compares versions by their numbers', () => {
  expect([atLeast('7.10', '7.9'), atLeast('8.0', '7.10'), atLeast('7.2.4', '7.2'), atLeast('7.0', '7.2')]).toEqual([
    true,
    true,
    true,
    false,
  ]);
});

it('Redis is written as its version alone, as in every manifest of before', () => {
  const redis: Server = { engine: 'Redis', version: '7.0.15' };
  const valkey: Server = { engine: 'Valkey', version: '8.1.1' };
  expect([serverText(redis), serverText(valkey)]).toEqual(['7.0.15', 'Valkey 8.1.1']);
  expect([parseServer('7.0.15'), parseServer('Valkey 8.1.1')]).toEqual([redis, valkey]);
});

it('Valkey is known by what it says of itself, and not by the version of Redis that it claims', () => {
  const of = (fields: Readonly<Record<string, string>>): Server | undefined => serverIn((name) => fields[name]);
  expect(of({ redis_version: '7.2.4', server_name: 'valkey', valkey_version: '8.1.1' })).toEqual({
    engine: 'Valkey',
    version: '8.1.1',
  });
  expect(of({ redis_version: '8.0.2' })).toEqual({ engine: 'Redis', version: '8.0.2' });
  expect(of({})).toBeUndefined();
});
