/**
 * The probes of the pods beside a real server of each engine and version, in a network of their own: the ports are those of every pod. Needs
 * redis-server, and a kernel that gives this user a network namespace.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { releases } from '../../../src/engines/redis/kind/server.ts';
import { scripts } from '../../../src/engines/redis/resources/scripts.ts';
import { programFolder, serverPrograms } from '../../support/redis-program.ts';

const isolated = ['-rn', '/bin/sh', '-c'] as const;
const isPossible = spawnSync('unshare', [...isolated, 'ip link set lo up']).status === 0;

/** Starts a server as the pods do; `$run PROBE` prints its exit code. */
const stage = (server: string): string => `
set -u
ip link set lo up
$SERVER-server ${server} > log 2>&1 &
server=$!
trap 'kill -9 $server' EXIT
until $SERVER-cli -p "$PORT" ping > /dev/null 2>&1; do sleep 0.05; done
run() { code=0; /bin/sh "$CONFIG_DIR/$1" > /dev/null 2>&1 || code=$?; printf '%s ' "$code"; }
`;

describe.skipIf(!isPossible).each([...serverPrograms])('on $name', (own) => {
  const { program } = releases[own.engine];
  let directory = '';
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'real-probes-'));
    for (const name of ['run', 'config', 'data']) mkdirSync(join(directory, name));
    for (const [name, text] of Object.entries(scripts)) {
      writeFileSync(
        join(directory, 'config', name),
        text.replaceAll('/run/redis', join(directory, 'run')).replaceAll('/data', join(directory, 'data')),
      );
    }
    writeFileSync(join(directory, 'secret'), 'pw\n');
    writeFileSync(join(directory, 'redis.conf'), 'port 6379\nrequirepass "pw"\nmaxclients 2\nsave ""\n');
    writeFileSync(
      join(directory, 'sentinel.conf'),
      'port 26379\nrequirepass "pw"\nsentinel monitor db 127.0.0.1 6379 2\nsentinel auth-pass db "pw"\n',
    );
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  function play(port: '6379' | '26379', story: string): string[] {
    const server = port === '6379' ? 'redis.conf' : 'sentinel.conf --sentinel';
    const { stdout, stderr } = spawnSync('unshare', [...isolated, `${stage(server)}\n${story}`], {
      cwd: directory,
      encoding: 'utf8',
      env: {
        PATH: `${programFolder(own)}:${process.env.PATH}`,
        SERVER: program,
        PORT: port,
        CONFIG_DIR: join(directory, 'config'),
        AUTH_FILE: join(directory, 'secret'),
        CLUSTER_NAME: 'db',
        POD_IP: '10.0.0.1',
        POD_NAMESPACE: 'apps',
      },
    });
    if (stderr !== '') throw new Error(stderr);
    return stdout
      .trim()
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '');
  }

  const both = 'run ping.sh; run alive.sh; echo';

  it('a node that has as many clients as it takes is alive and ready', () => {
    const hold = '(sleep 2 | $SERVER-cli > held 2>&1) & ';
    expect(play('6379', `${both}\n${hold} ${hold} sleep 0.5\n$SERVER-cli ping; ${both}`)).toEqual([
      '0 0',
      'ERR max number of clients reached',
      '0 0',
    ]);
  });

  it('a node whose Secret says something else by now is alive and ready', () => {
    expect(play('6379', `${both}\nprintf 'pw\\n' > run/password; echo other > secret; ${both}`)).toEqual([
      '0 0',
      '0 0',
    ]);
  });

  it('a node that refuses its own pod is alive, and as ready as before', () => {
    const other = 'REDISCLI_AUTH=pw $SERVER-cli config set requirepass other > log';
    expect(play('6379', `${both}\n${other}; ${both}\n: > run/loading; ${both}`)).toEqual(['0 0', '0 0', '1 0']);
  });

  it('a node that has gone, or stands still, is neither', () => {
    expect(play('6379', `${both}\nkill -STOP $server; ${both}`)).toEqual(['0 0', '1 1']);
    expect(play('6379', `${both}\nkill -9 $server; wait $server 2> /dev/null; trap - EXIT; ${both}`)).toEqual([
      '0 0',
      '1 1',
    ]);
  });

  it('a sentinel whose Secret says something else by now, or that refuses its own pod, is alive and ready', () => {
    const probes = 'run watching.sh; run sentinel-alive.sh; echo';
    const other =
      'REDISCLI_AUTH=pw $SERVER-cli -p 26379 acl setuser default "#$(printf third | sha256sum | cut -c1-64)" "<pw" > log';
    expect(
      play(
        '26379',
        `${probes}\nprintf 'pw\\n' > run/password; echo other > secret; ${probes}\n${other}; ${probes}\nrm run/watching; ${probes}`,
      ),
    ).toEqual(['0 0', '0 0', '0 0', '1 0']);
  });
});
