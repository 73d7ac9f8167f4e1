/**
 * Once before the unit tests: the redis-server that tables and serializers are held against. Where it is missing it is
 * installed, and said; where that is impossible, the tests that need it are skipped, and say so.
 */
import { installMissing } from '../src/sandbox/packages.ts';
import { createProgress } from '../src/sandbox/progress.ts';
import { installedVersion } from './support/redis-server.ts';

export async function setup(): Promise<void> {
  if (installedVersion !== undefined) return;
  if (process.getuid?.() !== 0) {
    console.log('redis-server is not installed, and only root can: the tests that need it are skipped');
    return;
  }
  await installMissing(['redis-server'], createProgress());
}
