import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { backupKind } from '../../src/api/backup.ts';
import { backupReference, scheduleReference } from '../../src/api/backup-reference.ts';
import { scheduleKind } from '../../src/api/backup-schedule.ts';
import { referencePage } from '../../src/api/reference.ts';
import { validateCluster } from '../../src/api/validate.ts';
import { etcdKind } from '../../src/engines/etcd/kind/schema.ts';
import { redisDirectives } from '../../src/engines/redis/kind/directives.ts';
import { redisReferenceOptions } from '../../src/engines/redis/kind/reference.ts';
import { redisKind } from '../../src/engines/redis/kind/schema.ts';
import { handlers as engines } from '../support/handlers.ts';

const redisReference = referencePage(redisKind, redisReferenceOptions);

const pages = [
  { file: 'redis-cluster.md', page: redisReference, kind: redisKind },
  { file: 'etcd-cluster.md', page: referencePage(etcdKind), kind: etcdKind },
  { file: 'backup.md', page: backupReference, kind: backupKind },
  { file: 'backup-schedule.md', page: scheduleReference, kind: scheduleKind },
];

test('every kind has a reference page', () => {
  expect(pages.map(({ kind }) => kind)).toEqual(expect.arrayContaining(engines.map(({ kind }) => kind)));
});

describe.each(pages)('the reference page $file', ({ file, page, kind }) => {
  test('is the one that is committed; `npm run generate` writes it', () => {
    expect(readFileSync(`docs/reference/${file}`, 'utf8')).toBe(page);
  });

  test('begins with an object that is valid', () => {
    const [, sample = ''] = /```yaml\n(.*?)```/s.exec(page) ?? [];
    expect(validateCluster(kind, parse(sample))).toMatchObject({ ok: true });
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
