import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { redisDirectives } from '../../src/api/redis-directives.ts';
import { redisReference } from '../../src/api/redis-reference.ts';

describe('the reference page of RedisCluster', () => {
  test('is the one that is committed; `npm run docs` writes it', () => {
    expect(readFileSync('docs/reference/redis-cluster.md', 'utf8')).toBe(redisReference);
  });

  test('has a row for every directive, with how it is applied', () => {
    for (const [name, { apply }] of Object.entries(redisDirectives)) {
      const row = redisReference.split('\n').find((line) => line.startsWith(`| \`spec.config.${name}\` |`));
      expect(row).toContain(apply === 'restart' ? 'Applied by restarting pods' : 'Applied at once.');
    }
  });

  test('has no row that breaks the table it is in', () => {
    let cells = 0;
    for (const line of redisReference.split('\n').filter((line) => line.startsWith('|'))) {
      const count = line.replaceAll('\\|', '').split('|').length;
      if (/^\|(---\|)+$/.test(line)) cells = count;
      else if (cells !== 0 && !/^\| (Field|Where|Column) \|/.test(line)) expect(count, line).toBe(cells);
    }
  });
});
