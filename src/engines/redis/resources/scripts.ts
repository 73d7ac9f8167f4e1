/**
 * The shell that runs inside the pods: what must work while the operator is away.
 *
 * The texts are constants. Whatever differs between clusters comes in as an environment variable or a mounted file and
 * is quoted where it is used, so nothing of a custom resource is ever parsed as shell. They need a POSIX shell, awk,
 * timeout and redis-cli: all present in the official images and in Debian's.
 *
 * The one rule behind them: **a node that starts never makes itself primary while anybody else could hold more data.**
 * It asks the sentinels and follows, unless they may be about to elect another, and until they know it leaves again when
 * they may; a restarted primary asks them to fail over and comes back as a replica.
 */

import { library } from './library-script.ts';
import { volume } from './volume-script.ts';

/**
 * Entry point of a data node. Decides the role before the server runs.
 *
 * The server takes the last line that it reads of a directive. So those that decide what it loads and where it keeps it
 * follow the included file, whatever somebody has made of that: without `appendonly` a server starts empty and writes
 * over what the volume holds; with fewer databases than its data has, it puts the keys of one into another. The names of
 * the append-only file are those that a restore gives its own (`engines/redis/agent/volume.ts`). The number of databases is the
 * only one of them that a user sets, and comes with the pod; a volume that was used with more keeps them.
 */
const startData = `#!/bin/sh
set -eu
# The first process of a container ignores SIGTERM unless it says otherwise.
trap 'exit 143' TERM
. "$CONFIG_DIR/library.sh"
conf=/run/redis/redis.conf
keep_password
rm -f /run/redis/loading /run/redis/confined
. "$CONFIG_DIR/volume.sh"
judge_volume
blank=yes
[ ! -e /data/initialised ] || blank=no

follow="127.0.0.1 1"
# No list is not an empty one: without it the node does not start.
watchers=$(sentinels)
if [ -z "$watchers" ]; then
  # A blank volume may be one that was lost: only the operator can tell, from the claim and the status.
  if [ "$blank" = no ] || [ -s "$CONFIG_DIR/ephemeral" ]; then follow=""; fi
else
  tries=0
  refused=0
  informed=
  while :; do
    set -- $(named_primary)
    primary=\${1:-}
    if [ -z "$primary" ]; then
      # A node with data waits a little for sentinels that are just out of reach; a blank one has nothing to lose.
      tries=$((tries + 1))
      if [ "$blank" = yes ] || [ "$tries" -ge 5 ]; then break; fi
      sleep 1
    elif [ "$primary" != "$POD_IP" ]; then
      # Otherwise it runs and follows nobody, electable where it has data: the startup probe asks again every second.
      [ "$3" != safe ] || was_here "$primary" || follow="$primary 6379"
      break
    else
      # The sentinels still call this address primary: the process died and came back. A replica takes over, since it
      # may hold acknowledged writes that this disk does not: the one that holds the most.
      if [ "$informed" != "$2" ]; then
        inform "$2" 50 || true
        informed=$2
      fi
      answer=$(sentinel_cli "$2" sentinel failover "$CLUSTER_NAME" || true)
      case $answer in
        *NOGOODSLAVE*)
          refused=$((refused + 1))
          known=$(known_replicas)
          if [ "$known" = 0 ] || [ "$refused" -ge 50 ]; then
            # Another node that had this address is meant where this one held its data elsewhere: that one may have more. On a blank
            # volume it takes no writes, and runs: otherwise nobody could tell why there is no primary.
            if [ "$blank" = no ] && [ "$(cat /data/initialised)" = "$POD_IP" ]; then follow=""; fi
            break
          fi
          ;;
      esac
      sleep 0.2
    fi
  done
fi

# It joins a primary that lives, and holds less than that.
case $follow in '' | '127.0.0.1 1') ;; *) [ "$blank" = yes ] || uptime_ms > "$behind" ;; esac
[ -n "$follow" ] || rm -f "$behind"
priority=100
[ "$blank" = no ] && [ ! -e "$behind" ] || priority=0
escaped=$(printf '%s' "$password" | sed 's/[\\\\"]/\\\\&/g')
{
  printf 'include %s/redis.conf\\n' "$CONFIG_DIR"
  printf 'dir /data\\nappendonly yes\\nappenddirname appendonlydir\\nappendfilename appendonly.aof\\n'
  # A pod that was made before it was told has what the file says.
  [ "$(most_databases)" = 0 ] || printf 'databases %s\\n' "$(most_databases)"
  printf 'requirepass "%s"\\n' "$escaped"
  if [ -n "$identity_password" ]; then
    identity_rule
    printf 'masteruser %s\\nmasterauth %s\\n' "$identity" "$identity_password"
  else
    printf 'masterauth "%s"\\n' "$escaped"
  fi
  printf 'replica-announce-ip %s\\n' "$POD_IP"
  printf 'replica-priority %s\\n' "$priority"
  [ -z "$(read_term)" ] || printf '%s %s\\n' "$carrier" "$(read_term)"
  [ -z "$follow" ] || printf 'replicaof %s\\n' "$follow"
} > "$conf"
unset REDISCLI_AUTH password escaped identity_password
exec redis-server "$conf"
`;

/**
 * Startup probe of a data node: marks the volume with its address once it holds the dataset, and admits the node once the
 * sentinels know it, too. Until then it is in no Service, and a blank node has priority 0, so that no election can make it primary.
 *
 * A sentinel learns of a replica from the primary, every two seconds, and elects another primary after three seconds of
 * silence at the earliest. What a node acknowledges that no sentinel knows is lost with the primary that is replaced: it
 * would stay with that one, and take its writes when it goes on. So such a node stays only as long as it would be safe to
 * join. A node that follows nobody, or a dead address, asks the sentinels again here.
 */
const admit = `#!/bin/sh
set -eu
. "$CONFIG_DIR/library.sh"
. "$CONFIG_DIR/volume.sh"
look
confine_clients || true
# A copy is on the disk once the append-only file holds it: killed before, the node would not have what it acknowledged.
kept=no
if settle_mark; then kept=yes; fi
settle_term
# Where the mark was given just now, this has been said.
electable() { [ "$kept:$stale" = yes:yes ] || local_cli config set replica-priority 100 > /dev/null; }
case "$(field role):$(field master_link_status)" in
  master:*) electable ;;
  slave:up)
    [ "$kept" = no ] || electable
    set -- $(named_primary)
    if [ "\${1:-}" = "$POD_IP" ]; then exit 1; fi
    follow=127.0.0.1
    port=1
    if [ "\${3:-}" = safe ]; then
      follow=$1
      port=6379
    fi
    if [ "$follow" != "$(field master_host)" ]; then
      # It may have been promoted since it was asked.
      case $(local_cli role) in slave*) replicate_from "$follow" "$port" > /dev/null ;; esac
      exit 1
    fi
    [ "$kept" = yes ] || exit 1
    shift 3
    for s; do is_known_to "$s" || exit 1; done
    ;;
  slave:*)
    if [ "$(field master_sync_in_progress)" = 0 ]; then
      set -- $(named_primary)
      if [ "\${3:-}" = safe ] && [ "$1" != "$POD_IP" ] && ! was_here "$1"; then
        [ "$stale" = yes ] || fall_behind
        [ "$1" = "$(field master_host)" ] || replicate_from "$1" 6379 > /dev/null
      fi
    fi
    exit 1
    ;;
  *) exit 1 ;;
esac
`;

/**
 * Readiness of a data node: the process answers and has loaded its data. Whether it has, only one who may ask is told. A node
 * that refuses its own pod (another password was set by hand, as many clients as it takes) stays as it was: it is no
 * less of use to clients than before, and all nodes of a cluster tend to refuse at once.
 */
const ping = `#!/bin/sh
set -eu
. "$CONFIG_DIR/library.sh"
# Whatever the volume says, it is no matter of readiness.
(. "$CONFIG_DIR/volume.sh" && look && { settle_mark || true; settle_term; }) || true
confine_clients || true
answer=$(timeout 2 redis-cli -p 6379 ping 2>&1) || true
case $answer in
  '' | *'Could not connect'*) exit 1 ;;
  *NOAUTH* | *'AUTH failed'* | *'max number of clients'* | Error:*) [ ! -e /run/redis/loading ] ;;
  LOADING* | MASTERDOWN*)
    : > /run/redis/loading
    exit 1
    ;;
  *) rm -f /run/redis/loading ;;
esac
`;

/** Liveness of a server: any reply is life, also a refusal. So it needs no password, and nothing that could be wrong. */
const answers = (port: 6379 | 26379): string => `#!/bin/sh
set -eu
answer=$(timeout 2 redis-cli -p ${port} ping 2>&1) || true
case $answer in '' | *'Could not connect'*) exit 1 ;; esac
`;

const alive = answers(6379);

/**
 * preStop of a data node: a primary hands its role over before the server gets SIGTERM. Writes are paused, so that
 * nothing can be acknowledged by the old primary that the new one has not got; then Sentinel is asked, and this node
 * follows whom Sentinel promoted. Bounded at about 10 s in all; when it cannot, it gives up and leaves the rest to
 * the ordinary failover. Whatever its role, a server that has just copied the dataset gets up to 20 s more to write it.
 */
const handOver = `#!/bin/sh
set -eu
. "$CONFIG_DIR/library.sh"
# SIGTERM comes once, and a server whose append-only file does not hold the copied dataset yet refuses it for good.
until_written() {
  # Where somebody has set times for snapshots, a server that is stopped saves one, which looks like a copy that was not written down.
  local_cli config set save '' > /dev/null || true
  tries=0
  while [ "$tries" -lt 20 ]; do
    case $(local_cli info persistence) in *aof_rewrite_in_progress:1* | *aof_rewrite_scheduled:1*) ;; *) break ;; esac
    tries=$((tries + 1))
    sleep 1
  done
}
trap until_written EXIT
[ -n "$(sentinels)" ] || exit 0
info=$(local_cli info replication | tr -d '\\r')
case $info in *role:master*) ;; *) exit 0 ;; esac
peers=$(printf '%s\\n' "$info" | awk -F'[=,]' '/^slave[0-9]+:/ && /state=online/ { print $2 }')
[ -n "$peers" ] || exit 0
set -- $(named_primary)
[ "\${1:-}" = "$POD_IP" ] || exit 0
sentinel=$2

paused_at=$(uptime_ms)
local_cli client pause 10000 write > /dev/null
give_up=$(($(date +%s) + 8))
in_time() { [ "$(date +%s)" -lt "$give_up" ]; }
# Seconds count whole: between two and three of them.
caught_up_by=$(($(date +%s) + 3))
resume() { local_cli client unpause > /dev/null; exit 0; }
target=$(local_cli info replication | tr -d '\\r' | awk -F: '/^master_repl_offset:/ { print $2 }')
while :; do
  ahead=
  behind=
  for p in $peers; do
    got=$(node_cli "$p" info replication | tr -d '\\r' | awk -F: '/^slave_repl_offset:/ { print $2 }')
    if [ -n "$got" ] && [ "$got" -ge "$target" ]; then ahead="$ahead $p"; else behind="$behind $p"; fi
  done
  [ -n "$behind" ] || break
  [ "$(date +%s)" -lt "$caught_up_by" ] || break
  sleep 0.1
done
# Sentinel goes by what it last heard: it might elect one that lacks something, or that did not answer just now.
[ -n "$ahead" ] && [ -z "$behind" ] || resume
inform "$sentinel" 10 || resume
# A paused server does not answer its sentinels: another may begin a failover of its own, and two nodes would take writes.
[ "$(($(uptime_ms) - paused_at))" -lt "$(cat "$CONFIG_DIR/ask-within-ms")" ] || resume
case $(sentinel_cli "$sentinel" sentinel failover "$CLUSTER_NAME" || true) in OK* | INPROG* | '') ;; *) resume ;; esac

promoted=
while [ -z "$promoted" ]; do
  answers=0
  for p in $ahead; do
    role=$(node_cli "$p" role | head -n 1 | tr -d '\\r')
    [ -z "$role" ] || answers=$((answers + 1))
    [ "$role" != master ] || promoted=$p
  done
  # Sentinel was asked: a replica may take writes by now. The pause lasts until the server stops.
  [ "$answers" -gt 0 ] && in_time || exit 0
  [ -n "$promoted" ] || sleep 0.05
done
# Where it does not follow, the pause lasts: its writes would be lost.
case $(replicate_from "$promoted" 6379) in OK*) ;; *) exit 0 ;; esac
local_cli client unpause > /dev/null
# Stay until the new primary has another replica: alone, it would refuse writes.
tries=0
while [ "$tries" -lt 30 ] && in_time; do
  others=$(node_cli "$promoted" info replication | tr -d '\\r' |
    awk -F'[=,]' -v me="$POD_IP" '/^slave[0-9]+:/ && /state=online/ && $2 != me { n++ } END { print n + 0 }')
  [ "$others" = 0 ] || exit 0
  tries=$((tries + 1))
  sleep 0.1
done
exit 0
`;

/**
 * Entry point of a sentinel. Its identity comes from its pod's name, so a sentinel that returns with another address
 * replaces itself in its peers' lists instead of adding a voter. A fresh one learns the primary from its peers; when
 * none knows, it starts without and the operator tells it.
 */
const startSentinel = `#!/bin/sh
set -eu
trap 'exit 143' TERM
. "$CONFIG_DIR/library.sh"
conf=/run/redis/sentinel.conf
keep_password
rm -f /run/redis/watching /run/redis/confined
escaped=$(printf '%s' "$password" | sed 's/[\\\\"]/\\\\&/g')
passwords() {
  printf 'requirepass "%s"\\n' "$escaped"
  if [ -n "$identity_password" ]; then
    identity_rule
    printf 'sentinel sentinel-user %s\\nsentinel sentinel-pass %s\\n' "$identity" "$identity_password"
  else
    printf 'sentinel sentinel-pass "%s"\\n' "$escaped"
  fi
}
login() {
  if [ -n "$identity_password" ]; then
    printf 'sentinel auth-user %s %s\\n' "$CLUSTER_NAME" "$identity"
    printf 'sentinel auth-pass %s %s\\n' "$CLUSTER_NAME" "$identity_password"
  else
    printf 'sentinel auth-pass %s "%s"\\n' "$CLUSTER_NAME" "$escaped"
  fi
}
if [ ! -s "$conf" ]; then
  set -- $(named_primary)
  {
    printf 'port 26379\\ndir /tmp\\nprotected-mode no\\n'
    printf 'sentinel myid %s\\n' "$(printf '%s' "$POD_NAMESPACE/$POD_NAME" | sha1sum | cut -c1-40)"
    printf 'sentinel announce-ip %s\\n' "$POD_IP"
    passwords
    if [ -n "\${1:-}" ]; then
      printf 'sentinel monitor %s %s 6379 %s\\n' "$CLUSTER_NAME" "$1" "$(cat "$CONFIG_DIR/quorum")"
      login
      cat "$CONFIG_DIR/sentinel.conf"
    fi
  } > "$conf.new"
  mv "$conf.new" "$conf"
else
  # The same pod, perhaps with another address, as after a node's reboot. Sentinel rewrites passwords without quotes, and
  # would not read back one with a blank in it; users it may have written twice; what it has written of the default user
  # would override requirepass. The identity that it was told while it ran is kept as it is, where the pod has none.
  told=no
  if [ -z "$identity_password" ] && grep -q '^sentinel auth-user ' "$conf"; then told=yes; fi
  {
    grep -v -e '^user ' -e '^requirepass ' -e '^sentinel sentinel-' -e '^sentinel auth-' -e '^sentinel announce-ip ' "$conf"
    printf 'sentinel announce-ip %s\\n' "$POD_IP"
    passwords
    if [ "$told" = yes ]; then
      grep -e '^sentinel auth-' "$conf"
      grep -m 1 -e "^user $identity " "$conf" || true
    elif grep -q '^sentinel monitor ' "$conf"; then
      login
    fi
  } > "$conf.new"
  mv "$conf.new" "$conf"
fi
unset REDISCLI_AUTH password escaped identity_password
exec redis-server "$conf" --sentinel
`;

/**
 * Readiness of a sentinel: it watches a primary. One that refuses its own pod stays as it was. It also has it ask the nodes
 * every two seconds or sooner (`timing.ts`) instead of ten what they know, which is no directive: a replica that no sentinel
 * has heard of is not admitted.
 */
const watching = `#!/bin/sh
set -eu
. "$CONFIG_DIR/library.sh"
timeout 2 redis-cli -p 26379 sentinel debug info-period "$(cat "$CONFIG_DIR/info-period-ms")" > /dev/null 2>&1 || true
confine_sentinel_clients || true
answer=$(timeout 2 redis-cli -p 26379 sentinel get-master-addr-by-name "$CLUSTER_NAME" 2>&1) || true
case $answer in
  *NOAUTH* | *'AUTH failed'* | *'max number of clients'* | Error:*) [ -e /run/redis/watching ] ;;
  # An address of version 4 or 6.
  [0-9a-f]*[.:]*) : > /run/redis/watching ;;
  *)
    rm -f /run/redis/watching
    exit 1
    ;;
esac
`;

const sentinelAlive = answers(26379);

/** File name in the ConfigMap to text. */
export const scripts = {
  'library.sh': library,
  'volume.sh': volume,
  'start-data.sh': startData,
  'admit.sh': admit,
  'ping.sh': ping,
  'alive.sh': alive,
  'hand-over.sh': handOver,
  'start-sentinel.sh': startSentinel,
  'watching.sh': watching,
  'sentinel-alive.sh': sentinelAlive,
} as const;

export type ScriptName = keyof typeof scripts;
