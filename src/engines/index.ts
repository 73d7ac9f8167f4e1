/// <reference types="node" preserve="true" />
/** The engines of this package, a line each. Programs and constructs are given this list, or a longer one. */

import { type DefinedEngine, defineEngine } from '../jobs/handlers.ts';
import { etcd } from './etcd/index.ts';
import { postgresContents } from './postgres/contents.ts';
import { postgres } from './postgres/index.ts';
import { redis } from './redis/index.ts';

export const engines: readonly DefinedEngine[] = [
  defineEngine(redis),
  defineEngine(etcd),
  defineEngine(postgres, postgresContents),
];
