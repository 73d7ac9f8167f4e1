/** The shell that runs in pods. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { texts as redis } from '../../src/engines/redis/resources/shell/texts.ts';
import { hasShellcheck } from '../support/shellcheck.ts';

const engines = 'src/engines';
const files = readdirSync(engines, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.sh'));
const texts: Readonly<Record<string, Readonly<Record<string, string>>>> = { redis };

describe.each(files)('%s', (file) => {
  it('is in the bundle as it is in its file', () => {
    expect(texts[file.split('/')[0] ?? '']?.[basename(file)]).toBe(readFileSync(join(engines, file), 'utf8'));
  });

  it.skipIf(!hasShellcheck)('has no fault that shellcheck finds', () => {
    const { stdout } = spawnSync('shellcheck', [join(engines, file)], { encoding: 'utf8' });
    expect(stdout).toBe('');
  });
});

it('every engine with scripts is looked at', () => {
  expect([...new Set(files.map((file) => file.split('/')[0]))]).toEqual(Object.keys(texts));
});
