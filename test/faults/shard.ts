/** A share of the matrix in a thread of its own, so that all cores work. */
import { Worker } from 'node:worker_threads';
import type { CellResult, MatrixResult } from './matrix.ts';
import type { FaultClass, Plan } from './plan.ts';

export interface ShardTask {
  readonly scenarios: readonly string[];
  readonly classes: readonly FaultClass[];
  readonly seed: number;
  readonly perCell?: number;
  readonly combinations: number;
  readonly shard: { readonly index: number; readonly of: number };
  readonly until?: string;
  readonly plans?: readonly Plan[];
  readonly restMs?: number;
}

export interface ShardResult extends MatrixResult {
  /** Rights that no run of this shard used. */
  readonly unusedRights: readonly string[];
}

export type ShardMessage =
  | { readonly type: 'cell'; readonly cell: CellResult }
  | { readonly type: 'done'; readonly result: ShardResult };

/** `program` is a bundle whose thread entry runs the task in its worker data. */
export function runShard(program: string, task: ShardTask, onCell: (cell: CellResult) => void): Promise<ShardResult> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(program, { workerData: task });
    let result: ShardResult | undefined;
    worker.on('message', (message: ShardMessage) => {
      if (message.type === 'cell') onCell(message.cell);
      else result = message.result;
    });
    worker.on('error', reject);
    worker.on('exit', (code) => {
      if (result === undefined) reject(new Error(`a shard ended with ${code} and without a result`));
      else resolve(result);
    });
  });
}
