/** Every kind with its table of objects that are accepted and refused. */
import { backupKind } from '../../src/api/backup.ts';
import { scheduleKind } from '../../src/api/backup-schedule.ts';
import type { KindDefinition } from '../../src/api/kind.ts';
import { etcdKind } from '../../src/engines/etcd/kind/schema.ts';
import { databaseKind } from '../../src/engines/postgres/kind/database.ts';
import { postgresKind } from '../../src/engines/postgres/kind/schema.ts';
import { userKind } from '../../src/engines/postgres/kind/user.ts';
import { redisKind } from '../../src/engines/redis/kind/schema.ts';
import { backupCases, scheduleCases } from './backup-cases.ts';
import type { Case } from './case.ts';
import { etcdCases } from './etcd-cases.ts';
import { postgresCases } from './postgres-cases.ts';
import { databaseCases, userCases } from './postgres-content-cases.ts';
import { redisCases } from './redis-cases.ts';

export interface KindCases {
  readonly name: string;
  readonly kind: KindDefinition;
  readonly cases: readonly Case[];
}

export const kindCases: readonly KindCases[] = [
  { name: 'RedisCluster', kind: redisKind, cases: redisCases },
  { name: 'EtcdCluster', kind: etcdKind, cases: etcdCases },
  { name: 'PostgresCluster', kind: postgresKind, cases: postgresCases },
  { name: 'PostgresDatabase', kind: databaseKind, cases: databaseCases },
  { name: 'PostgresUser', kind: userKind, cases: userCases },
  { name: 'Backup', kind: backupKind, cases: backupCases },
  { name: 'BackupSchedule', kind: scheduleKind, cases: scheduleCases },
];
