/**
 * Findings of a fourth look at the fence, one look at a time and by a clock of the test. Each is red, and says what the fence should do: where the
 * server takes no more clients, where somebody has narrowed the rules of the user `default`, and while a sentinel leads a failover.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { releases } from '../../../src/engines/redis/kind/server.ts';
import { scripts } from '../../../src/engines/redis/resources/scripts.ts';
import { follow, pairsOf } from '../../faults/redis/conformance/conversation.ts';
import { realStage } from '../../faults/redis/conformance/real-stage.ts';
import { password, type Stage, type Talk, watched } from '../../faults/redis/conformance/stage.ts';
import { programFolder, serverPrograms } from '../../support/redis-program.ts';

const programs = serverPrograms.slice(0, 1);
const sentinels = ['s1', 's2', 's3'];

describe.skipIf(programs.length === 0).each([...programs])('a fence that does not do what it should, $name', (program) => {
  let stage: Stage;
  let root: string;
  const at = (...path: readonly string[]): string => join(root, ...path);
  const env = () => ({
    PATH: `${programFolder(program)}:${process.env.PATH}`,
    SERVER: releases[program.engine].program,
    CONFIG_DIR: at('config'),
    AUTH_FILE: at('password'),
    IDENTITY_FILE: at('identity'),
    ...{ CLUSTER_NAME: 'db', POD_IP: stage.address('n1'), POD_NAME: 'db-0', POD_NAMESPACE: 'apps' },
  });
  const clock = (seconds: number): void => writeFileSync(at('uptime'), `${seconds}.00 0\n`);
  const among = (names: readonly string[]): void => writeFileSync(at('config', 'sentinels'), `${names.join('\n')}\n`);
  const fence = (text: string): void => writeFileSync(at('config', 'fence'), `${text}\n`);
  const look = (): void => void spawnSync('/bin/sh', [at('config', 'fence.sh')], { env: env(), stdio: 'inherit' });
  /** On a connection from before. */
  let client: Talk;
  const write = (): Promise<unknown> => client.say('SET', 'key', 'value');
  /** Connects until the server takes no more. */
  const fill = async (): Promise<readonly Talk[]> => {
    await client.say('CONFIG', 'SET', 'maxclients', '128');
    const talks: Talk[] = [];
    for (;;) {
      const talk = await stage.open('n1', false);
      talks.push(talk);
      if ((await talk.say('AUTH', password)) !== 'OK') return talks;
    }
  };
  const watch = async (primary: string): Promise<void> => {
    for (const sentinel of sentinels) {
      await stage.start(sentinel, [
        `sentinel monitor ${watched} ${stage.address(primary)} 6379 2`,
        `sentinel auth-pass ${watched} ${password}`,
        `sentinel down-after-milliseconds ${watched} 60000`,
      ]);
    }
  };
  /** Nobody listens there. */
  const nowhere = ['127.0.0.2', '127.0.0.3', '127.0.0.4'];

  beforeEach(async () => {
    root = mkdtempSync(join(tmpdir(), 'looks-'));
    for (const name of ['run', 'config']) mkdirSync(at(name));
    stage = await realStage(() => program.server);
    for (const [name, text] of Object.entries(scripts)) {
      const inPlace = text
        .replaceAll('/run/redis', at('run'))
        .replaceAll('/proc/uptime', at('uptime'))
        .replaceAll('ask 2 -p 6379', `ask 30 -h ${stage.address('n1')} -p 6379`)
        .replaceAll('ask 1 -h', 'ask 30 -h');
      writeFileSync(at('config', name), inPlace);
    }
    writeFileSync(at('password'), `${password}\n`);
    writeFileSync(at('identity'), '\n');
    fence('Isolated 10000');
    clock(100);
    await stage.start('n1');
    client = await stage.open('n1');
  });
  afterEach(async () => {
    client.close();
    await stage.close();
    rmSync(root, { recursive: true, force: true });
  });

  it('a primary that is cut off is fenced also where clients use all of its connections', async () => {
    await watch('n1');
    among(sentinels.map(stage.address));
    look();
    expect(await write()).toBe('OK');
    await fill();
    among(nowhere);
    for (const seconds of [112, 120, 160]) {
      clock(seconds);
      look();
    }
    expect(await write()).toMatch(/NOREPLICAS/);
  });

  it('the fence is lifted also where clients use all of its connections', async () => {
    await watch('n1');
    among(sentinels.map(stage.address));
    look();
    among(nowhere);
    clock(112);
    look();
    expect(await write()).toMatch(/NOREPLICAS/);
    await fill();
    among(sentinels.map(stage.address));
    for (const seconds of [113, 114, 150]) {
      clock(seconds);
      look();
    }
    expect(await write()).toBe('OK');
  });

  it('a primary that is cut off is fenced also where somebody has taken CONFIG from the user default', async () => {
    const identity = 'clusterwright/apps/db';
    await client.say('ACL', 'SETUSER', identity, 'on', '>own', '~*', '&*', '+@all');
    await client.say('CONFIG', 'SET', 'masteruser', identity);
    await client.say('CONFIG', 'SET', 'masterauth', 'own');
    writeFileSync(at('identity'), 'own\n');
    await client.say('ACL', 'SETUSER', 'default', '-config');
    await watch('n1');
    among(sentinels.map(stage.address));
    look();
    among(nowhere);
    clock(112);
    look();
    expect(await write()).toMatch(/NOREPLICAS/);
  });

  it('a sentinel that leads a failover and has another primary already is no reason to lift', async () => {
    // So that the two replicas, which the test does not cut off, do not count.
    fence('Strict 10000');
    await Promise.all([stage.start('n2'), stage.start('n3', ['replica-priority 0'])]);
    await follow(stage, 'n2', 'n1');
    await follow(stage, 'n3', 'n1');
    await watch('n1');
    await stage.until('two know each other and both replicas', async () => {
      const rows = await Promise.all(['s2', 's3'].map((s) => stage.ask(s, 'SENTINEL', 'MASTER', watched)));
      return rows.every((row) => /num-slaves,2,num-other-sentinels,2/.test(String(row)));
    });
    among(sentinels.map(stage.address));
    look();
    among(nowhere);
    clock(112);
    look();
    expect(await write()).toMatch(/NOREPLICAS/);
    // The one beside the old primary is cut off with it, and does not hear of the election. What n3 has to copy takes long.
    await stage.ask('s1', 'SENTINEL', 'REMOVE', watched);
    await stage.ask('s1', 'SENTINEL', 'MONITOR', watched, stage.address('n1'), '6379', '2');
    await stage.ask('s1', 'ACL', 'SETUSER', 'default', '-publish');
    await stage.ask('n3', 'CONFIG', 'SET', 'masterauth', 'other');
    await stage.ask('s2', 'SENTINEL', 'FAILOVER', watched);
    const named = async (s: string): Promise<string | undefined> =>
      pairsOf(await stage.ask(s, 'SENTINEL', 'MASTER', watched)).ip;
    await stage.until('the other one names the new primary', async () => (await named('s3')) === 'n2');
    expect(await stage.ask('s2', 'SENTINEL', 'GET-MASTER-ADDR-BY-NAME', watched)).toEqual(['n2', '6379']);
    expect([await named('s1'), await named('s2')]).toEqual(['n1', 'n1']);
    among(sentinels.map(stage.address));
    clock(113);
    look();
    expect(await write()).toMatch(/NOREPLICAS|READONLY/);
  });
});
