/** Every kind that the engines of this package make the operator serve. */
import type { KindHandler } from '../../src/engine/engine.ts';
import { engines } from '../../src/engines/index.ts';
import { handlersOf } from '../../src/jobs/handlers.ts';

export const handlers: readonly KindHandler[] = handlersOf(engines);
