/** The only list of engines. */
import type { RegisteredEngine } from './engine.ts';
import { etcd } from './etcd/index.ts';
import { redis } from './redis/index.ts';
import { registered } from './registered.ts';

export const engines: readonly RegisteredEngine[] = [registered(redis), registered(etcd)];
