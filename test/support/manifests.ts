/** A manifest that nothing is wrong with. */
import type { Manifest } from '../../src/backup/manifest.ts';

export const goodManifest: Manifest = {
  formatVersion: 1,
  id: '20261121T124501Z-1a2b3c4d',
  engine: 'redis',
  engineVersion: '8.0.5',
  cluster: { namespace: 'apps', kind: 'RedisCluster', name: 'cache', uid: 'uid-1' },
  purpose: { type: 'schedule', name: 'nightly', uid: 'uid-9' },
  topology: { members: 3, source: 'cache-1.cache.apps.svc:6379', role: 'replica' },
  startedAt: '2026-11-21T12:45:01.000Z',
  completedAt: '2026-11-21T12:45:09.000Z',
  data: { plainBytes: 10, plainSha256: 'a'.repeat(64), storedBytes: 84, storedSha256: 'b'.repeat(64) },
  encryption: { scheme: 'none' },
  state: { engine: 'redis', replicationId: 'c'.repeat(40), offset: 14, approximateKeys: { 0: 3 } },
  writtenBy: 'clusterwright 0.1.0',
};
