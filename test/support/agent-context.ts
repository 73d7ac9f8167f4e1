/** The agent within a test's own process: what it logs is kept, and it can be stopped. */
import { randomBytes } from 'node:crypto';
import { container } from '../../src/agent/container.ts';
import { runTask } from '../../src/agent/run.ts';
import type { AgentResult } from '../../src/backup/agent-result.ts';
import type { AgentContext } from '../../src/engine/driver/agent-context.ts';
import { Failure } from '../../src/engine/driver/failure.ts';
import { drivers } from '../../src/engines/drivers.ts';
import { type Clock, systemClock } from '../../src/system/clock.ts';
import { createLog } from '../../src/system/log.ts';

export interface TestContext extends AgentContext {
  /** Every line, as it would be on stdout. */
  readonly lines: readonly string[];
  stop(): void;
}

export function agentContext(
  options: {
    readonly clock?: Clock;
    readonly idleMs?: number;
    readonly environment?: AgentContext['environment'];
  } = {},
): TestContext {
  const lines: string[] = [];
  const stopping = new AbortController();
  const log = createLog({ level: 'debug', destination: { write: (line: string) => void lines.push(line) } });
  return {
    clock: options.clock ?? systemClock,
    random: randomBytes,
    environment: options.environment ?? {},
    log,
    signal: stopping.signal,
    idleMs: options.idleMs ?? 5000,
    protect: (secret) => log.protect(secret),
    conceal: (text) => log.conceal(text),
    lines,
    stop: () => stopping.abort(new Failure('Stopped', 'the test stops it')),
  };
}

export function runAgent(task: object, context = agentContext()): Promise<AgentResult> {
  return runTask(JSON.stringify(task), context, container, drivers);
}

/** The result of this name, or the test fails with what came instead. */
export function expectResult<Name extends AgentResult['result']>(
  result: AgentResult,
  name: Name,
): Extract<AgentResult, { readonly result: Name }> {
  if (result.result !== name) throw new Error(`${name} was expected: ${JSON.stringify(result)}`);
  return result as Extract<AgentResult, { readonly result: Name }>;
}
