/**
 * The scripts of the pods beside real servers, in a network of their own: what a data node's volume says after its process
 * was killed, of each engine and version. Needs redis-server, and a kernel that gives this user a network namespace.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { atLeast, releases } from '../../../src/engines/redis/kind/server.ts';
import { type IsolatedPod, isIsolationPossible, isolatedPod } from '../../support/isolated-pod.ts';
import { serverProgram, serverPrograms } from '../../support/redis-program.ts';

/**
 * `start` runs the node under test as its pod does, and `other` a primary with a hundred keys beside it. `volume` prints
 * whether the mark is there, the node's priority, and how many keys it holds. Each server is a group of processes that is killed whole, as a
 * container is: a child that sends or writes a copy would go on for seconds without its server.
 */
const stage = `
mkdir other
primary=
cli() { REDISCLI_AUTH=pw $SERVER-cli "$@"; }
up() { until cli -h "$1" ping 2> /dev/null | grep -q PONG; do sleep 0.02; done; }
start() { setsid /bin/sh "$CONFIG_DIR/start-data.sh" > log 2>&1 & node=$!; up 127.0.0.1; cli config set rdb-key-save-delay "\${1:-0}" > /dev/null; }
killed() { kill -9 -$node; wait $node 2> /dev/null; }
# As the kubelet ends a container.
stopped() { run hand-over.sh; kill $node; wait $node 2> /dev/null; }
other() {
  setsid $OTHER --bind 127.0.0.2 --port 6379 --requirepass pw --dir other --save '' --repl-diskless-sync-delay 0 > other/log 2>&1 & primary=$!
  up 127.0.0.2
  for i in $(seq 100); do echo "set key$i $i"; done | cli -h 127.0.0.2 > /dev/null
}
trap 'kill -9 -$node \${primary:+-$primary} 2> /dev/null' EXIT
run() { code=0; /bin/sh "$CONFIG_DIR/$1" > /dev/null 2>&1 || code=$?; printf '%s %s, ' "$1" "$code"; }
volume() {
  [ -e data/initialised ] && printf 'marked, ' || printf 'unmarked, '
  printf 'priority %s, %s keys\\n' "$(cli config get replica-priority | tail -n 1)" "$(cli dbsize)"
}
follow() { cli replicaof 127.0.0.2 6379 > /dev/null; until cli info replication | grep -q master_link_status:up; do sleep 0.02; done; }
written() { until cli info persistence | tr -d '\\r' | grep -q aof_rewrite_in_progress:0; do sleep 0.02; done; }
`;

describe.skipIf(!isIsolationPossible).each([...serverPrograms])('the volume of a node, on $name', (own) => {
  const { program } = releases[own.engine];
  let pod: IsolatedPod;
  beforeEach(() => {
    pod = isolatedPod(own);
    pod.put('config/sentinels', '127.0.0.9\n');
    pod.put('config/quorum', '1\n');
    pod.put('config/redis.conf', 'bind 127.0.0.1\nsave ""\n');
    // Nobody waits for sentinels here.
    pod.put('bin/sleep', '#!/bin/sh\nexec /bin/sleep 0.02\n', 0o755);
  });
  afterEach(() => pod.remove());

  const play = (story: string, other = `${program}-server`): string[] =>
    pod.play(`${stage}\n${story}`, { OTHER: other, POD_IP: '10.0.0.1', DATABASES: '16' });

  /** A node that was primary and holds one key. */
  const before = 'start; cli replicaof no one > /dev/null; cli set old 1 > /dev/null; run admit.sh; volume';
  const held = 'admit.sh 0, marked, priority 100, 1 keys';
  /** Microseconds a key: of a hundred keys it takes longer than probes do, also on a busy machine. */
  const slowly = 100_000;
  /** What was received becomes the append-only file before the first acknowledgement. */
  const isKept = own.engine === 'Valkey' && atLeast(own.version, '9.1');
  const until = (written: string): string => (isKept ? 'ping.sh 0, marked, priority 100, 100 keys' : written);

  it('a node that is killed keeps its mark', () => {
    expect(play(`${before}\nkilled; start; volume`)).toEqual([held, 'marked, priority 100, 1 keys']);
  });

  it('a node that is killed before its copy was written down has lost its mark, though it has acknowledged writes', () => {
    const story = `${before}\nother; cli config set rdb-key-save-delay ${slowly} > /dev/null; follow
cli -h 127.0.0.2 set new 1 > /dev/null; cli -h 127.0.0.2 wait 1 2000; killed; start; volume`;
    expect(play(story)).toEqual([
      held,
      '1',
      isKept ? 'marked, priority 100, 101 keys' : 'unmarked, priority 0, 1 keys',
    ]);
  });

  it('a probe takes the mark while a copy is written down, and gives it back afterwards', () => {
    const story = `${before}\nother; cli config set rdb-key-save-delay ${slowly} > /dev/null; follow; run ping.sh; volume
written; run ping.sh; volume; killed; start; volume`;
    expect(play(story)).toEqual([
      held,
      until('ping.sh 0, unmarked, priority 100, 100 keys'),
      'ping.sh 0, marked, priority 100, 100 keys',
      'marked, priority 100, 100 keys',
    ]);
  });

  it('a node whose copy was written down and that no probe has seen since is not trusted, where the file came later', () => {
    expect(play(`${before}\nother; follow; written; killed; start; volume`)[1]).toBe(
      isKept ? 'marked, priority 100, 100 keys' : 'unmarked, priority 0, 100 keys',
    );
  });

  it('R4: a node that copies cannot be elected, nor when its primary has just ended: what it holds is older', () => {
    const story = `${before}\nother; cli -h 127.0.0.2 config set rdb-key-save-delay 100000 > /dev/null
cli replicaof 127.0.0.2 6379 > /dev/null; until cli info replication | grep -q sync_in_progress:1; do sleep 0.02; done
run ping.sh; volume; kill -9 -$primary; until cli info replication | grep -q sync_in_progress:0; do sleep 0.02; done
run ping.sh; volume; echo -9999999 > run/behind; run ping.sh; volume`;
    expect(play(story)).toEqual([
      held,
      'ping.sh 0, marked, priority 0, 1 keys',
      'ping.sh 0, marked, priority 0, 1 keys',
      'ping.sh 0, marked, priority 100, 1 keys',
    ]);
  });

  it('a node whose primary ends before its copy was written down may be elected once it is', () => {
    const lost = 'kill -9 -$primary; until cli info replication | grep -q master_link_status:down; do sleep 0.02; done';
    const story = `start; volume; other; cli config set rdb-key-save-delay ${slowly} > /dev/null; follow; run ping.sh; volume
${lost}; run ping.sh; volume; written; run ping.sh; volume; killed; start; volume`;
    expect(play(story)).toEqual([
      'unmarked, priority 0, 0 keys',
      until('ping.sh 0, unmarked, priority 0, 100 keys'),
      until('ping.sh 0, unmarked, priority 0, 100 keys'),
      'ping.sh 0, marked, priority 100, 100 keys',
      'marked, priority 100, 100 keys',
    ]);
  });

  it('nor does one that follows nobody get the mark of a snapshot that somebody has made', () => {
    const story = `start; cli bgsave > /dev/null; until [ -e data/dump.rdb ]; do sleep 0.02; done; run ping.sh; volume`;
    expect(play(story)).toEqual(['ping.sh 0, unmarked, priority 0, 0 keys']);
  });

  it('a node that somebody has told to save snapshots is stopped without one, and keeps its mark', () => {
    const story = `${before}\ncli config set save '3600 1' > /dev/null; cli set new 1 > /dev/null; stopped; start; volume`;
    expect(play(story)).toEqual([held, 'hand-over.sh 0, marked, priority 100, 2 keys']);
  });

  it('what a rewrite or a copy that was killed has left besides is no use to anybody, and goes', () => {
    const left =
      'touch data/temp-rewriteaof-bg-31.aof data/temp-rewriteaof-31.aof data/temp-1763900000.1.rdb data/temp-31.rdb';
    const story = `${before}\nkilled; ${left}; start; volume; ls data | tr '\\n' ' '`;
    expect(play(story).slice(1)).toEqual(['marked, priority 100, 1 keys', 'appendonlydir initialised term']);
  });

  it('a rewrite of its own takes no mark', () => {
    const story = `${before}\ncli config set rdb-key-save-delay 2000000 > /dev/null; cli bgrewriteaof > /dev/null
run ping.sh; volume; killed; start; volume`;
    expect(play(story).slice(1)).toEqual(['ping.sh 0, marked, priority 100, 1 keys', 'marked, priority 100, 1 keys']);
  });

  it('appendonly that somebody has switched off is switched on again, and the mark waits for the file', () => {
    const off = 'cli config set appendonly no > /dev/null; cli set new 1 > /dev/null';
    const story = `${before}\n${off}; run ping.sh; cli config get appendonly | tail -n 1; volume
written; run ping.sh; volume; killed; start; volume`;
    expect(play(story).slice(1)).toEqual([
      'ping.sh 0, yes',
      'unmarked, priority 100, 2 keys',
      'ping.sh 0, marked, priority 100, 2 keys',
      'marked, priority 100, 2 keys',
    ]);
  });

  it('the term goes from the primary to its replica, grows when that is promoted, and comes back with the volume', () => {
    const carried = 'cli config get cluster-announce-hostname | tail -n 1';
    const story = `${before}; ${carried}
other; cli -h 127.0.0.2 config set cluster-announce-hostname primary-4 > /dev/null; follow; run ping.sh; ${carried}
cli replicaof no one > /dev/null; run ping.sh; cat data/term; killed; start; ${carried}`;
    expect(play(story)).toEqual([held, 'primary-1', 'ping.sh 0, replica-4', 'ping.sh 0, primary-5', 'primary-5']);
  });

  const newer = ['Redis 8.0', 'Valkey 8.1'].map(serverProgram).filter((each) => each !== undefined);
  it.skipIf(own.name !== 'Redis 7.0').each(newer)(
    'a node that cannot read the copy of a newer primary holds nothing, and cannot be elected: $name',
    ({ server }) => {
      const failed = 'until cli info persistence | tr -d "\\r" | grep -q aof_enabled:0; do sleep 0.02; done';
      const story = `${before}\nother; cli replicaof 127.0.0.2 6379 > /dev/null; ${failed}; run ping.sh; volume
cli info | tr -d '\\r' | grep -e ^aof_enabled -e ^master_link_status -e ^master_link_down | tr '\\n' ' '; echo
cli replicaof 127.0.0.1 1 > /dev/null; killed; start; volume`;
      expect(play(story, server.join(' '))).toEqual([
        held,
        'ping.sh 0, unmarked, priority 0, 0 keys',
        'aof_enabled:0 master_link_status:down master_link_down_since_seconds:-1',
        'unmarked, priority 0, 1 keys',
      ]);
    },
  );
});
