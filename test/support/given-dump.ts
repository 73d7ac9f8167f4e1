/** The agent with a database that says of itself whatever a test wants: targets, keys and manifests are the real ones. */

import type { AgentIO } from '../../src/agent/agent-io.ts';
import { container } from '../../src/agent/container.ts';
import { runTask } from '../../src/agent/run.ts';
import type { AgentResult } from '../../src/backup/agent-result.ts';
import type { EngineState } from '../../src/backup/engine-data.ts';
import type { Driver } from '../../src/engine/driver/driver.ts';
import type { Dump } from '../../src/engine/driver/dump.ts';
import { drivers } from '../../src/engines/drivers.ts';
import { systemClock } from '../../src/system/clock.ts';
import { agentContext } from './agent-context.ts';
import { smallDump, smallSnapshot } from './dumps.ts';

export const redisHolding = (keys: number): EngineState => ({
  engine: 'redis',
  replicationId: 'c'.repeat(40),
  offset: 14,
  approximateKeys: keys === 0 ? {} : { 0: keys },
});

/** The agent's drivers, with this in place of the dumps of every database. */
export const giving = (dump: Driver['dump']): readonly Driver[] => drivers.map((driver) => ({ ...driver, dump }));

function driversGiving(state: EngineState): readonly Driver[] {
  const isEtcd = state.engine === 'etcd';
  async function* content(): AsyncGenerator<Uint8Array> {
    yield isEtcd ? smallSnapshot() : smallDump();
  }
  const dump = async (): Promise<Dump> => ({
    engineVersion: isEtcd ? '3.6.16' : '8.0.5',
    topology: { members: 1, source: 'nobody:1', role: isEtcd ? 'leader' : 'primary' },
    content: content(),
    state: () => state,
    close: () => undefined,
  });
  return giving(dump);
}

/** Runs the task when the agent's clock shows `at`, in milliseconds. */
export function runWith(
  task: object,
  state: EngineState,
  at = systemClock.now(),
  openTarget: AgentIO['openTarget'] = container.openTarget,
): Promise<AgentResult> {
  const clock = { ...systemClock, now: () => at };
  return runTask(JSON.stringify(task), agentContext({ clock }), { ...container, openTarget }, driversGiving(state));
}
