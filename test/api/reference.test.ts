import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { etcdReference } from '../../src/api/etcd-reference.ts';
import { redisDirectives } from '../../src/api/redis-directives.ts';
import { redisReference } from '../../src/api/redis-reference.ts';

const pages = [
  { file: 'redis-cluster.md', page: redisReference },
  { file: 'etcd-cluster.md', page: etcdReference },
];

describe.each(pages)('the reference page $file', ({ file, page }) => {
  test('is the one that is committed; `npm run generate` writes it', () => {
    expect(readFileSync(`docs/reference/${file}`, 'utf8')).toBe(page);
  });

  test('has no row that breaks the table it is in', () => {
    let cells = 0;
    for (const line of page.split('\n').filter((line) => line.startsWith('|'))) {
      const count = line.replaceAll('\\|', '').split('|').length;
      if (/^\|(---\|)+$/.test(line)) cells = count;
      else if (cells !== 0 && !/^\| (Field|Where|Column) \|/.test(line)) expect(count, line).toBe(cells);
    }
  });
});

describe('the reference page of RedisCluster', () => {
  test('has a row for every directive, with how it is applied', () => {
    for (const [name, { apply }] of Object.entries(redisDirectives)) {
      const row = redisReference.split('\n').find((line) => line.startsWith(`| \`spec.config.${name}\` |`));
      expect(row).toContain(apply === 'restart' ? 'Applied by restarting pods' : 'Applied at once.');
    }
  });
});
