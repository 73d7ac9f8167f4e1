/** The fence of a real server, one look at a time and by a clock of the test, so that a busy machine changes nothing. */
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { releases } from '../../../src/engines/redis/kind/server.ts';
import { scripts } from '../../../src/engines/redis/resources/scripts.ts';
import { follow } from '../../faults/redis/conformance/conversation.ts';
import { realStage } from '../../faults/redis/conformance/real-stage.ts';
import { password, type Stage, watched } from '../../faults/redis/conformance/stage.ts';
import { programFolder, serverPrograms } from '../../support/redis-program.ts';

const programs = serverPrograms.slice(0, 1);
const sentinels = ['s1', 's2', 's3'];

describe.skipIf(programs.length === 0).each([...programs])('the fence, look by look, $name', (program) => {
  let stage: Stage;
  let root: string;
  const at = (...path: readonly string[]): string => join(root, ...path);
  const env = () => ({
    PATH: `${at('shims')}:${programFolder(program)}:${process.env.PATH}`,
    REAL: `${programFolder(program)}:${process.env.PATH}`,
    SERVER: releases[program.engine].program,
    CONFIG_DIR: at('config'),
    AUTH_FILE: at('password'),
    IDENTITY_FILE: at('identity'),
    ROOT: root,
    ...{ CLUSTER_NAME: 'db', POD_IP: stage.address('n1'), POD_NAME: 'db-0', POD_NAMESPACE: 'apps' },
  });
  const clock = (seconds: number): void => writeFileSync(at('uptime'), `${seconds}.00 0\n`);
  const among = (names: readonly string[]): void => writeFileSync(at('config', 'sentinels'), `${names.join('\n')}\n`);
  const fence = (text: string): void => writeFileSync(at('config', 'fence'), `${text}\n`);
  const look = (): void => void spawnSync('/bin/sh', [at('config', 'fence.sh')], { env: env(), stdio: 'inherit' });
  const shim = (name: string, lines: string): void => {
    writeFileSync(at('shims', name), `#!/bin/sh\nPATH=$REAL\n${lines}\n`);
    chmodSync(at('shims', name), 0o755);
  };
  const write = (): Promise<unknown> => stage.ask('n1', 'SET', 'key', 'value');
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
    for (const name of ['run', 'config', 'shims']) mkdirSync(at(name));
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
  });
  afterEach(async () => {
    await stage.close();
    rmSync(root, { recursive: true, force: true });
  });

  it('two loops that look at the same time leave no fence that nobody lifts', async () => {
    await watch('n1');
    among(sentinels.map(stage.address));
    look();
    expect(await write()).toBe('OK');
    // The first loop reaches nobody for 10 s, and is about to say CONFIG SET: its shell gets no processor time just now.
    shim(
      'mv',
      'mv "$@"\ncase "$*" in */fenced) : > "$ROOT/waits"; while [ ! -e "$ROOT/go" ]; do sleep 0.1; done ;; esac',
    );
    among(nowhere);
    clock(112);
    const first = spawn('/bin/sh', [at('config', 'fence.sh')], { env: env(), stdio: 'ignore' });
    const ended = new Promise((resolve) => first.once('exit', resolve));
    await stage.until('it is about to fence', async () => existsSync(at('waits')));
    // The second one reaches the sentinels, and lifts what it finds.
    among(sentinels.map(stage.address));
    look();
    writeFileSync(at('go'), '');
    await ended;
    for (let n = 0; n < 5; n++) {
      clock(113 + n);
      look();
    }
    expect(await write()).toBe('OK');
  });

  it('a look in which all sentinels name the primary does not fence it, however long it takes', async () => {
    await watch('n1');
    among(sentinels.map(stage.address));
    look();
    shim(
      `${releases[program.engine].program}-cli`,
      `${releases[program.engine].program}-cli "$@"\ncase "$*" in *'sentinel master'*) echo '111.00 0' > "$ROOT/uptime" ;; esac`,
    );
    clock(101);
    look();
    expect(await write()).toBe('OK');
  });

  it('a sentinel that leads a failover says the former address, and is no reason to lift', async () => {
    await watch('n1');
    const [s1 = '', s2 = ''] = sentinels.map(stage.address);
    among([s1, s2, '127.0.0.4']);
    look();
    among(nowhere);
    clock(112);
    look();
    expect(await write()).toMatch(/NOREPLICAS/);
    const { program: name } = releases[program.engine];
    const led = `case "$*" in *${s2}*"sentinel master"*) ${name}-cli "$@" | sed 's/^master$/master,failover_in_progress,force_failover/' ;;`;
    shim(`${name}-cli`, `${led} *) exec ${name}-cli "$@" ;; esac`);
    among([s1, s2, '127.0.0.4']);
    clock(113);
    look();
    expect(await write()).toMatch(/NOREPLICAS/);
    rmSync(at('shims', `${name}-cli`));
    look();
    expect(await write()).toBe('OK');
  });

  it('a primary that is cut off is fenced, too, where somebody has taken CONFIG from the user default', async () => {
    const identity = 'clusterwright/apps/db';
    await stage.ask('n1', 'ACL', 'SETUSER', identity, 'on', '>own', '~*', '&*', '+@all');
    await stage.ask('n1', 'ACL', 'SETUSER', 'default', '-config');
    writeFileSync(at('identity'), 'own\n');
    await watch('n1');
    among(sentinels.map(stage.address));
    look();
    among(nowhere);
    clock(112);
    look();
    expect(await write()).toMatch(/NOREPLICAS/);
  });

  it('a copy of a server elsewhere was never watched: cut over, it takes writes before there is a sentinel', async () => {
    among(nowhere);
    await stage.start('n9');
    await stage.ask('n1', 'CONFIG', 'SET', 'replica-announced', 'no');
    await follow(stage, 'n1', 'n9');
    look();
    await stage.ask('n1', 'REPLICAOF', 'NO', 'ONE');
    await stage.ask('n1', 'CONFIG', 'SET', 'replica-announced', 'yes');
    look();
    clock(112);
    look();
    expect(await write()).toBe('OK');
  });

  it('a server from elsewhere that copies from a primary that is cut off does not count', async () => {
    await watch('n1');
    among(sentinels.map(stage.address));
    look();
    await stage.start('n9', ['replica-announced no', 'replica-priority 0']);
    await follow(stage, 'n9', 'n1');
    among(nowhere);
    clock(112);
    look();
    expect(await write()).toMatch(/NOREPLICAS/);
  });

  it('nor where all sentinels name another primary', async () => {
    await stage.start('n2');
    await watch('n1');
    among(sentinels.map(stage.address));
    look();
    await stage.start('n9', ['replica-announced no', 'replica-priority 0']);
    await follow(stage, 'n9', 'n1');
    for (const s of sentinels) {
      await stage.ask(s, 'SENTINEL', 'REMOVE', watched);
      await stage.ask(s, 'SENTINEL', 'MONITOR', watched, stage.address('n2'), '6379', '2');
    }
    clock(102);
    look();
    expect(await write()).toMatch(/NOREPLICAS/);
  });
});
