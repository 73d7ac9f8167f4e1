/** The scripts that run in pods, and in the sandbox. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { texts as recovery } from '../src/engines/postgres/backup/shell/texts.ts';
import { texts as postgres } from '../src/engines/postgres/resources/shell/texts.ts';
import { texts as redis } from '../src/engines/redis/resources/shell/texts.ts';
import { texts as sandbox } from '../src/sandbox/shell/texts.ts';
import { hasShellcheck } from './support/shellcheck.ts';

const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((file) => /[.](sh|py)$/.test(file));
const texts: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'engines/postgres/backup/shell': recovery,
  'engines/postgres/resources/shell': postgres,
  'engines/redis/resources/shell': redis,
  'sandbox/shell': sandbox,
};

describe.each(files)('%s', (file) => {
  it('is in the bundle as it is in its file', () => {
    expect(texts[dirname(file)]?.[basename(file)]).toBe(readFileSync(join('src', file), 'utf8'));
  });

  it.skipIf(!hasShellcheck || file.endsWith('.py'))('has no fault that shellcheck finds', () => {
    const { stdout } = spawnSync('shellcheck', [join('src', file)], { encoding: 'utf8' });
    expect(stdout).toBe('');
  });
});

it('every folder with scripts is looked at', () => {
  expect([...new Set(files.map(dirname))].sort()).toEqual(Object.keys(texts));
});
