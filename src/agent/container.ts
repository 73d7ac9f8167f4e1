/** Files and targets, in the agent's own container. */
import type { AgentIO } from './agent-io.ts';
import { keysIn, openTarget } from './secrets.ts';
import { spoolTo } from './spool.ts';

export const container: AgentIO = {
  keys: keysIn,
  openTarget,
  spool: (directory, content, { signal }) => spoolTo(directory, content, signal),
};
