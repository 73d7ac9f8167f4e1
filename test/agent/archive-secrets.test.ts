/** What an archive reads once, when it starts: another content ends it, so that it starts again with that. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { secretDigests, untilSecretsChange } from '../../src/agent/archive/changed-secrets.ts';
import { parseAgentTask } from '../../src/backup/agent-task.ts';
import { drivers } from '../../src/engines/drivers.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'secrets-'));
  for (const name of ['id', 'secret', 'ca', 'key']) writeFileSync(join(home, name), name);
});
afterEach(() => rmSync(home, { recursive: true }));

async function watch(change: () => void): Promise<string> {
  const file = (name: string): string => join(home, name);
  const s3 = { type: 's3', endpoint: 'https://s3', bucket: 'backups', caFile: file('ca') };
  const secrets = { accessKeyIdFile: file('id'), secretAccessKeyFile: file('secret'), sessionTokenFile: file('token') };
  const task = parseAgentTask(
    JSON.stringify({
      task: 'archive',
      cluster: { namespace: 'apps', kind: 'PostgresCluster', name: 'db', uid: 'uid-1' },
      source: { engine: 'postgres', user: 'postgres', members: [{ host: 'db', port: 5432 }] },
      target: { ...s3, ...secrets },
      encryptionKeyFile: file('key'),
    }),
    drivers,
  );
  if (task.task !== 'archive') throw new Error(task.task);
  const clock = new VirtualClock();
  const stopping = new AbortController();
  const ended = untilSecretsChange(task, await secretDigests(task), { clock, signal: stopping.signal }).catch(
    (error: Error) => error.message.replace(home, ''),
  );
  await clock.advance(60_000);
  change();
  for (let looks = 0; looks < 3; looks++) {
    await clock.advance(15_000);
    // It reads real files.
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  stopping.abort(new Error('nothing has changed'));
  return await ended;
}

it.each(['id', 'secret', 'ca', 'key'])('%s is replaced', async (name) =>
  expect(await watch(() => writeFileSync(join(home, name), 'another'))).toBe(
    `/${name} has changed: the archive starts again with what it contains now`,
  ),
);
it('a session token comes', async () =>
  expect(await watch(() => writeFileSync(join(home, 'token'), 'x'))).toContain('/token has changed'));
it('is not ended by a file that is written as it was', async () =>
  expect(await watch(() => writeFileSync(join(home, 'id'), 'id'))).toBe('nothing has changed'));
it('is not ended by a file that is gone: it could not start again', async () =>
  expect(await watch(() => rmSync(join(home, 'secret')))).toBe('nothing has changed'));
