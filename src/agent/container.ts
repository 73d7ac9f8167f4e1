/** The agent's own container as its machine. */
import type { Machine } from './machine.ts';
import { keysIn, openTarget } from './secrets.ts';
import { spoolTo } from './spool.ts';

export const container: Machine = {
  keys: keysIn,
  openTarget,
  spool: (directory, content, { signal }) => spoolTo(directory, content, signal),
};
