/** The agent with the driver of PostgreSQL alone. */
import { container } from '../../src/agent/container.ts';
import { runTask } from '../../src/agent/run.ts';
import type { AgentResult } from '../../src/backup/agent-result.ts';
import { postgresDriver } from '../../src/engines/postgres/agent/driver.ts';
import { agentContext } from './agent-context.ts';

export function runPostgresAgent(task: object, context = agentContext()): Promise<AgentResult> {
  return runTask(JSON.stringify(task), context, container, [postgresDriver]);
}
