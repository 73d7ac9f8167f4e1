/** The agent as a process: the bundle that ships, its words and its exit codes. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AgentResult, exitCodes, maxResultBytes } from '../../src/backup/agent-result.ts';
import { parseAgentResult } from '../../src/backup/heard-result.ts';
import { silentRedis } from '../support/silent-redis.ts';

const home = mkdtempSync(join(tmpdir(), 'agent-process-'));
const bundle = join(home, 'agent.mjs');
const message = join(home, 'termination-log');

beforeAll(() => {
  const script = (JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> }).scripts;
  const command = (script['bundle:agent'] ?? '').replace('build/agent.mjs', bundle);
  execFileSync('sh', ['-c', command], { env: { ...process.env, PATH: `node_modules/.bin:${process.env.PATH}` } });
}, 30_000);
afterAll(() => rmSync(home, { recursive: true }));

interface Run {
  readonly child: ChildProcess;
  readonly ended: Promise<{
    readonly code: number | null;
    readonly output: string;
    readonly result: AgentResult | undefined;
  }>;
}

function run(task: unknown): Run {
  const file = join(home, 'task.json');
  writeFileSync(file, typeof task === 'string' ? task : JSON.stringify(task));
  writeFileSync(message, '');
  const child = spawn(process.execPath, [bundle, file], {
    env: { ...process.env, CLUSTERWRIGHT_TERMINATION_MESSAGE_PATH: message },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  const ended = new Promise<Awaited<Run['ended']>>((resolve) => {
    child.once('close', (code) => resolve({ code, output, result: parseAgentResult(readFileSync(message, 'utf8')) }));
  });
  return { child, ended };
}

const target = { type: 'claim', directory: home, prefix: 'backups' };

describe('the agent', () => {
  it('says in one line what came of it, on stdout and where Kubernetes looks', async () => {
    const { code, output, result } = await run({ task: 'list', target, which: {} }).ended;
    expect(code).toBe(exitCodes.done);
    expect(result).toEqual({ result: 'listed', total: 0, backups: [], unusable: 0 });
    expect(parseAgentResult(output)).toEqual(result);
  });

  it.each<[string, unknown, string, number]>([
    ['no JSON', '{', 'BadTask', exitCodes.permanent],
    ['a word too many', { task: 'list', target, which: {}, force: true }, 'BadTask', exitCodes.permanent],
    ['nothing to be found', { task: 'verify', engine: 'etcd', target, which: {} }, 'NotFound', exitCodes.permanent],
    [
      'nobody there',
      {
        task: 'take',
        target,
        cluster: { namespace: 'apps', kind: 'RedisCluster', name: 'cache', uid: 'uid-1' },
        purpose: { type: 'backup', name: 'now' },
        source: { engine: 'redis', members: [{ host: '127.0.0.1', port: 1 }] },
      },
      'SourceUnreachable',
      exitCodes.failed,
    ],
  ])('fails with %s, and says whether to try again', async (_, task, reason, exitCode) => {
    const { code, result } = await run(task).ended;
    expect(result).toMatchObject({ result: 'failed', reason, isTransient: exitCode === exitCodes.failed });
    expect(code).toBe(exitCode);
    expect(Buffer.byteLength(readFileSync(message))).toBeLessThanOrEqual(maxResultBytes + 1);
  });

  it('stops on SIGTERM, in the middle of a dump, and leaves nothing', async () => {
    const server = await silentRedis();
    const { child, ended } = run({
      task: 'take',
      target,
      cluster: { namespace: 'apps', kind: 'RedisCluster', name: 'cache', uid: 'uid-1' },
      purpose: { type: 'backup', name: 'now' },
      source: { engine: 'redis', members: [{ host: '127.0.0.1', port: server.port }] },
    });
    const names = (): readonly string[] => readdirSync(home, { recursive: true, encoding: 'utf8' });
    await expect.poll(() => names().some((name) => name.endsWith('data.part')), { timeout: 10_000 }).toBe(true);
    child.kill('SIGTERM');
    const { code, result } = await ended;
    expect(result).toMatchObject({ result: 'failed', reason: 'Stopped', isTransient: true });
    expect(code).toBe(exitCodes.stopped);
    expect(existsSync(join(home, 'backups'))).toBe(false);
    await server.stop();
  }, 20_000);
});
