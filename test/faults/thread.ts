/** What a shard's thread does: its share of the matrix, told cell by cell. */
import { parentPort, workerData } from 'node:worker_threads';
import { runMatrix } from './matrix.ts';
import { type RightsUse, unusedRights, usesOf } from './oracles/permissions.ts';
import { redisKit } from './redis/subject.ts';
import { redisScenarios } from './scenarios/redis.ts';
import type { ShardMessage, ShardTask } from './shard.ts';
import { simulatedRun } from './simulated/run.ts';

export async function runThread(): Promise<void> {
  const task = workerData as ShardTask;
  const tell = (message: ShardMessage): void => parentPort?.postMessage(message);
  const used = new Map<string, RightsUse>();
  const result = await runMatrix({
    ...task,
    scenarios: redisScenarios.filter(({ id }) => task.scenarios.includes(id)),
    run: (plan, scenario) => simulatedRun({ plan, scenario, kit: redisKit }),
    onCell: (cell) => tell({ type: 'cell', cell }),
    onRun: (record) => {
      for (const use of usesOf(record)) used.set(`${use.verb} ${use.group}/${use.resource}`, use);
    },
  });
  tell({ type: 'done', result: { ...result, unusedRights: unusedRights(used.values()) } });
}
