/** promtool of Debian's package `prometheus`: reads rules, and plays them on series of numbers. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const hasPromtool = spawnSync('promtool', ['--version']).status === 0;

/** What promtool says of these files, the last of which it is given. JSON is YAML. */
export function promtool(command: readonly string[], files: Readonly<Record<string, object>>): string {
  const directory = mkdtempSync(join(tmpdir(), 'clusterwright-rules-'));
  try {
    const paths = Object.entries(files).map(([name, content]) => {
      const path = join(directory, name);
      writeFileSync(path, JSON.stringify(content));
      return path;
    });
    const { status, stdout, stderr } = spawnSync('promtool', [...command, paths.at(-1) ?? ''], { encoding: 'utf8' });
    return status === 0 ? 'ok' : `${stdout}${stderr}`;
  } finally {
    rmSync(directory, { recursive: true });
  }
}
