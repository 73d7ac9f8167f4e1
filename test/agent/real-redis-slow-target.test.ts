/** A store that takes its time, and what the server that gives its data notices: the copy of itself ends before. */

import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AgentIO } from '../../src/agent/agent-io.ts';
import { container } from '../../src/agent/container.ts';
import { runTask } from '../../src/agent/run.ts';
import type { Target } from '../../src/agent/target/target.ts';
import { drivers } from '../../src/engines/drivers.ts';
import { agentContext, expectResult } from '../support/agent-context.ts';
import { type RedisProcess, startRedis } from '../support/redis-process.ts';
import { serverPrograms } from '../support/redis-program.ts';

let home: string;
let server: RedisProcess | undefined;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'slow-target-'));
  writeFileSync(join(home, 'password'), 'pw\n');
});
afterEach(async () => {
  await server?.stop();
  rmSync(home, { recursive: true, force: true, maxRetries: 10 });
});

describe.skipIf(serverPrograms.length === 0).each([...serverPrograms])('$name', ({ server: program }) => {
  it('has no copy of itself any more when the target is asked, however long that takes', async () => {
    const config = ['repl-diskless-sync yes', 'repl-diskless-sync-delay 0', 'rdbcompression no'];
    const started = await startRedis({ program, password: 'pw', config: [...config, 'enable-debug-command yes'] });
    server = started;
    await started.command('DEBUG', 'POPULATE', '40000', 'key', '1000');
    const isCopying = async (): Promise<boolean> =>
      /rdb_bgsave_in_progress:1/.test(String(await started.command('INFO', 'persistence')));
    let during: boolean | undefined;
    const io: AgentIO = {
      ...container,
      async openTarget(place, context) {
        const target = await container.openTarget(place, context);
        const put: Target['put'] = async (key, content) => {
          // A server that ends its copy soon after the last byte was read has ended it by then.
          for (const end = Date.now() + 5000; during === undefined && Date.now() < end && (await isCopying()); );
          during ??= await isCopying();
          await target.put(key, content);
        };
        return { ...target, put };
      },
    };
    const scratchDirectory = join(home, 'scratch');
    mkdirSync(scratchDirectory);
    const task = {
      task: 'take',
      cluster: { namespace: 'apps', kind: 'RedisCluster', name: 'cache', uid: 'uid-1' },
      purpose: { type: 'schedule', name: 'nightly' },
      source: {
        engine: 'redis',
        members: [{ host: '127.0.0.1', port: started.port }],
        passwordFile: join(home, 'password'),
      },
      target: { type: 'claim', directory: home, prefix: 'backups' },
    };
    const run = (more: object) => runTask(JSON.stringify({ ...task, ...more }), agentContext(), io, drivers);
    expectResult(await run({ scratchDirectory }), 'taken');
    expect(during).toBe(false);
    expect(readdirSync(scratchDirectory)).toEqual([]);
    // Without it, the copy is there for as long as the upload takes, and grows with each write.
    during = undefined;
    expectResult(await run({}), 'taken');
    expect(during).toBe(true);
  });
});
