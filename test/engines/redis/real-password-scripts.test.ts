/**
 * The scripts of the pods while the password changes, with real servers that they start, in a network of their own: what is accepted after a
 * container or a pod has started again in the middle. The test does what the operator does.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hashOf } from '../../../src/engines/redis/client/identity.ts';
import { releases } from '../../../src/engines/redis/kind/server.ts';
import { scripts } from '../../../src/engines/redis/resources/scripts.ts';
import { programFolder, serverPrograms } from '../../support/redis-program.ts';

const isolated = ['-rn', '/bin/sh', '-c'] as const;
const isPossible = spawnSync('unshare', [...isolated, 'ip link set lo up']).status === 0;

const [old, next] = ['o"ld \\one', "n'ext #one"] as const;

/** `logins` prints which of the two are taken; `restart` is that of a container, `renew` that of a pod. */
const prelude = `
set -u
ip link set lo up
trap 'kill -9 $(cat server.pid) 2> /dev/null' EXIT
start() {
  /bin/sh "$CONFIG_DIR/$SCRIPT" > log 2>&1 & echo $! > server.pid
  tries=0
  until $SERVER-cli -p "$PORT" ping 2> /dev/null | grep -q .; do
    tries=$((tries + 1)); [ "$tries" -lt 500 ] || { cat log >&2; exit 1; }
    sleep 0.02
  done
}
restart() { kill -9 "$(cat server.pid)"; wait 2> /dev/null; start; }
renew() { kill -9 "$(cat server.pid)"; wait 2> /dev/null; rm -rf run/*; start; }
takes() { [ "$(REDISCLI_AUTH=$1 $SERVER-cli -p "$PORT" ping 2> /dev/null)" = PONG ] && echo yes || echo no; }
logins() { echo "$(takes "$OLD") $(takes "$NEXT")"; }
edit() { printf '%s\\n' "$1" > secret; }
operator() { REDISCLI_AUTH=own $SERVER-cli --user clusterwright/apps/db -p "$PORT" "$@" > told; grep -v OK told; }
probe() { /bin/sh "$CONFIG_DIR/$PROBE" > /dev/null 2>&1; }
edit "$OLD"
start
`;

describe.skipIf(!isPossible).each([...serverPrograms])('beside servers of $name', (own) => {
  let directory = '';
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'real-passwords-'));
    const put = (name: string, text: string): void => writeFileSync(join(directory, name), text);
    for (const name of ['run', 'config', 'data']) mkdirSync(join(directory, name));
    for (const [name, text] of Object.entries(scripts)) {
      const inPlace = text
        .replaceAll('/run/redis', join(directory, 'run'))
        .replaceAll('/data', join(directory, 'data'));
      put(`config/${name}`, inPlace);
    }
    const files = {
      'redis.conf': 'port 6379\nsave ""\nprotected-mode no\n',
      quorum: '1\n',
      'info-period-ms': '2000\n',
    };
    for (const [name, text] of Object.entries(files)) put(`config/${name}`, text);
    put('config/missed-ms', '1500\n');
    put('data/initialised', '127.0.0.1\n');
    put('own', 'own\n');
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  function play(part: 'data' | 'sentinel', story: string): string[] {
    const isData = part === 'data';
    // A sentinel that nobody reaches tells of no primary.
    writeFileSync(join(directory, 'config', 'sentinels'), isData ? '' : '127.0.0.9\n');
    const { stdout, stderr } = spawnSync('unshare', [...isolated, `${prelude}\n${story}`], {
      cwd: directory,
      encoding: 'utf8',
      timeout: 60_000,
      env: {
        PATH: `${programFolder(own)}:${process.env.PATH}`,
        SERVER: releases[own.engine].program,
        SCRIPT: isData ? 'start-data.sh' : 'start-sentinel.sh',
        PROBE: isData ? 'ping.sh' : 'watching.sh',
        PORT: isData ? '6379' : '26379',
        CONFIG_DIR: join(directory, 'config'),
        AUTH_FILE: join(directory, 'secret'),
        IDENTITY_FILE: join(directory, 'own'),
        ...{ CLUSTER_NAME: 'db', POD_IP: '127.0.0.1', POD_NAME: 'db-0', POD_NAMESPACE: 'apps', OLD: old, NEXT: next },
      },
    });
    if (stderr !== '') throw new Error(stderr);
    return stdout.trim().split('\n');
  }

  const told = `operator acl setuser default '#${hashOf(next)}'`;
  const retired = `operator acl setuser default resetpass '#${hashOf(next)}'`;

  it.each(['data', 'sentinel'] as const)(
    'a process (%s) that starts again in the middle takes what it took',
    (part) => {
      const flush = part === 'sentinel' ? 'operator sentinel flushconfig' : ':';
      const story = [
        ...['logins', 'edit "$NEXT"; probe; logins; cat run/password', 'restart; logins'],
        ...[told, flush, 'logins; probe; cat run/password', 'restart; logins'],
        ...[retired, flush, 'probe; logins', 'restart; logins', 'renew; logins'],
      ];
      expect(play(part, story.join('\n'))).toEqual([
        'yes no',
        // Edited, and nobody has told the server.
        ...['yes no', old, 'yes no'],
        // Told: the scripts go over to it, and a container that starts again takes both.
        ...['yes yes', next, 'yes yes'],
        // Taken away: it does not come back with a container or a pod.
        ...['no yes', 'no yes', 'no yes'],
      ]);
    },
  );

  it('a single node whose probe has not looked since is started with that of its pod', () => {
    expect(play('data', `edit "$NEXT"\n${told}\nrestart; logins; cat run/password`)).toEqual(['yes no', old]);
  });
});
