/** A program that is given engines whose objects could not be told apart does not begin: one would delete volumes of the other. */
import { expect, it } from 'vitest';
import { redis } from '../../src/engines/redis/index.ts';
import { defineEngine, handlersOf } from '../../src/jobs/handlers.ts';
import { type Toy, toy, toyEngine, toyKind } from '../testing/toy-engine.ts';

const kindOf = (kind: string): Partial<Toy> => ({
  definition: { ...toy.definition, kind: { ...toyKind, resource: { ...toyKind.resource, kind } } },
});
const called = (name: string): Partial<Toy> => ({ definition: { ...toy.definition, name } });

it.each<readonly [story: string, Partial<Toy>, told: string]>([
  ['the name of another engine', called('redis'), 'two engines have the name redis'],
  ['the name of what takes backups', called('backup'), 'two engines have the name backup'],
  ['a name that is no part of a key', called('toys/toy'), 'the name of an engine, toys/toy, does not match'],
  ['a name that is no label', called(''), 'the name of an engine, , does not match'],
  ['a name that is longer than a task of a backup takes', called('t'.repeat(41)), 'does not match'],
  ['a name with an end that no label may have', called('toy-'), 'the name of an engine, toy-, does not match'],
  ['the kind of another engine', kindOf('RedisCluster'), 'two engines have the kind RedisCluster'],
  ['the kind of backups', kindOf('Backup'), 'two engines have the kind Backup'],
])('%s', (_, change, told) => {
  const mine = defineEngine(toyEngine(change));
  for (const engines of [
    [defineEngine(redis), mine],
    [mine, defineEngine(redis)],
  ]) {
    expect(() => handlersOf(engines)).toThrow(told);
  }
});

it('an engine beside others', () => {
  const names = handlersOf([defineEngine(redis), defineEngine(toy)]).map(({ name }) => name);
  expect(names).toEqual(['redis', 'toy', 'backup', 'backupschedule']);
});
