/**
 * Once before the unit tests: the redis-server that tables and serializers are compared with, the shellcheck that reads the scripts
 * of pods, and the promtool that plays alerts. Where one is missing it is installed, and said; where that is impossible, the tests that need it are skipped,
 * and say so.
 */
import { installMissing } from '../src/sandbox/packages.ts';
import { createProgress } from '../src/sandbox/progress.ts';
import { hasPromtool } from './support/promtool.ts';
import { installedVersion } from './support/redis-server.ts';
import { hasShellcheck } from './support/shellcheck.ts';

export async function setup(): Promise<void> {
  const missing = [
    ...(installedVersion === undefined ? ['redis-server'] : []),
    ...(hasShellcheck ? [] : ['shellcheck']),
    ...(hasPromtool ? [] : ['prometheus']),
  ];
  if (missing.length === 0) return;
  if (process.getuid?.() !== 0) {
    console.log(`${missing.join(' and ')}: not installed, and only root can: the tests that need it are skipped`);
    return;
  }
  await installMissing(missing, createProgress());
}
