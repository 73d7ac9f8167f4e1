/**
 * Users over the restart of a container, by the scripts of a pod with a real server that they start, in a network of their own. The operator is
 * away from the beginning of each story's end: what it has set before is all there is.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hashOf } from '../../../src/engines/redis/client/identity.ts';
import { recordRule, recordUser, wordsOf } from '../../../src/engines/redis/client/user-record.ts';
import { type IsolatedPod, isIsolationPossible, isolatedPod } from '../../support/isolated-pod.ts';
import { serverPrograms } from '../../support/redis-program.ts';

/** `restart` is that of a container, `renew` that of a pod. `admit` runs the startup probe until it succeeds, and prints how often it failed. */
const prelude = `
trap 'kill -9 $(cat server.pid) 2> /dev/null' EXIT
start() {
  /bin/sh "$CONFIG_DIR/start-data.sh" > log 2>&1 & echo $! > server.pid
  tries=0
  until $SERVER-cli ping 2> /dev/null | grep -q .; do
    tries=$((tries + 1)); [ "$tries" -lt 1000 ] || { cat log >&2; exit 1; }
    sleep 0.02
  done
}
restart() { kill -9 "$(cat server.pid)"; wait 2> /dev/null; start; }
renew() { kill -9 "$(cat server.pid)"; wait 2> /dev/null; rm -rf run/*; start; }
operator() { REDISCLI_AUTH=own $SERVER-cli --user clusterwright/apps/db "$@" > told; grep -v OK told; }
login() { echo "$1 $(REDISCLI_AUTH=$2 $SERVER-cli --user "$1" get app:a 2> /dev/null | cut -c 1-6)"; }
users() { REDISCLI_AUTH=own $SERVER-cli --user clusterwright/apps/db acl users | grep -v / | tr '\\n' ' '; echo; }
probe() { /bin/sh "$CONFIG_DIR/ping.sh" > /dev/null 2>&1; }
admit() {
  failed=0
  until /bin/sh "$CONFIG_DIR/admit.sh" > admitted 2>&1; do failed=$((failed + 1)); [ "$failed" -lt 20 ] || { cat admitted >&2; exit 1; }; done
  echo "admitted after $failed"
}
start
REDISCLI_AUTH=own $SERVER-cli --user clusterwright/apps/db replicaof no one > /dev/null
`;

const quoted = (words: readonly string[]): string => words.map((word) => `'${word}'`).join(' ');
const records = (...names: readonly string[]) =>
  names.map((name) => ({
    name,
    digest: '0',
    words: wordsOf([hashOf(`secret of ${name}`)], name === 'odd' ? ['+nosuch'] : ['~app:*', '+get', '(+set ~app:*)']),
  }));
const setTo = (...names: readonly string[]): string => `operator acl setuser ${quoted(recordRule(records(...names)))}`;
const set = (name: string): string =>
  records(name)
    .map(({ words }) => `operator acl setuser ${name} reset on ${quoted(words)}`)
    .join('');
const login = (name: string): string => `login ${name} 'secret of ${name}'`;

describe.skipIf(!isIsolationPossible).each([...serverPrograms])('beside servers of $name', (own) => {
  let pod: IsolatedPod;
  beforeEach(() => {
    pod = isolatedPod(own);
    pod.put('config/redis.conf', 'bind 127.0.0.1\nport 6379\nsave ""\nprotected-mode no\n');
    pod.put('config/quorum', '1\n');
    pod.put('config/sentinels', '');
    pod.put('config/missed-ms', '1500\n');
    pod.put('data/initialised', '127.0.0.1\n');
    pod.put('own', 'own\n');
  });
  afterEach(() => pod.remove());

  const play = (...story: readonly string[]): string[] =>
    pod.play([prelude, ...story].join('\n'), { IDENTITY_FILE: `${pod.directory}/own` });

  it('a container that starts again has its users before it is admitted; a pod that is new has none', () => {
    const story = [
      setTo('app'),
      set('app'),
      'admit; probe; stat -c %a run/users',
      'restart; users; admit; users',
      login('app'),
      'renew; admit; users',
    ];
    expect(play(...story)).toEqual([
      ...['admitted after 0', '600'],
      ...['default', 'admitted after 0', `app ${recordUser} default`, 'app'],
      ...['admitted after 0', 'default'],
    ]);
  });

  it('one that was removed, and of which the pod has not heard, comes back with its record alone', () => {
    const story = ['admit', setTo('app', 'other'), set('app'), set('other'), 'probe'];
    const removed = ['operator acl deluser app > /dev/null', setTo('other'), 'restart; admit; users'];
    const again = [
      'operator acl deluser app > /dev/null',
      setTo('other'),
      'probe; restart; admit; users',
      login('other'),
    ];
    expect(play(...story, ...removed, ...again)).toEqual([
      'admitted after 0',
      ...['admitted after 0', `app ${recordUser} default other`],
      ...['admitted after 0', `${recordUser} default other`, 'other'],
    ]);
  });

  it('a user that the server refuses is left out, and the pod is admitted with the others', () => {
    const story = ['admit', setTo('odd', 'app'), set('app'), 'probe; restart; admit; users'];
    expect(play(...story)).toEqual(['admitted after 0', 'admitted after 0', `app ${recordUser} default`]);
  });

  it('a replica takes the users of its primary, whatever the pod had before', () => {
    const primary = [
      'printf \'bind 127.0.0.2\\nport 6379\\nsave ""\\nrepl-diskless-sync-delay 0\\nrequirepass pw\\nuser clusterwright/apps/db on >own ~* &* +@all\\n\' > primary.conf',
      '$SERVER-server primary.conf > /dev/null 2>&1 &',
      'until $SERVER-cli -h 127.0.0.2 ping 2> /dev/null | grep -q .; do sleep 0.02; done',
      `REDISCLI_AUTH=own $SERVER-cli -h 127.0.0.2 --user clusterwright/apps/db acl setuser ${quoted(recordRule(records('other')))} > /dev/null`,
    ];
    // A node that copies is admitted once a sentinel names its primary and knows the node.
    const follow = [
      'operator replicaof 127.0.0.2 6379',
      'until REDISCLI_AUTH=pw $SERVER-cli info replication | grep -q master_link_status:up; do sleep 0.02; done',
      'printf "bind 127.0.0.3\\nport 26379\\nrequirepass pw\\nsentinel monitor db 127.0.0.2 6379 1\\nsentinel auth-pass db pw\\n" > sentinel.conf',
      'echo 127.0.0.3 > config/sentinels',
      '$SERVER-server sentinel.conf --sentinel > /dev/null 2>&1 &',
      'until /bin/sh "$CONFIG_DIR/admit.sh" > /dev/null 2>&1; do sleep 0.1; done; users',
    ];
    const story = ['admit', setTo('app'), set('app'), 'probe; restart', ...primary, ...follow, login('other')];
    expect(play(...story)).toEqual(['admitted after 0', `${recordUser} default other`, 'other']);
  });

  it('the last user that goes is forgotten', () => {
    const story = [
      'admit',
      setTo('app'),
      set('app'),
      'probe',
      `operator acl deluser app ${recordUser} > /dev/null`,
      'probe; restart; admit; users',
    ];
    expect(play(...story)).toEqual(['admitted after 0', 'admitted after 0', 'default']);
  });
});
