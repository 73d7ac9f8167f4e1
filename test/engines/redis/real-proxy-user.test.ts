/** With `spec.proxy`, sentinels have a user without a password. A client that logs in as this user cannot fill the memory of a sentinel with a long command. */
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { texts } from '../../../src/engines/redis/resources/shell/texts.ts';
import { realStage } from '../../faults/redis/conformance/real-stage.ts';
import type { Stage } from '../../faults/redis/conformance/stage.ts';
import { serverPrograms } from '../../support/redis-program.ts';

let stage: Stage | undefined;
afterEach(() => stage?.close());

const user = 'clusterwright/apps/db/proxy';
const sent = 150 * 1024 * 1024;

/** Resident memory of the sentinel in MiB while a client without a password sends a long argument. */
async function whileSending(address: string, login: string, pid: string): Promise<number> {
  const socket = connect(26_379, address);
  let hasEnded = false;
  socket.on('error', () => {
    hasEnded = true;
  });
  socket.on('close', () => {
    hasEnded = true;
  });
  socket.write(`${login}*1\r\n$${sent + 10}\r\n`);
  const piece = Buffer.alloc(1024 * 1024, 'x');
  for (let n = 0; n < sent / piece.length && !hasEnded; n++) {
    if (!socket.write(piece)) await new Promise((resolve) => setTimeout(resolve, 5));
  }
  for (let n = 0; n < 400 && !hasEnded && socket.writableLength > 0; n++) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  await new Promise((resolve) => setTimeout(resolve, 500));
  const [, kib = '0'] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  socket.destroy();
  return Number(kib) / 1024;
}

/** As `start-sentinel.sh` writes them. */
const limits = texts['start-sentinel.sh'].match(/^limits\(\) \{ printf '(.*)'/m)?.[1]?.split('\\n') ?? [];

it.each(serverPrograms)('$name: a client without a password cannot fill a sentinel', async ({ server }) => {
  stage = await realStage(() => server);
  await stage.start('s1', limits);
  await stage.ask('s1', 'ACL', 'SETUSER', user, 'reset', 'on', 'nopass', '+sentinel|get-master-addr-by-name');
  const text = String(await stage.ask('s1', 'INFO', 'server'));
  const [, pid = ''] = /process_id:(\d+)/.exec(text) ?? [];
  expect(await whileSending(stage.address('s1'), '', pid), 'who has not logged in').toBeLessThan(64);
  expect(await whileSending(stage.address('s1'), `AUTH ${user} none\r\n`, pid), 'the user of proxies').toBeLessThan(64);
});
