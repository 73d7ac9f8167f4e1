/** The engines that this agent takes backups of, a line each. */
import type { Driver } from './driver.ts';
import { etcdDriver } from './etcd-driver.ts';
import { redisDriver } from './redis-driver.ts';

export const drivers: readonly Driver[] = [redisDriver, etcdDriver];
