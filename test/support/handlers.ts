/** Every kind that the engines of this package make the operator serve. */
import type { RegisteredEngine } from '../../src/engine/engine.ts';
import { handlersOf } from '../../src/jobs/handlers.ts';
import { engines } from '../../src/engines/index.ts';

export const handlers: readonly RegisteredEngine[] = handlersOf(engines);
