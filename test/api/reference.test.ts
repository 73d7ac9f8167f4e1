import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { referencePage } from '../../src/api/reference.ts';
import { validateCluster } from '../../src/api/validate.ts';
import { redisDirectives } from '../../src/engines/redis/kind/directives.ts';
import { redisReferenceOptions } from '../../src/engines/redis/kind/reference.ts';
import { redisKind } from '../../src/engines/redis/kind/schema.ts';
import { handlers as engines } from '../support/handlers.ts';

const redisReference = referencePage(redisKind, redisReferenceOptions);

const files: Readonly<Record<string, string>> = {
  RedisCluster: 'redis-cluster.md',
  EtcdCluster: 'etcd-cluster.md',
  PostgresCluster: 'postgres-cluster.md',
  PostgresDatabase: 'postgres-database.md',
  PostgresUser: 'postgres-user.md',
  Backup: 'backup.md',
  BackupSchedule: 'backup-schedule.md',
};

const pages = engines.map(({ kind, reference }) => ({
  file: files[kind.resource.kind],
  page: referencePage(kind, reference),
  kind,
}));

describe.each(pages)('the reference page $file', ({ file, page, kind }) => {
  test('is the one that is committed; `npm run generate` writes it', () => {
    expect(readFileSync(`docs/reference/${file}`, 'utf8')).toBe(page);
  });

  test('shows defaults as they are written in YAML', () => {
    expect(page).not.toContain('[object');
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
      expect(row).toContain(apply === 'restart' ? 'The pods restart one at a time.' : 'Applied without a restart.');
    }
  });
});
