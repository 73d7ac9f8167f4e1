/**
 * The scripts of the pods while the password changes, with real servers that they start, in a network of their own: what is accepted after a
 * container or a pod has started again in the middle. The test does what the operator does.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hashOf } from '../../../src/engines/redis/client/identity.ts';
import { type IsolatedPod, isIsolationPossible, isolatedPod } from '../../support/isolated-pod.ts';
import { serverPrograms } from '../../support/redis-program.ts';

const [old, next] = ['o"ld \\one', "n'ext #one"] as const;

/** `logins` prints which of the two are taken; `restart` is that of a container, `renew` that of a pod. */
const prelude = `
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

describe.skipIf(!isIsolationPossible).each([...serverPrograms])('beside servers of $name', (own) => {
  let pod: IsolatedPod;
  beforeEach(() => {
    pod = isolatedPod(own);
    pod.put('config/redis.conf', 'port 6379\nsave ""\nprotected-mode no\n');
    pod.put('config/quorum', '1\n');
    pod.put('config/info-period-ms', '2000\n');
    pod.put('config/missed-ms', '1500\n');
    pod.put('data/initialised', '127.0.0.1\n');
    pod.put('own', 'own\n');
  });
  afterEach(() => pod.remove());

  function play(part: 'data' | 'sentinel', story: string): string[] {
    const isData = part === 'data';
    // A sentinel that nobody reaches tells of no primary.
    pod.put('config/sentinels', isData ? '' : '127.0.0.9\n');
    return pod.play(`${prelude}\n${story}`, {
      SCRIPT: isData ? 'start-data.sh' : 'start-sentinel.sh',
      PROBE: isData ? 'ping.sh' : 'watching.sh',
      PORT: isData ? '6379' : '26379',
      IDENTITY_FILE: `${pod.directory}/own`,
      OLD: old,
      NEXT: next,
    });
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
