/// <reference types="node" preserve="true" />
/** The engines that this agent takes backups of, a line each. */
import type { Driver } from '../engine/driver/driver.ts';
import { etcdDriver } from './etcd/agent/driver.ts';
import { postgresDriver } from './postgres/agent/driver.ts';
import { redisDriver } from './redis/agent/driver.ts';

export const drivers: readonly Driver[] = [redisDriver, etcdDriver, postgresDriver];
