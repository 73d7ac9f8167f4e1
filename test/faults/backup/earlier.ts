/** Backups that a scenario finds in the store: made by the agent itself, of a cluster that nobody runs any more. */

import { take } from '../../../src/agent/take.ts';
import { parseKeys } from '../../../src/backup/key.ts';
import { driverOf } from '../../../src/engine/driver/driver.ts';
import { createLog } from '../../../src/system/log.ts';
import type { VirtualTime } from '../world/time.ts';
import type { Contents, Database } from './database.ts';
import { driversFor } from './drivers.ts';
import { simulatedTarget } from './target.ts';
import { storePort, type Vault } from './vault.ts';

export interface EarlierBackup {
  /** Name and UID of the cluster. */
  readonly cluster: string;
  readonly uid: string;
  /** `8.0.0` */
  readonly version: string;
  /** Days before the run. */
  readonly daysAgo: number;
  readonly contents: Contents;
}

const dayMs = 24 * 3600 * 1000;

export interface Shelf {
  readonly vault: Vault;
  readonly database: Database;
  readonly time: VirtualTime;
  readonly namespace: string;
  readonly prefix: string;
  /** As in the Secret. */
  readonly key: string;
}

export async function putOnShelf(shelf: Shelf, backup: EarlierBackup): Promise<void> {
  const { vault, database, time, namespace, prefix, key } = shelf;
  const now = (): number => time.now() - backup.daysAgo * dayMs;
  const target = simulatedTarget({
    place: vault.bucket,
    prefix,
    reach: () => Promise.resolve(),
    now,
    removing: () => undefined,
  });
  const { engine } = database;
  const place = {
    type: 's3',
    endpoint: `http://${vault.address}:${storePort}`,
    region: 'us-east-1',
    bucket: 'backups',
    prefix,
    pathStyle: true,
    accessKeyIdFile: '/accessKeyId',
    secretAccessKeyFile: '/secretAccessKey',
  } as const;
  const driver = driverOf(driversFor(database), engine);
  const source = { engine, members: [{ host: 'nobody', port: 1 }], user: 'root' };
  await take(
    {
      task: 'take',
      cluster: { namespace, kind: driver.kind, name: backup.cluster, uid: backup.uid },
      purpose: { type: 'backup', name: 'earlier' },
      source,
      target: place,
      idleTimeoutSeconds: 60,
      jitterSeconds: 0,
    },
    {
      target,
      keys: parseKeys(key),
      drivers: [
        {
          ...driver,
          dump: async () => ({
            engineVersion: backup.version,
            topology: { members: 1, source: 'nobody', role: engine === 'etcd' ? 'leader' : 'primary' },
            content: once(database.write(backup.contents)),
            state: () => ({ engine, ...stateOf(engine, backup.contents) }),
            close: () => undefined,
          }),
        },
      ],
    },
    {
      clock: { ...time, now },
      random: (bytes) => Buffer.alloc(bytes, backup.daysAgo),
      log: createLog({ level: 'silent' }),
      signal: new AbortController().signal,
      idleMs: 60_000,
      protect: () => undefined,
      conceal: (text) => text,
      environment: {},
    },
    {
      spool: () => Promise.reject(new Error('nobody asks for it')),
    },
  );
}

function stateOf(engine: Database['engine'], contents: Contents): object {
  switch (engine) {
    case 'redis':
      return { replicationId: '0'.repeat(40), offset: 0, approximateKeys: { 0: contents.size } };
    case 'etcd':
      return { clusterId: '1', memberId: '1', revision: '1' };
    case 'postgres': {
      const positions = { startLsn: '0/3000000', endLsn: '0/3000100', segmentBytes: 16_777_216 };
      return { systemId: '7001', timeline: 1, ...positions, files: 1, bytes: contents.size };
    }
    default:
      return engine satisfies never;
  }
}

async function* once(data: Buffer): AsyncGenerator<Uint8Array, void, undefined> {
  yield data;
}
