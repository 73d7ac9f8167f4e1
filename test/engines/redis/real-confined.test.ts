/**
 * A sentinel from elsewhere that has the password of the clients, remembers addresses of this cluster, and watches a primary of
 * the same name: beside real servers and the real scripts of the pods, in a network of their own.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hashOf } from '../../../src/engines/redis/client/identity.ts';
import { type IsolatedPod, isIsolationPossible, isolatedPod } from '../../support/isolated-pod.ts';
import { serverPrograms } from '../../support/redis-program.ts';

const identity = 'clusterwright/apps/db';
const [n1, n2, s1, n9, s9] = ['127.0.1.1', '127.0.1.2', '127.0.1.11', '127.0.2.1', '127.0.2.11'] as const;
const n8 = '127.0.2.2';
const own = `user ${identity} on #${hashOf('own')} ~* &* +@all\n`;
const data = (address: string, more = ''): string =>
  `port 6379\nbind ${address}\nprotected-mode no\nsave ""\nrequirepass "pw"\nrepl-diskless-sync-delay 0\nreplica-announce-ip ${address.split(' ').at(-1)}\n${more}`;
const asCluster = `${own}masteruser ${identity}\nmasterauth own\n`;
const sentinel = (address: string, more: string): string =>
  `port 26379\nbind ${address}\nprotected-mode no\nrequirepass "pw"\nsentinel announce-ip ${address.split(' ').at(-1)}\n${more}`;
const watching = (primary: string): string =>
  `sentinel monitor db ${primary} 6379 1\nsentinel down-after-milliseconds db 3000\n`;
const loggedIn = `sentinel auth-user db ${identity}\nsentinel auth-pass db own\n`;

const prelude = `
trap 'kill -9 $(cat *.pid) 2> /dev/null' EXIT
start() { mkdir -p "$1.d"; $SERVER-server "$1.conf" --dir "$PWD/$1.d" $2 > "$1.log" 2>&1 & echo $! > "$1.pid"; }
ask() { REDISCLI_AUTH=pw $SERVER-cli -h "$@" 2>&1 | tr '\\n' ' '; echo; }
run() { code=0; /bin/sh -c "set -eu; . $CONFIG_DIR/library.sh; $1" 2>&1 || code=$?; }
role() { ask "$1" role | cut -d ' ' -f 1; }
names() { ask "$1" -p 26379 sentinel get-master-addr-by-name db; }
start n1 ''; start n2 ''; start n9 ''
until [ "$(role ${n1})" = master ] && [ "$(ask ${n2} info | grep -c master_link_status:up)" = 1 ] && [ "$(role ${n9})" = master ]; do sleep 0.05; done
start s1 --sentinel
until ask ${s1} -p 26379 sentinel replicas db | grep -q 'flags slave '; do sleep 0.1; done
ask ${n1} set ours 1 > /dev/null; ask ${n9} set theirs 1 > /dev/null
`;

describe.skipIf(!isIsolationPossible).each([...serverPrograms])('beside servers of $name', (servers) => {
  let pod: IsolatedPod;
  beforeEach(() => {
    pod = isolatedPod(servers);
    const { put } = pod;
    const config = { sentinels: `${s1}\n`, quorum: '1\n', 'missed-ms': '1500\n', 'info-period-ms': '2000\n' };
    for (const [name, text] of Object.entries(config)) put(`config/${name}`, text);
    put('own', 'own\n');
    put('n1.conf', data(`127.0.0.1 ${n1}`, asCluster));
    put('n2.conf', data(n2, `${asCluster}replicaof ${n1} 6379\n`));
    put('n9.conf', data(n9, 'masterauth "pw"\n'));
    // As somebody starts a server to copy the data into, with no more than it needs.
    const copies = `replica-announce-ip ${n8}\nmasterauth pw\nreplica-priority 0\nreplicaof ${n1} 6379\n`;
    put('n8.conf', `port 6379\nbind ${n8}\nprotected-mode no\nsave ""\n${copies}`);
    put(
      's1.conf',
      sentinel(
        `127.0.0.1 ${s1}`,
        `${own}sentinel sentinel-user ${identity}\nsentinel sentinel-pass own\n${watching(n1)}${loggedIn}`,
      ),
    );
    const known = `sentinel known-replica db ${n1} 6379\nsentinel known-sentinel db ${s1} 26379 ${'a'.repeat(40)}\n`;
    const later = 'sentinel config-epoch db 7\nsentinel current-epoch 7\n';
    put(
      's9.conf',
      sentinel(s9, `sentinel sentinel-pass pw\n${watching(n9)}sentinel auth-pass db pw\n${later}${known}`),
    );
  });
  afterEach(() => pod.remove());

  const play = (story: string): string[] =>
    pod.play(`${prelude}\n${story}`, { IDENTITY_FILE: `${pod.directory}/own`, POD_IP: n1 });

  // A node and a sentinel are two pods.
  const probes = `for p in ping watching; do rm -f run/confined; /bin/sh "$CONFIG_DIR/$p.sh" > /dev/null 2>&1 || echo "$p fails"; done`;
  const keys = `ask ${n1} mget ours theirs`;

  it('makes no primary its replica, and no sentinel goes over to its primary', () => {
    // It would have had the node follow after eight seconds.
    expect(play(`${probes}\nstart s9 --sentinel\nsleep 16\n${probes}\nrole ${n1}; ${keys}; names ${s1}`)).toEqual([
      'master',
      '1',
      `${n1} 6379`,
    ]);
  });

  it('elects no server from elsewhere that copies from it, where its priority is 0', () => {
    // Sentinel takes the smaller id where two replicas have as much.
    const story = `
${probes}
id() { ask "$1" info server | tr -d '\\r' | tr ' ' '\\n' | grep run_id; }
both() { until [ -n "$(id ${n8})" ] && [ -n "$(id ${n2})" ]; do sleep 0.05; done; }
start n8 ''; both
while expr "$(id ${n8})" '>' "$(id ${n2})" > /dev/null; do kill -9 $(cat n8.pid n2.pid); wait $(cat n8.pid n2.pid) 2> /dev/null; start n8 ''; start n2 ''; both; done
ask ${s1} -p 26379 sentinel debug info-period 500 > /dev/null; sleep 8
until [ "$(ask ${s1} -p 26379 sentinel replicas db | grep -oE 'flags slave link|master-link-status ok' | wc -l)" = 4 ]; do sleep 0.1; done
ask ${s1} -p 26379 sentinel failover db; until case "$(names ${s1})" in "${n2} "* | "${n8} "*) ;; *) false ;; esac; do sleep 0.1; done; names ${s1}
`;
    expect(play(story)).toEqual(['OK', `${n2} 6379`]);
  });

  it('and clients, hand-overs and failovers go on', () => {
    const story = `
${probes}
ask ${n1} replicaof ${n9} 6379; ask ${n1} failover
ask ${n1} publish __sentinel__:hello x; ask ${s1} -p 26379 publish __sentinel__:hello x
ask ${n1} publish news x; ask ${n1} publish _ x; ask ${n1} publish __sentinel x; ask ${n1} psubscribe 'ne*' > sub & until ask ${n1} publish news x | grep 1; do sleep 0.1; done
ask ${n1} eval "return redis.call('publish', 'news', 'x')" 0; ask ${n1} config set maxclients 500
run 'replicate_from ${n2} 6379'; role ${n1}
run 'replicate_from no one'; role ${n1}
until ask ${n1} info | grep -q 'slave0:ip=${n2},port=6379,state=online'; do sleep 0.1; done
ask ${s1} -p 26379 sentinel failover db
until [ "$(role ${n2})" = master ] && [ "$(role ${n1})" = slave ]; do sleep 0.1; done; names ${s1}
`;
    const refused = (what: string) => expect.stringMatching(new RegExp(`^NOPERM .*${what}`, 'i'));
    expect(play(story)).toEqual([
      ...[refused('replicaof'), refused('failover'), refused('channel'), refused('publish')],
      ...['0', '0', '0', '1', '1', 'OK'],
      ...['OK', 'slave', 'OK', 'master', 'OK', `${n2} 6379`],
    ]);
  });
});
