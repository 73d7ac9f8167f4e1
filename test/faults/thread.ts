/** What a shard's thread does: its share of the matrix, told cell by cell. */
import { parentPort, workerData } from 'node:worker_threads';
import { runSimulated, scenarioNamed, scenarios } from './catalogue.ts';
import { runMatrix } from './matrix.ts';
import { type RightsUse, unusedRights, usesOf } from './oracles/permissions.ts';
import type { ShardMessage, ShardTask } from './shard.ts';

export async function runThread(): Promise<void> {
  const task = workerData as ShardTask;
  const tell = (message: ShardMessage): void => parentPort?.postMessage(message);
  const used = new Map<string, RightsUse>();
  const result = await runMatrix({
    ...task,
    scenarios: scenarios.filter(({ id }) => task.scenarios.includes(id)),
    scenarioNamed,
    run: runSimulated,
    onCell: (cell) => tell({ type: 'cell', cell }),
    onRun: (record) => {
      for (const use of usesOf(record)) used.set(`${use.verb} ${use.group}/${use.resource}`, use);
    },
  });
  tell({ type: 'done', result: { ...result, unusedRights: unusedRights(used.values()) } });
}
