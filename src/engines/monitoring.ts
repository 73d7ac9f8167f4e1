/** What people watch of each engine, a line each. No program of the operator contains it. */
import type { EngineMonitoring } from '../engine/monitoring.ts';
import { etcdMonitoring } from './etcd/monitoring/monitoring.ts';
import { postgresMonitoring } from './postgres/monitoring/monitoring.ts';
import { redisMonitoring } from './redis/monitoring/monitoring.ts';

export const engineMonitoring: readonly EngineMonitoring[] = [redisMonitoring, etcdMonitoring, postgresMonitoring];
