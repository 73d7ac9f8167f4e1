/**
 * The probes of the pods beside a real server of each engine and version, in a network of their own: the ports are those of every pod. Needs
 * redis-server, and a kernel that gives this user a network namespace.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type IsolatedPod, isIsolationPossible, isolatedPod } from '../../support/isolated-pod.ts';
import { serverPrograms } from '../../support/redis-program.ts';

/** Starts a server as the pods do; `$run PROBE` prints its exit code. */
const stage = (server: string): string => `
$SERVER-server ${server} > log 2>&1 &
server=$!
trap 'kill -9 $server' EXIT
until $SERVER-cli -p "$PORT" ping > /dev/null 2>&1; do sleep 0.05; done
run() { code=0; /bin/sh "$CONFIG_DIR/$1" > /dev/null 2>&1 || code=$?; printf '%s ' "$code"; }
`;

describe.skipIf(!isIsolationPossible).each([...serverPrograms])('on $name', (own) => {
  let pod: IsolatedPod;
  beforeEach(() => {
    pod = isolatedPod(own);
    pod.put('redis.conf', 'port 6379\nrequirepass "pw"\nmaxclients 2\nsave ""\n');
    pod.put(
      'sentinel.conf',
      'port 26379\nrequirepass "pw"\nsentinel monitor db 127.0.0.1 6379 2\nsentinel auth-pass db "pw"\n',
    );
  });
  afterEach(() => pod.remove());

  function play(port: '6379' | '26379', story: string): string[] {
    const server = port === '6379' ? 'redis.conf' : 'sentinel.conf --sentinel';
    return pod.play(`${stage(server)}\n${story}`, { PORT: port, POD_IP: '10.0.0.1' });
  }

  const both = 'run ping.sh; run alive.sh; echo';

  it('a node that has as many clients as it takes is alive and ready', () => {
    // Each has been answered once, and stays.
    const hold = (name: string): string => `(echo ping; sleep 30) | $SERVER-cli > ${name} 2>&1 & `;
    const held = 'until [ -s one ] && [ -s two ]; do sleep 0.05; done';
    expect(play('6379', `${both}\n${hold('one')} ${hold('two')} ${held}\n$SERVER-cli ping; ${both}`)).toEqual([
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
