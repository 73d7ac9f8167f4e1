/** Made of the scripts of this folder by `npm run build`. */
export const texts = {
  'admit-shard.sh': `#!/bin/sh
set -eu
. "$CONFIG_DIR/library.sh"
settle_password 6379 || true
. "$CONFIG_DIR/volume.sh"
. "$CONFIG_DIR/shard.sh"
consume_restored || true
look
kept=no
if settle_mark; then kept=yes; fi
settle_eligibility "$kept" || true
find_peers || true
find_primary || true
case "$(field loading):$(field role):$(field master_link_status)" in
  # A new shard gets its slots once its nodes are ready.
  0:master:*)
    owns_slots || case $(own_cli cluster info) in *cluster_state:ok*) ;; *) exit 1 ;; esac
    restore_users ""
    ;;
  0:slave:up)
    [ "$kept" = yes ] || exit 1
    restore_users "$(field master_host)"
    ;;
  *) exit 1 ;;
esac
`,
  'admit.sh': `#!/bin/sh
set -eu
. "$CONFIG_DIR/library.sh"
settle_password 6379 || true
. "$CONFIG_DIR/volume.sh"
look
# An import may take longer than the kubelet waits.
if is_importing; then exit 0; fi
confine_clients || true
# A copy is on the disk once the append-only file holds it: killed before, the node would not have what it acknowledged.
kept=no
if settle_mark; then kept=yes; fi
settle_term
# Where the mark was given just now, this has been said.
electable() { [ "$kept:$stale" = yes:yes ] || local_cli config set replica-priority 100 > /dev/null; }
case "$(field role):$(field master_link_status)" in
  master:*)
    restore_users "" || exit 1
    electable
    ;;
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
    restore_users "$follow" || exit 1
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
`,
  'alive.sh': `#!/bin/sh
set -eu
answer=$(timeout 2 "\${SERVER:-redis}-cli" -p 6379 ping 2>&1) || true
case $answer in '' | *'Could not connect'*) exit 1 ;; esac
`,
  'exporter.sh': `#!/bin/sh
# Runs redis_exporter beside a server, and again when it ends. This shell goes on meanwhile: a container that ends makes its pod unready,
# and the Services would leave out a server that is well.
set -u
umask 077
program=$(command -v redis_exporter || command -v prometheus-redis-exporter || echo /redis_exporter)
passwords=/run/exporter/passwords.json
# As redis_exporter writes the user into an address.
user=$(printf '%s' "$IDENTITY" | sed 's|/|%2F|g')
exporter=
pause=
password=
# Without a line there is no password, and one that is not of these characters is not one that the operator has made.
current() {
  read -r password < "$IDENTITY_FILE" || :
  case $password in *[!A-Za-z0-9+/=_.-]*) password= ;; esac
}
# Its runtime collects garbage before it reaches the limit of the container, which is not in the environment: a limit may change in place.
spare_memory() {
  limit=
  { read -r limit < /sys/fs/cgroup/memory.max; } 2> /dev/null
  case $limit in
    '' | *[!0-9]*) unset GOMEMLIMIT ;;
    *) export GOMEMLIMIT="$((limit * 8 / 10))" ;;
  esac
}
# Of files and connections. Each connection may hold a megabyte of headers, and an exporter beyond its memory limit makes the pod unready:
# strangers must not be able to do that. About twelve can be served at a time, others wait.
# shellcheck disable=SC3045 # Not in POSIX; dash, busybox and bash have it.
ulimit -n 20
trap 'kill $exporter $pause 2> /dev/null; exit 0' TERM INT
while :; do
  password=
  current
  used=$password
  # For this address and user alone, so nothing else is ever told the password.
  printf '{"redis://%s@127.0.0.1:%s":"%s"}\\n' "$user" "$REDIS_PORT" "$used" > "$passwords"
  spare_memory
  # Without the last, whoever reaches the port could have it ask another address, or read names of keys.
  "$program" --web.listen-address=":$METRICS_PORT" --redis.addr="redis://127.0.0.1:$REDIS_PORT" \\
    --redis.user="$IDENTITY" --redis.password-file="$passwords" --connection-timeout=5s --disable-scrape-endpoint &
  exporter=$!
  # The kubelet changes the mounted file when the Secret changes.
  while :; do
    sleep 5 &
    pause=$!
    wait "$pause"
    kill -0 "$exporter" 2> /dev/null || break
    current
    if [ "$password" != "$used" ]; then
      kill "$exporter"
      break
    fi
  done
  wait "$exporter"
  echo "redis_exporter has ended with code $? and starts again" >&2
done
`,
  'fence-loop.sh': `#!/bin/sh
set -eu
# Looks again and again while the server runs. $1: the id of the server's process.
uptime_now() { read -r UP _ < /proc/uptime && now="\${UP%.*}\${UP#*.}0"; }
loop=/run/redis/fence-loop
# The last one to begin is the one that goes on.
printf '%s 0\\n' $$ > "$loop"
# A session with the server, which the looks share: a server whose clients use all of its connections accepts no other. A new session has new
# pipes, so that it runs nothing that was meant for the one before. It ends with the loop, which alone holds the other ends.
session=
start_session() {
  rm -f "$loop.asked" "$loop.told"
  mkfifo -m 600 "$loop.asked" "$loop.told"
  exec 3<> "$loop.asked" 4<> "$loop.told"
  rm -f "$loop.asked" "$loop.told"
  (
    . "$CONFIG_DIR/library.sh"
    if [ -n "$identity_password" ]; then
      export REDISCLI_AUTH="$identity_password"
      exec "$cli" -p 6379 --user "$identity"
    fi
    exec "$cli" -p 6379
  ) < /proc/$$/fd/3 > /proc/$$/fd/4 2> /dev/null 3>&- 4>&- &
  session=$!
}
while kill -0 "$1" 2> /dev/null && read -r own _ < "$loop" && [ "$own" = $$ ]; do
  uptime_now
  began=$now
  printf '%s %s\\n' $$ "$began" > "$loop"
  if [ -z "$session" ] || ! kill -0 "$session" 2> /dev/null; then start_session; fi
  pause=2000
  FENCE_LOOP=$$ FENCE_SESSION=$session /bin/sh "$CONFIG_DIR/fence.sh" || pause=1000
  uptime_now
  rest=$((began + pause - now))
  [ "$rest" -ge 100 ] || rest=100
  sleep "$((rest / 1000)).$(printf '%03d' $((rest % 1000)))"
done
`,
  'fence.sh': `#!/bin/sh
set -eu
# One look. Fails where the loop has to look again soon.
uptime_now() { read -r UP _ < /proc/uptime && now="\${UP%.*}\${UP#*.}0"; }
loop=/run/redis/fence-loop
. "$CONFIG_DIR/library.sh"
# More replicas than there can be: the server answers every write with NOREPLICAS.
closed=1000000
# What the directive was before.
fenced=/run/redis/fenced
# When this primary last reached who has to be reached, and that most sentinels have named it since it is primary.
reached=/run/redis/reached
named=/run/redis/named
# That most of them have named another since: a replica that acknowledges is no reason to take writes then.
replaced=/run/redis/replaced
# The addresses of those that copy from it and that most sentinels know as replicas, in one line.
replicas=/run/redis/replicas
# That this pod has had to do with sentinels that watch a primary. Before, as where a single node gets its first ones, nobody can elect another.
watched=/run/redis/watched
# In the session of the loop, if it answers within 2 s, and otherwise on another connection. An answer that comes later is not within the marks of the
# next question. A session that does not answer where another connection does is of no use: the loop starts a new one.
# Where clients use all connections, the server refuses another one, and the session stays.
ask_server() {
  if [ -z "\${FENCE_SESSION:-}" ] || ! kill -0 "$FENCE_SESSION" 2> /dev/null; then
    local_cli "$@"
    return
  fi
  read -r mark < /proc/sys/kernel/random/uuid
  printf 'echo "<%s"\\n%s\\necho ">%s"\\n' "$mark" "$*" "$mark" >&3
  answer=$(timeout 2 sed -n "/^<$mark/,/^>$mark/{/^<$mark/d;/^>$mark/q;p;}" <&4) || answer=
  if [ -z "$answer" ]; then
    answer=$(local_cli "$@") || return 1
    kill "$FENCE_SESSION" 2> /dev/null || true
  fi
  printf '%s\\n' "$answer"
}
required() { ask_server config get min-replicas-to-write | tail -n 1 | tr -d '\\r'; }
# Another loop may have begun while this look took its time: then that one decides.
is_current() { [ -z "\${FENCE_LOOP:-}" ] || { read -r current _ < "$loop" && [ "$current" = "$FENCE_LOOP" ]; } 2> /dev/null; }
require() {
  is_current || return 1
  case $(ask_server config set min-replicas-to-write "$1") in OK*) ;; *) return 1 ;; esac
}
fence() {
  has=$(required)
  case $has in '' | *[!0-9]* | "$closed") return 0 ;; esac
  printf '%s\\n' "$has" > "$fenced.new"
  mv -f "$fenced.new" "$fenced"
  if require "$closed"; then echo "fence: takes no writes: $1" >&2; fi
}
# The server itself says whether it is fenced: the note of what was before may be lost. Then the configuration of the pod counts.
lift() {
  case $(required) in
    "$closed") ;;
    '' | *[!0-9]*) return 0 ;;
    *)
      rm -f "$fenced"
      return 0
      ;;
  esac
  before=$(cat "$fenced" 2> /dev/null) || before=
  case $before in
    '' | *[!0-9]* | "$closed")
      before=$(awk '$1 == "min-replicas-to-write" { n = $2 } END { print n + 0 }' "$CONFIG_DIR/redis.conf" 2> /dev/null) || before=0
      ;;
  esac
  if require "$before"; then
    rm -f "$fenced"
    echo "fence: lifted" >&2
  fi
}
reach() {
  [ "$1" -gt "$since" ] || return 0
  since=$1
  printf '%s\\n' "$since" > "$reached.new"
  mv -f "$reached.new" "$reached"
}
# Who is online and was known stays known; of others the sentinels are asked. They do not list a server that is not announced, and have reached
# the one that they list as up. One that just appears has no run id yet, and they do not know whether it is announced.
learn_replicas() {
  copying=$(printf '%s\\n' "$online" | cut -d ' ' -f 1 | sort -u | tr '\\n' ' ')
  [ "$copying" != "$own " ] || return 0
  known=$({ for s in $(sentinels); do
    { sentinel_cli "$s" sentinel replicas "$CLUSTER_NAME" | tr -d '\\r' | awk '
      NR % 2 { name = $0; next }
      { v[name] = $0 }
      name == "flags" && v["port"] == 6379 && v["runid"] != "" && !/down|disconnected/ && !seen[v["ip"]]++ { print v["ip"] }'; } &
  done; wait; } | sort | uniq -c | awk -v majority="$majority" '$1 >= majority { printf "%s ", $2 }')
  own=$(printf '%s\\n' "$copying" | awk -v own=" $own $known" '
    { for (i = 1; i <= NF; i++) if (index(own, " " $i " ")) { printf "%s%s", (n++ ? " " : ""), $i } }')
  printf '%s\\n' "$own" > "$replicas.new"
  mv -f "$replicas.new" "$replicas"
}
mode=Off
after=0
read -r mode after < "$CONFIG_DIR/fence" || true
info=$(ask_server info replication | tr -d '\\r')
case $mode:$info in
  Off:* | *role:slave*)
    rm -f "$reached" "$named" "$replaced" "$replicas"
    # Sentinels do not watch the copy of a server elsewhere.
    case $info in *replica_announced:0*) ;; *master_link_status:up*) : > "$watched" ;; esac
    lift
    exit 0
    ;;
  *role:master*) ;;
  *) exit 1 ;;
esac
uptime_now
looked=$now
since=0
kept=$(cat "$reached" 2> /dev/null) || kept=
case $kept in '' | *[!0-9]*) kept=$looked ;; esac
reach "$kept"
# "ADDRESS SECONDS" of those that copy from it: the seconds since it has acknowledged last. Nobody else's acknowledgements count in mode Strict.
online=
[ "$mode" = Strict ] || online=$(printf '%s\\n' "$info" | awk '
  /^slave[0-9]+:/ && /,port=6379,/ && /,state=online,/ && match($0, /ip=[^,]+/) {
    ip = substr($0, RSTART + 3, RLENGTH - 3)
    if (match($0, /lag=[0-9]+/)) print ip, substr($0, RSTART + 4, RLENGTH - 4)
  }')
# A server of somebody else may copy from it, too, and is no other side of a cut. Once most sentinels name another, replicas do not count.
own=$(cat "$replicas" 2> /dev/null) || own=
lag=
[ -e "$replaced" ] || lag=$(printf '%s\\n' "$online" | awk -v own=" $own " '
  NF && index(own, " " $1 " ") && (least == "" || $2 + 0 < least) { least = $2 + 0 }
  END { print least }')
acknowledges=no
if [ -n "$lag" ]; then
  # The server counts whole seconds, so that it may say one more than it is.
  reach $((looked - (lag > 0 ? lag - 1 : 0) * 1000))
  [ "$lag" -gt 2 ] || acknowledges=yes
fi
# All sentinels at once, in each look: most of them may name another while a replica still acknowledges. A sentinel that has just begun knows
# nobody. It is within reach, but it is no reason to take writes again. One that leads a failover reports the former address until the
# other replicas follow the new primary, also after it has promoted that one: it is not counted.
set -- $(sentinels)
majority=$(($# / 2 + 1))
set -- $(
  { for s; do
    { sentinel_cli "$s" sentinel master "$CLUSTER_NAME" | tr -d '\\r' | awk -v me="$POD_IP" '
      /No such master/ { print "nobody" }
      NR % 2 { name = $0; next }
      { v[name] = $0 }
      END { if (v["ip"] != "" && v["flags"] !~ /failover/) print v["ip"] == me ? "me" : "other" }'; } &
  done; wait; } | awk '{ n[$1]++ } END { print n["me"] + 0, n["nobody"] + 0, n["other"] + 0 }'
)
if [ "$1" -ge "$majority" ]; then
  : > "$named"
  : > "$watched"
  rm -f "$replaced"
  reach "$looked"
  lift
  learn_replicas
  [ $acknowledges = no ] || exit 0
  exit 1
elif [ "$3" -ge "$majority" ] && [ -e "$named" ]; then
  : > "$replaced"
  fence "most sentinels name another primary"
  exit 1
elif [ $acknowledges = yes ]; then
  lift
  exit 1
elif [ "$(($1 + $2))" -ge "$majority" ] && [ ! -e "$fenced" ]; then
  reach "$looked"
  exit 1
fi
uptime_now
[ "$((now - since))" -lt "$after" ] || [ ! -e "$watched" ] || fence "it has reached neither most sentinels nor a replica for $after ms"
exit 1
`,
  'hand-over-shard.sh': `#!/bin/sh
set -eu
. "$CONFIG_DIR/library.sh"
settle_password 6379 || true
. "$CONFIG_DIR/volume.sh"
. "$CONFIG_DIR/shard.sh"
# SIGTERM comes once, and a server whose append-only file does not hold the copied dataset yet refuses it for good. One that somebody has told not
# to write at all would end as if it had: the mark goes, and it writes first.
until_written() {
  local_cli config set save '' > /dev/null || true
  look
  settle_mark || true
  tries=0
  while [ "$tries" -lt 20 ]; do
    case $(local_cli info persistence) in *aof_rewrite_in_progress:1* | *aof_rewrite_scheduled:1*) ;; *) break ;; esac
    tries=$((tries + 1))
    sleep 1
  done
  look
  settle_mark || true
  # A name changes on a full volume, too.
  if [ "$(field aof_last_write_status)" = err ]; then mv -f "$running" "$unwritten" || true; fi
}
trap until_written EXIT
give_up=$(($(date +%s) + 10))
role() { own_cli role | head -n 1 | tr -d '\\r'; }
[ "$(role)" = master ] && owns_slots || exit 0
# Servers of Redis do not tell their replicas which slots are open: keys of these that have moved would read as missing. The operator finishes them.
tries=0
while [ "$tries" -lt 30 ] && own_line | grep -q '\\['; do
  tries=$((tries + 1))
  sleep 0.1
done
# Whether this replica would still have on its next start what it has copied, as its pod has decided. A failover by hand asks for neither that nor priority.
may_lead() {
  case $(peer_cli "$1" config get cluster-replica-no-failover | tail -n 1 | tr -d '\\r') in no) ;; *) return 1 ;; esac
  peer_cli "$1" info | tr -d '\\r' | awk -F: '
    { told[$1] = $2 }
    END {
      exit !(told["master_link_status"] == "up" && told["slave_priority"] + 0 > 0 && told["aof_enabled"] == "1" &&
        told["aof_rewrite_in_progress"] == "0" && told["aof_rewrite_scheduled"] == "0")
    }'
}
# Those that have the most come first. The replica has this server pause its writes until it has everything.
for p in $(own_cli info replication | tr -d '\\r' | awk -F'[=,]' '/^slave[0-9]+:/ && /state=online/ { print $8, $2 }' | sort -rn | cut -d ' ' -f 2); do
  [ "$(date +%s)" -lt "$give_up" ] || break
  may_lead "$p" || continue
  case $(peer_cli "$p" cluster failover) in OK*) ;; *) continue ;; esac
  tries=0
  while [ "$tries" -lt 60 ] && [ "$(date +%s)" -lt "$give_up" ]; do
    [ "$(role)" != slave ] || exit 0
    tries=$((tries + 1))
    sleep 0.1
  done
done
exit 0
`,
  'hand-over.sh': `#!/bin/sh
set -eu
. "$CONFIG_DIR/library.sh"
settle_password 6379 || true
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
    told=$(node_cli "$p" info replication | tr -d '\\r')
    # Servers elsewhere copy from this one, too. One that lets nobody in, or has priority 0, is not elected: nobody waits for it. A node of the
    # cluster with priority 0 may get another just now.
    case $told in
      NOAUTH* | WRONGPASS* | NOPERM*) continue ;;
      *slave_priority:0*) [ "$(node_cli "$p" config get masteruser | tail -n 1 | tr -d '\\r')" = "$identity" ] || continue ;;
    esac
    got=$(printf '%s\\n' "$told" | awk -F: '/^slave_repl_offset:/ { print $2 }')
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
`,
  'library.sh': `# Of the engine: a pod of Redis is not told. While a cluster changes over, pods of both have these scripts.
cli="\${SERVER:-redis}-cli"
# The password with which this pod logs in: that of its start, until the server knows another. The kubelet changes the mounted
# file under a server that runs, and the server does not take notice. A pod that was made before there was such a file has it
# in its configuration; what the server itself has written there may hold escapes, which are left alone.
if [ -s /run/redis/password ]; then
  password=$(head -n 1 /run/redis/password)
else
  password=$(head -n 1 "$AUTH_FILE")
  started_with=$(sed -n 's/^requirepass "\\(.*\\)"$/\\1/p' /run/redis/redis.conf /run/redis/sentinel.conf 2> /dev/null | head -n 1)
  case $started_with in
    '' | *\\\\[!\\"\\\\]*) ;;
    *) password=$(printf '%s' "$started_with" | sed 's/\\\\\\(.\\)/\\1/g') ;;
  esac
fi
export REDISCLI_AUTH="$password"
mounted_password() { head -n 1 "$AUTH_FILE" 2> /dev/null || true; }
# Once the server knows what the Secret says, the scripts log in with that: the password before will not be accepted for long. $1: the port.
settle_password() {
  mounted=$(mounted_password)
  [ -n "$mounted" ] && [ "$mounted" != "$password" ] || return 0
  case $(REDISCLI_AUTH=$mounted timeout 2 "$cli" -p "$1" ping 2>&1) in
    PONG* | LOADING* | MASTERDOWN* | MISCONF*) ;;
    *) return 0 ;;
  esac
  password=$mounted
  export REDISCLI_AUTH="$password"
  keep_password
}
# What the cluster calls itself among its own. A pod that was made before there was such a name has no password for it.
identity="clusterwright/$POD_NAMESPACE/$CLUSTER_NAME"
identity_password=
[ -z "\${IDENTITY_FILE:-}" ] || identity_password=$(head -n 1 "$IDENTITY_FILE")
# As servers keep it.
hash_of() { printf '%s' "$1" | sha256sum | cut -c 1-64; }
identity_rule() { printf 'user %s on #%s ~* &* +@all\\n' "$identity" "$(hash_of "$identity_password")"; }
# Hashes of the passwords with which clients are let in, where there may be others than that of the pod.
accepted=/run/redis/accepted
# In what a server tells of a user; each once.
hashes() { tr -d '\\r' | awk 'length($0) == 64 && !/[^0-9a-f]/ && !seen[$0]++'; }
# Before the server starts: a change of the password may be under way. $1: a sentinel.
learn_accepted() {
  [ -n "$identity_password" ] || return 0
  told=$(REDISCLI_AUTH=$identity_password; sentinel_cli "$1" --user "$identity" acl getuser default | hashes)
  [ -z "$told" ] || printf '%s\\n' "$told" > "$accepted"
}
# For a node that has no sentinels to learn it from when it starts again.
keep_accepted() {
  told=$(local_cli acl getuser default | hashes)
  [ -n "$told" ] && [ "$told" != "$(cat "$accepted" 2> /dev/null)" ] || return 0
  printf '%s\\n' "$told" > "$accepted.new" && mv -f "$accepted.new" "$accepted"
}
# The rule of the default user, where clients may log in with more than the password of the pod, or no more with that: what was accepted
# last. Only a new pod adds the password of the Secret here, since it has no other one. The operator tells the servers that run already, after
# the sentinels, so that the scripts do not use the new password before the sentinels accept it.
default_rule() {
  {
    [ ! -s "$accepted" ] || cat "$accepted"
    if [ "$is_new" = yes ] || [ ! -s "$accepted" ]; then hash_of "$password"; fi
  } | hashes | awk -v own="$(hash_of "$password")" '
    { rule = rule " #" $0; last = $0 }
    END { if (NR != 1 || last != own) printf "user default on%s ~* &* +@all\\n", rule }'
}
# A container that restarts in this pod keeps the password that the pod started with. A pod does not start with an empty
# password: the server would accept every client.
is_new=yes
[ ! -s /run/redis/password ] || is_new=no
keep_password() {
  if [ -z "$password" ] && [ ! -s /run/redis/password ]; then
    echo "the first line of $AUTH_FILE is empty" >&2
    exit 1
  fi
  (umask 077 && printf '%s\\n' "$password" > /run/redis/password)
}
# Runs redis-cli. $1: seconds. While the password of clients changes, another process may refuse the password of this pod. And somebody may have
# taken commands from the user default. Then the pod logs in with the identity of the cluster. What is refused has not run, so no command runs
# twice.
ask() (
  seconds=$1
  shift
  code=0
  answer=$(timeout "$seconds" "$cli" "$@" 2> /dev/null) || code=$?
  case $answer in
    NOAUTH* | WRONGPASS* | NOPERM*)
      if [ -n "$identity_password" ]; then
        REDISCLI_AUTH=$identity_password
        exec timeout "$seconds" "$cli" --user "$identity" "$@" 2> /dev/null
      fi
      ;;
  esac
  [ -z "$answer" ] || printf '%s\\n' "$answer"
  exit "$code"
)
local_cli() { ask 2 -p 6379 "$@"; }
node_cli() { host=$1; shift; ask 1 -h "$host" -p 6379 "$@"; }
sentinel_cli() { host=$1; shift; ask 1 -h "$host" -p 26379 "$@"; }
sentinels() { cat "$CONFIG_DIR/sentinels"; }
# The password of the identity, where this server copies by it: then every node knows who the cluster is. The pod's file may say
# another than the server has been told, and pods of before have none.
own_password() {
  [ "$(local_cli config get masteruser | tail -n 1 | tr -d '\\r')" != "$identity" ] ||
    local_cli config get masterauth | tail -n 1 | tr -d '\\r'
}
# REPLICAOF, as the cluster: the default user may not, once it is confined. Prints the answer.
replicate_from() {
  own=$(own_password)
  if [ -z "$own" ]; then
    local_cli replicaof "$@"
  else
    (REDISCLI_AUTH=$own; local_cli --user "$identity" replicaof "$@")
  fi
}
# Takes from the default user what a sentinel would say, since one from elsewhere may have its password and remember this address.
# Not while a sentinel of this cluster may still speak as that user; the scripts that say it otherwise are those of this file.
confine_clients() {
  [ ! -e /run/redis/confined ] || return 0
  own=$(own_password)
  [ -n "$own" ] || return 0
  for s in $(sentinels); do
    case $(REDISCLI_AUTH=$own; sentinel_cli "$s" --user "$identity" ping) in PONG*) ;; *) return 0 ;; esac
  done
  case $(local_cli acl setuser default CLIENT_RULE) in OK*) : > /run/redis/confined ;; esac
}
# Of a sentinel. It has logged in to the others as the cluster since it started.
confine_sentinel_clients() {
  [ -n "$identity_password" ] && [ ! -e /run/redis/confined ] || return 0
  case $(timeout 2 "$cli" -p 26379 acl setuser default SENTINEL_CLIENT_RULE 2> /dev/null) in OK*) : > /run/redis/confined ;; esac
}
# Of a sentinel: the user as whom a proxy asks for the address of the primary, and can do nothing else. It needs no password, so that proxies
# hold none. Its name is that of the cluster: a sentinel of another one refuses it.
settle_proxy_user() {
  if [ -e "$CONFIG_DIR/proxy" ]; then
    [ ! -e /run/redis/proxied ] || return 0
    case $(ask 2 -p 26379 acl setuser "$identity/proxy" reset on nopass '+sentinel|get-master-addr-by-name') in OK*) : > /run/redis/proxied ;; esac
  elif [ -e /run/redis/proxied ]; then
    case $(ask 2 -p 26379 acl deluser "$identity/proxy") in [01]*) rm -f /run/redis/proxied ;; esac
  fi
}
# Users that the operator has set, as a server keeps them: see client/user-record.ts. Prints the patterns, or nothing where there are none.
# Fails where the server does not tell.
record_at() {
  told=$("$@" acl getuser RECORD_USER) || return 1
  case $told in '') ;; flags*) printf '%s\\n' "$told" | tr -d '\\r' | awk 'last == "keys" { print; exit } { last = $0 }' ;; *) return 1 ;; esac
}
kept_users=/run/redis/users
# There from the start of a server until it has been given its users: a character for each try.
restoring=/run/redis/restoring
# For a server that starts again in this pod, where no other node can tell it.
keep_users() {
  [ ! -e "$restoring" ] || return 0
  record=$(record_at local_cli) || return 0
  if [ -z "$record" ]; then
    rm -f "$kept_users"
  elif [ "$record" != "$(cat "$kept_users" 2> /dev/null)" ]; then
    (umask 077 && printf '%s\\n' "$record" > "$kept_users.new") && mv -f "$kept_users.new" "$kept_users"
  fi
}
# Before a node that has started is admitted: gives its server the users that its primary has, or those that it had before. The record comes
# first, so that no user is there of whom the operator does not know that it has set it. A line that this server refuses is the operator's to
# tell of. Fails for ten tries at most: the operator sets what is missing, and a node without users is better than none. $1: the primary, or
# empty.
restore_users() {
  [ -e "$restoring" ] || return 0
  printf . >> "$restoring"
  try_restore "$1" || [ "$(wc -c < "$restoring")" -ge 10 ] || return 1
  rm -f "$restoring"
}
try_restore() {
  if [ -n "$1" ]; then
    record=$(record_at node_cli "$1") || return 1
  else
    record=$(cat "$kept_users" 2> /dev/null) || return 0
  fi
  [ -n "$record" ] || return 0
  own=$(own_password)
  {
    printf 'acl setuser RECORD_USER reset off %s\\n' "$record"
    printf '%s\\n' "$record" | tr ' ' '\\n' | sed 's/^~//' | awk -F ';' 'NF > 2 {
      line = "acl setuser " $1 " reset on"
      for (i = 3; i <= NF; i++) line = line " " $i
      print line
    }'
  } | if [ -n "$own" ]; then
    REDISCLI_AUTH=$own timeout 2 "$cli" -p 6379 --user "$identity" > /dev/null 2>&1
  else
    timeout 2 "$cli" -p 6379 > /dev/null 2>&1
  fi
  [ "$(record_at local_cli)" = "$record" ]
}
# Asks all sentinels at once; prints "ADDRESS SENTINEL VERDICT" of the view with the highest configuration epoch, then
# all sentinels that watch anybody; or nothing. The verdict says whether a node may follow now. It acknowledges writes
# from then on, and as long as the sentinels do not know it they may elect one that lacks them: so it is safe only where
# those who may want another primary are no quorum. A sentinel pings every second: a missed answer tells of a cut before
# the flag of down-after does.
# Everybody is waited for: the server is the container's first process, and does not reap what others leave behind.
named_primary() {
  set -- $(sentinels)
  [ $# -gt 0 ] || return 0
  { for s; do
    { sentinel_cli "$s" sentinel master "$CLUSTER_NAME" | tr -d '\\r' |
      awk -v s="$s" -v missed="$(cat "$CONFIG_DIR/missed-ms")" 'NR % 2 { name = $0; next } { v[name] = $0 } END {
        sees = "up"
        if (v["flags"] ~ /_down/ || v["runid"] == "" || v["last-ok-ping-reply"] !~ /^[0-9]+$/) sees = "down"
        if (v["last-ok-ping-reply"] + 0 > missed + 0) sees = "down"
        if (v["flags"] ~ /failover/) sees = "replaced"
        if (v["ip"] != "") print v["config-epoch"], v["ip"], s, sees
      }'; } &
  done; wait; } | sort -rn | awk -v spare="$(($# - $(cat "$CONFIG_DIR/quorum")))" '
    NR == 1 { address = $2; sentinel = $3 }
    $2 == address { n[$4]++ }
    { watching = watching " " $3 }
    END { if (NR) print address, sentinel, (!n["replaced"] && n["up"] > spare ? "safe" : "unsafe") watching }'
}
# Whether a sentinel has this node among the replicas and reaches it: it could tell it to follow another.
is_known_to() {
  sentinel_cli "$1" sentinel replicas "$CLUSTER_NAME" | tr -d '\\r' | awk -v me="$POD_IP" '
    NR % 2 { name = $0; next }
    name == "ip" { ip = $0 }
    name == "flags" && ip == me { known = !/down|disconnected/ }
    END { exit !known }'
}
# Has a sentinel ask all nodes that it does not take for down what they hold, and succeeds when they have told it: it elects by
# what it has heard last, which may be from before an acknowledgement. Fails where it does not answer, too, or cannot act now:
# its clock has jumped. $2: how many looks, ten a second.
inform() {
  case $(sentinel_cli "$1" info sentinel) in *sentinel_tilt:1*) return 1 ;; esac
  from=$(uptime_ms)
  left=$2
  sentinel_cli "$1" sentinel debug info-period 100 > /dev/null || return 1
  while :; do
    within=$(($(uptime_ms) - from - 10))
    told=$(sentinel_cli "$1" sentinel replicas "$CLUSTER_NAME") || left=0
    if printf '%s\\n' "$told" | tr -d '\\r' | awk -v within="$within" '
      NR % 2 { name = $0; next }
      name == "flags" { up = !/down|disconnected/ }
      name == "info-refresh" && up && $0 + 0 >= within + 0 { late = 1 }
      END { exit late }'; then break; fi
    left=$((left - 1))
    [ "$left" -gt 0 ] || break
    sleep 0.1
  done
  # An election takes nobody whose answer is older than three of these periods.
  sentinel_cli "$1" sentinel debug info-period "$(cat "$CONFIG_DIR/info-period-ms")" > /dev/null || true
  [ "$left" -gt 0 ]
}
# Hundredths of a second, which nobody sets.
uptime_ms() { echo "$(cut -d ' ' -f 1 /proc/uptime | tr -d .)0"; }
# The most replicas that any sentinel knows: one that was just reset knows none.
known_replicas() {
  for s in $(sentinels); do
    sentinel_cli "$s" sentinel master "$CLUSTER_NAME" | tr -d '\\r' |
      awk 'NR % 2 { name = $0; next } name == "num-slaves"'
  done | sort -rn | head -n 1
}
# Tells the operator that the scripts of this pod ask sentinels. A node whose scripts know no sentinels restarts as primary, even if another
# primary has been elected.
tell_sentinels() {
  [ -n "$(sentinels)" ] || return 0
  [ "$(local_cli config get cluster-announce-port | tail -n 1 | tr -d '\\r')" = 26379 ] ||
    local_cli config set cluster-announce-port 26379 > /dev/null
}
# Starts the loop of the fence where it has not looked for a while: it was killed, or the container was started before there was one.
keep_fence() {
  [ -s "$CONFIG_DIR/fence" ] || return 0
  looked=
  { read -r _ looked < /run/redis/fence-loop; } 2> /dev/null || true
  case $looked in '' | *[!0-9]*) ;; *) [ "$(($(uptime_ms) - looked))" -gt 15000 ] || return 0 ;; esac
  server=$(cat /run/redis/server 2> /dev/null) || server=1
  /bin/sh "$CONFIG_DIR/fence-loop.sh" "$server" < /dev/null > /dev/null 2>&1 &
}
# Folders of modules: of the image of Redis, of Debian, and of valkey-bundle. A server does not read what a module has written without that
# module, so a pod without any does not start.
modules() {
  [ "\${MODULES:-None}" = Bundled ] || return 0
  for module in /usr/local/lib/redis/modules/*.so /usr/lib/redis/modules/*.so /usr/lib/valkey/*.so; do
    [ ! -f "$module" ] || printf 'loadmodule %s\\n' "$module"
  done
}
need_modules() {
  if [ "\${MODULES:-None}" = None ] || [ -n "$(modules)" ]; then return 0; fi
  echo "spec.modules is Bundled, and the image has no module in /usr/local/lib/redis/modules, /usr/lib/redis/modules or /usr/lib/valkey" >&2
  exit 72
}
`,
  'ping.sh': `#!/bin/sh
set -eu
. "$CONFIG_DIR/library.sh"
settle_password 6379 || true
keep_fence || true
tell_sentinels || true
[ -n "$(sentinels)" ] || keep_accepted || true
keep_users || true
# Whatever the volume says, it is no matter of readiness. But a copy of a server elsewhere serves nobody.
(. "$CONFIG_DIR/volume.sh" && look && if is_importing; then exit 3; fi && { settle_mark || true; settle_term; }) || [ $? != 3 ] || exit 1
confine_clients || true
answer=$(timeout 2 "$cli" -p 6379 ping 2>&1) || true
case $answer in
  '' | *'Could not connect'*) exit 1 ;;
  *NOAUTH* | *'AUTH failed'* | *'max number of clients'* | Error:*) [ ! -e /run/redis/loading ] ;;
  LOADING* | MASTERDOWN*)
    : > /run/redis/loading
    exit 1
    ;;
  *) rm -f /run/redis/loading ;;
esac
`,
  'proxy.sh': `#!/bin/sh
set -eu
# HAProxy does not look in the search list of resolv.conf.
CLUSTER_DOMAIN=cluster.local
while read -r word rest; do
  [ "$word" = search ] || continue
  for domain in $rest; do
    case $domain in svc.*) CLUSTER_DOMAIN=\${domain#svc.} ;; esac
  done
done < /etc/resolv.conf
# Of pods with both families, Redis announces the first.
case $POD_IP in
  *:*) IP_FAMILY=ipv6 BIND='[::]' ;;
  *) IP_FAMILY=ipv4 BIND='' ;;
esac
export CLUSTER_DOMAIN IP_FAMILY BIND
exec haproxy -db -f "$CONFIG_DIR/haproxy.cfg"
`,
  'ready-shard.sh': `#!/bin/sh
set -eu
. "$CONFIG_DIR/library.sh"
settle_password 6379 || true
keep_accepted || true
keep_users || true
# Whatever the volume says, it is no matter of readiness.
(
  . "$CONFIG_DIR/volume.sh" && . "$CONFIG_DIR/shard.sh" && look && {
    kept=no
    if settle_mark; then kept=yes; fi
    settle_eligibility "$kept"
    find_peers
    find_primary
  }
) || true
answer=$(timeout 2 "$cli" -p 6379 ping 2>&1) || true
case $answer in
  '' | *'Could not connect'*) exit 1 ;;
  *NOAUTH* | *'AUTH failed'* | *'max number of clients'* | Error:*) [ ! -e /run/redis/loading ] ;;
  LOADING* | MASTERDOWN*)
    : > /run/redis/loading
    exit 1
    ;;
  *) rm -f /run/redis/loading ;;
esac
`,
  'sentinel-alive.sh': `#!/bin/sh
set -eu
answer=$(timeout 2 "\${SERVER:-redis}-cli" -p 26379 ping 2>&1) || true
case $answer in '' | *'Could not connect'*) exit 1 ;; esac
`,
  'shard.sh': `# shellcheck disable=SC2034 # The scripts that read this one use these.
# Of a node of a Redis Cluster. Whoever asks another node does so as the cluster, which no node of another cluster lets in.
nodes_file=/data/nodes.conf
manifest=/data/appendonlydir/appendonly.aof.manifest
# Of a restore, beside data that no server has served yet. It is good for one node: it goes when that has written its nodes.conf.
restored=/data/restored-shard
consume_restored() { if [ -s "$nodes_file" ] || [ ! -s "$manifest" ]; then rm -f "$restored"; fi; }
# Made before the server starts, and removed by the server itself when it is stopped in order: then its append-only file has all that it acknowledged.
running=/data/running
# In its place where the append-only file lacks what was acknowledged when the server was told to stop: it would remove that file as if all were there.
unwritten=/data/unwritten
own_cli() ( REDISCLI_AUTH=$identity_password; ask 2 -p 6379 --user "$identity" "$@" )
peer_cli() ( host=$1; shift; REDISCLI_AUTH=$identity_password; ask 1 -h "$host" -p 6379 --user "$identity" "$@" )
peers() { cat "$CONFIG_DIR/peers"; }
# The line of this node in what it says of the cluster.
own_line() { own_cli cluster nodes | tr -d '\\r' | grep -E '^[0-9a-f]{40} [^ ]+ ([a-z?,]*,)?myself[, ]'; }
owns_slots() { own_line | awk '{ exit NF < 9 }'; }
# A replica that has not written down what it has copied would lose it as primary: it is not elected. \`volume.sh\` decides that. $1: \`yes\` where it
# has; a priority of 0 that somebody has set by hand ends then.
settle_eligibility() {
  priority=$(own_cli config get replica-priority | tail -n 1 | tr -d '\\r')
  [ -n "$priority" ] || return 0
  if [ "$priority:$1" = 0:yes ]; then
    case $(own_cli config set replica-priority 100) in OK*) priority=100 ;; esac
  fi
  wanted=no
  if [ "$priority" = 0 ] || [ ! -e "$mark" ] || is_overtaken; then wanted=yes; fi
  [ "$(own_cli config get cluster-replica-no-failover | tail -n 1 | tr -d '\\r')" = "$wanted" ] ||
    own_cli config set cluster-replica-no-failover "$wanted" > /dev/null
}
# A node that hears of another address of its primary from a third one goes on copying from the address of before. Told its primary again, it
# goes over.
find_primary() {
  case "$(field role):$(field master_link_status)" in slave:down) ;; *) return 0 ;; esac
  primary=$(own_line | awk '{ print $4 }')
  now=$(own_cli cluster nodes | tr -d '\\r' | grep "^$primary " | awk '{ sub(/:[0-9]+@.*/, "", $2); print $2 }')
  [ -z "$now" ] || [ "$now" = "$(field master_host)" ] || own_cli cluster replicate "$primary" > /dev/null || true
}
# When all pods have new addresses at once, no node finds another: each asks by the names of the pods. Only a node that takes the identity of
# this cluster and has an ID that this node knows is met, at the address that it says itself. The others hear of it from these two.
find_peers() {
  case $(own_cli cluster info) in '' | *cluster_state:ok*) return 0 ;; esac
  known=$(own_cli cluster nodes | tr -d '\\r')
  met_by=$(($(uptime_ms) + 2500))
  next=$(cat /run/redis/next-peer 2> /dev/null) || next=0
  case $next in '' | *[!0-9]*) next=0 ;; esac
  number=0
  for p in $(peers); do
    number=$((number + 1))
    [ "$number" -gt "$next" ] || continue
    if [ "$(uptime_ms)" -gt "$met_by" ]; then
      echo "$((number - 1))" > /run/redis/next-peer
      return 0
    fi
    id=$(peer_cli "$p" cluster myid | tr -d '\\r') || continue
    case $id in *[!0-9a-f]* | '') continue ;; esac
    printf '%s\\n' "$known" | grep -E "^$id " | grep -qvE ' ([a-z?,]*,)?(myself|handshake)[, ]|[0-9]+ connected( |$)' || continue
    address=$(peer_cli "$p" config get cluster-announce-ip | tail -n 1 | tr -d '\\r')
    [ -z "$address" ] || own_cli cluster meet "$address" 6379 > /dev/null || true
  done
  echo 0 > /run/redis/next-peer
}
`,
  'start-data.sh': `#!/bin/sh
set -eu
# The first process of a container ignores SIGTERM unless it says otherwise.
trap 'exit 143' TERM
. "$CONFIG_DIR/library.sh"
conf=/run/redis/redis.conf
keep_password
need_modules
rm -f /run/redis/loading /run/redis/confined
rm -f /run/redis/fenced /run/redis/reached /run/redis/named /run/redis/replaced /run/redis/replicas
echo $$ > /run/redis/server
: > "$restoring"
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
  rm -f "$accepted"
  [ -z "\${2:-}" ] || learn_accepted "$2" || true
fi

# It joins a primary that lives, and holds less than that.
case $follow in '' | '127.0.0.1 1') ;; *) [ "$blank" = yes ] || uptime_ms > "$behind" ;; esac
[ -n "$follow" ] || rm -f "$behind"
priority=100
[ "$blank" = no ] && [ ! -e "$behind" ] || priority=0
escaped=$(printf '%s' "$password" | sed 's/[\\\\"]/\\\\&/g')
{
  printf 'include %s/redis.conf\\n' "$CONFIG_DIR"
  modules
  printf 'dir /data\\nappendonly yes\\nappenddirname appendonlydir\\nappendfilename appendonly.aof\\n'
  # A pod that was made before it was told has what the file says.
  [ "$(most_databases)" = 0 ] || printf 'databases %s\\n' "$(most_databases)"
  printf 'requirepass "%s"\\n' "$escaped"
  default_rule
  if [ -n "$identity_password" ]; then
    identity_rule
    printf 'masteruser %s\\nmasterauth %s\\n' "$identity" "$identity_password"
  else
    printf 'masterauth "%s"\\n' "$escaped"
  fi
  printf 'replica-announce-ip %s\\n' "$POD_IP"
  [ -z "$watchers" ] || printf 'cluster-announce-port 26379\\n'
  printf 'replica-priority %s\\n' "$priority"
  [ -z "$(read_term)" ] || printf '%s %s\\n' "$carrier" "$(read_term)"
  [ -z "$follow" ] || printf 'replicaof %s\\n' "$follow"
} > "$conf"
unset REDISCLI_AUTH password escaped identity_password
[ ! -s "$CONFIG_DIR/fence" ] || /bin/sh "$CONFIG_DIR/fence-loop.sh" $$ < /dev/null >&2 &
exec "\${SERVER:-redis}-server" "$conf"
`,
  'start-sentinel.sh': `#!/bin/sh
set -eu
trap 'exit 143' TERM
. "$CONFIG_DIR/library.sh"
conf=/run/redis/sentinel.conf
keep_password
rm -f /run/redis/watching /run/redis/confined /run/redis/proxied
escaped=$(printf '%s' "$password" | sed 's/[\\\\"]/\\\\&/g')
passwords() {
  printf 'requirepass "%s"\\n' "$escaped"
  default_rule
  if [ -n "$identity_password" ]; then
    identity_rule
    printf 'sentinel sentinel-user %s\\nsentinel sentinel-pass %s\\n' "$identity" "$identity_password"
  else
    printf 'sentinel sentinel-pass "%s"\\n' "$escaped"
  fi
}
# Any client that reaches a sentinel can log in as the user of the proxies. Without these limits it can send a command of up to 512 MB.
limits() { printf 'client-query-buffer-limit 1mb\\nproto-max-bulk-len 1mb\\n'; }
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
  [ -z "\${2:-}" ] || learn_accepted "$2" || true
  {
    printf 'port 26379\\ndir /tmp\\nprotected-mode no\\n'
    limits
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
  sed -n 's/^user default //p' "$conf" | tr ' ' '\\n' | sed -n 's/^#//p' | hashes > "$accepted"
  told=no
  if [ -z "$identity_password" ] && grep -q '^sentinel auth-user ' "$conf"; then told=yes; fi
  {
    grep -v -e '^client-query-buffer-limit ' -e '^proto-max-bulk-len ' -e '^user ' -e '^requirepass ' -e '^sentinel sentinel-' -e '^sentinel auth-' -e '^sentinel announce-ip ' "$conf"
    limits
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
exec "\${SERVER:-redis}-server" "$conf" --sentinel
`,
  'start-shard.sh': `#!/bin/sh
set -eu
# The first process of a container ignores SIGTERM unless it says otherwise.
trap 'exit 143' TERM
. "$CONFIG_DIR/library.sh"
conf=/run/redis/redis.conf
keep_password
need_modules
rm -f /run/redis/loading /run/redis/next-peer
: > "$restoring"
. "$CONFIG_DIR/volume.sh"
. "$CONFIG_DIR/shard.sh"
judge_volume
# A copy of another pod's volume is that pod's node: with its ID it would draw clients and replicas of that cluster to itself.
own="$POD_NAME.$CLUSTER_NAME.$POD_NAMESPACE.svc"
held=$(awk '$3 ~ /myself/ { split($2, part, ","); print part[2] }' "$nodes_file" 2> /dev/null || true)
if [ -n "$held" ] && [ "$held" != "$own" ]; then
  echo "/data holds the node of $held: this is a copy of another volume, and is not started" >&2
  exit 1
fi
# Without its data, a node would serve its slots empty, and its replicas would copy that. It starts as a new node, which has no slots.
if [ -e "$nodes_file" ] && [ ! -s "$manifest" ]; then
  if [ -e "$nodes_file.without-data" ]; then rm -f "$nodes_file"; else mv "$nodes_file" "$nodes_file.without-data"; fi
fi
# The data is kept, and not served. $1: the end of its new name, $2: why.
put_aside() {
  name=$1
  number=1
  while [ -e "/data/appendonlydir.$name" ]; do
    number=$((number + 1))
    name=$1-$number
  done
  echo "$2; its data is moved to /data/appendonlydir.$name" >&2
  rm -f "$mark"
  mv /data/appendonlydir "/data/appendonlydir.$name"
}
# With data and no nodes.conf, a server takes the slots of its keys, though another node may have served them since. What a restore has put here,
# nobody has served. The file is empty where the first process was killed before it had written it.
consume_restored
if [ ! -s "$nodes_file" ] && [ -e "$manifest" ] && [ ! -e "$restored" ]; then put_aside without-nodes '/data holds data without nodes.conf'; fi
# What a node says of this one: \`replaced\` where another has its slots by a later epoch, \`contested\` where another node of the shard has them by the
# same one: when the two met, the smaller ID would win, \`followed\` where it has a replica, or \`alone\`. A replica that has failed is not elected; without the mark it is waited for.
# $1: the node, $2: the own ID, $3: the epoch, $4: a slot.
verdict_of() {
  marked=no
  [ ! -e "$mark" ] || marked=yes
  peer_cli "$1" cluster nodes | tr -d '\\r' | awk -v id="$2" -v epoch="$3" -v slot="$4" -v marked="$marked" -v shard=",\${POD_NAME%-*}-" '
    $1 == id { known = 1; if (NF >= 9) owns = 1 }
    $4 == id && $3 ~ /slave/ && (marked == "no" || $3 !~ /fail(,|$)/) { followed = 1 }
    $1 != id {
      for (i = 9; i <= NF; i++) {
        n = split($i, range, "-")
        if ($i !~ /^[0-9]/ || range[1] + 0 > slot + 0 || slot + 0 > range[n] + 0) continue
        if ($7 + 0 > epoch + 0) another = 1
        else if ($7 + 0 == epoch + 0 && index($2, shard)) contested = 1
      }
    }
    END {
      if (another && !owns) print "replaced"
      else if (contested && !owns) print "contested"
      else if (known) print followed ? "followed" : "alone"
    }'
}
own_peers() { peers | grep "^\${POD_NAME%-*}-" | grep -vE "^$POD_NAME(\\.|$)"; }
# What several nodes say together, those of the own shard first; or nothing. One that has just come back may know less.
peers_say() {
  said=
  answers=0
  asks_by=$(($(uptime_ms) + 10000))
  for p in $(own_peers) $(peers | grep -v "^\${POD_NAME%-*}-"); do
    case $(verdict_of "$p" "$@") in
      replaced)
        said=replaced
        break
        ;;
      # Who has heard of an election knows more than who has not.
      contested) said=contested ;;
      followed) [ "$said" = contested ] || said=followed ;;
      alone) [ -n "$said" ] || said=alone ;;
      *)
        if [ "$(uptime_ms)" -ge "$asks_by" ]; then break; fi
        continue
        ;;
    esac
    answers=$((answers + 1))
    [ "$answers" -lt 6 ] || break
  done
  echo "$said"
}
# Whether the process of this primary was killed, or its file lacks what it has acknowledged, or its dataset is not all that it had.
is_doubtful() { [ ! -e "$mark" ] || [ -e "$running" ] || [ -e "$unwritten" ]; }
# Keys move to a primary before its first slot does. Nobody is elected in the place of a primary without slots, so its replica alone may have some of
# them, and would lose them by copying from it. $1: the own ID, $2: the own epoch. Prints \`copy\` and the replica that has keys, \`silent\` where one may, or
# \`taken\` and the node of this shard that a person has made primary in its place, by a newer epoch, and that has keys.
keeper() {
  found=
  for p in $(own_peers); do
    is=$(peer_cli "$p" cluster nodes | tr -d '\\r' | awk -v id="$1" -v epoch="$2" '$3 ~ /myself/ {
      for (i = 9; i <= NF; i++) if ($i ~ /^[0-9]/) owns = 1
      isTaken = $4 == "-" && !owns && $7 + 0 > epoch + 0
      print ($4 == id ? "copy" : isTaken ? "taken" : "other")
    }')
    [ "$is" != other ] || continue
    case \${is:+$(peer_cli "$p" dbsize | tr -d '\\r')} in
      0) ;;
      *[!0-9]* | '') [ -n "$found" ] || found=silent ;;
      *)
        found="$is $p"
        [ "$is" = copy ] || break
        ;;
    esac
  done
  echo "$found"
}
await_keeper() {
  told=no
  while :; do
    kept=$(keeper "$@")
    case $kept in
      '') return 0 ;;
      silent) [ "$(uptime_ms)" -lt "$give_up" ] || return 0 ;;
      taken*)
        put_aside taken "\${kept#taken } has been made primary of this shard, and has keys: this pod has a new node, which follows it"
        # With its ID, clients would be sent to it for the keys that it had.
        rm -f "$nodes_file"
        return 0
        ;;
      *)
        if [ "$told" = no ]; then
          echo "this primary has no slot, and /data may lack keys that have moved here and that \${kept#copy } has: it is not started before that is primary; run CLUSTER FAILOVER TAKEOVER there" >&2
          told=yes
        fi
        ;;
    esac
    sleep 0.5
  done
}
# A replica that had its link, and has lost it: a second attempt to elect it begins five times \`cluster-node-timeout\` after that. One that has
# started since is not elected.
may_be_elected() {
  for p in $(own_peers); do
    case $(peer_cli "$p" info replication) in *role:slave*master_link_down_since_seconds:[0-9]*) return 0 ;; esac
  done
  return 1
}
# A primary whose process was killed may have acknowledged what its disk does not have, and its replicas may hold it: as primary it would have
# them copy less. One of them takes over, as with Sentinel. Where none is elected in time, they all have failed with it, and it goes on with what
# its file has; but never without the mark, which says that this is its dataset.
await_heir() {
  set -- $(awk '$3 ~ /myself/ && $3 ~ /master/ {
    for (i = 9; i <= NF; i++) if ($i ~ /^[0-9]/) { split($i, range, "-"); print $1, $7, range[1]; exit }
    print $1, $7
  }' "$nodes_file" 2> /dev/null || true)
  [ $# -gt 0 ] && is_doubtful || return 0
  node_timeout=$(awk '$1 == "cluster-node-timeout" { print $2 }' "$CONFIG_DIR/redis.conf" | tail -n 1)
  case $node_timeout in '' | *[!0-9]*) node_timeout=5000 ;; esac
  began=$(uptime_ms)
  give_up=$((began + 3 * node_timeout))
  if [ $# -eq 2 ]; then
    await_keeper "$@"
    return 0
  fi
  told=no
  while :; do
    verdict=$(peers_say "$@")
    case $verdict in replaced | alone) return 0 ;; esac
    if [ "$verdict" = contested ]; then
      if [ "$told" = no ]; then
        echo "another node of this shard has its slots, by the same epoch: it is not started before that has a newer one; run CLUSTER BUMPEPOCH on a replica of another shard, and then there" >&2
        told=yes
      fi
    elif [ "$(uptime_ms)" -ge "$give_up" ]; then
      if [ -e "$mark" ]; then
        [ "$(uptime_ms)" -lt "$((began + 7 * node_timeout))" ] && may_be_elected || return 0
      elif [ "$told" = no ]; then
        echo "/data does not hold all that this primary has served, and no replica has taken over: it is not started before one has; to serve what there is, and lose the rest, create $mark" >&2
        told=yes
      fi
    fi
    sleep 0.5
  done
}
await_heir
# Only a new pod may have missed a change of the password.
if [ "$is_new" = yes ]; then
  for p in $(peers | head -n 5); do
    told=$(peer_cli "$p" acl getuser default | hashes)
    [ -n "$told" ] || continue
    printf '%s\\n' "$told" > "$accepted"
    break
  done
fi
client_rule() {
  {
    [ ! -s "$accepted" ] || cat "$accepted"
    if [ "$is_new" = yes ] || [ ! -s "$accepted" ]; then hash_of "$password"; fi
  } | hashes | awk '{ rule = rule " #" $0 } END { printf "user default on%s ~* &* +@all %s\\n", rule, "SHARD_CLIENT_RULE" }'
}
priority=100
unelected=no
if [ ! -e "$mark" ] || [ -e "$behind" ]; then
  priority=0
  unelected=yes
fi
escaped=$(printf '%s' "$password" | sed 's/[\\\\"]/\\\\&/g')
{
  printf 'include %s/redis.conf\\n' "$CONFIG_DIR"
  modules
  printf 'dir /data\\nappendonly yes\\nappenddirname appendonlydir\\nappendfilename appendonly.aof\\n'
  printf 'pidfile %s\\n' "$running"
  printf 'cluster-enabled yes\\ncluster-config-file nodes.conf\\n'
  printf 'cluster-announce-ip %s\\nreplica-announce-ip %s\\n' "$POD_IP" "$POD_IP"
  printf 'cluster-announce-hostname %s\\n' "$own"
  printf 'requirepass "%s"\\n' "$escaped"
  client_rule
  identity_rule
  printf 'masteruser %s\\nmasterauth %s\\n' "$identity" "$identity_password"
  printf 'replica-priority %s\\ncluster-replica-no-failover %s\\n' "$priority" "$unelected"
} > "$conf"
if printf 'yes\\n' 2> /dev/null > "$running"; then sync "$running" 2> /dev/null || true; fi
[ ! -e "$running" ] || rm -f "$unwritten"
unset REDISCLI_AUTH password escaped identity_password
exec "\${SERVER:-redis}-server" "$conf"
`,
  'volume.sh': `mark=/data/initialised
received=/data/dump.rdb
unfinished=/data/appendonlydir/temp-appendonly.aof.incr
behind=/run/redis/behind
# Whether a copy has begun since the mark was given. Equal times count.
is_overtaken() {
  [ ! -e "$unfinished" ] || return 0
  [ -e "$received" ] && [ ! "$mark" -nt "$received" ]
}
used=/data/databases
most_databases() {
  most=$(cat "$used" 2> /dev/null) || most=
  case $most in '' | *[!0-9]* | ?????*) most=0 ;; esac
  [ "$most" -ge "\${DATABASES:-0}" ] || most=$DATABASES
  echo "$most"
}
keep_databases() {
  most=$(most_databases)
  [ "$most" != 0 ] && [ "$(cat "$used" 2> /dev/null)" != "$most" ] || return 0
  if printf '%s\\n' "$most" 2> /dev/null > "$used.new" && mv -f "$used.new" "$used"; then sync "$used" 2> /dev/null || true; fi
}
# Before the server starts.
judge_volume() {
  keep_databases
  if is_overtaken; then rm -f "$mark"; fi
  # Of a rewrite or a copy in whose middle the process was killed. Servers neither read nor delete them: they would fill the volume.
  rm -f /data/temp-rewriteaof-*.aof /data/temp-[0-9]*.rdb || true
  # With dump.rdb it is all that a person could recover the copy from.
  [ ! -e "$unfinished" ] || mv -f "$unfinished" /data/unfinished.aof
  # Times by the clock of another Kubernetes node mean nothing here.
  [ ! -e "$received" ] || touch -t 200001010000 "$received"
  [ ! -e "$mark" ] || touch "$mark"
}
# Asks the server. A mark that is due is dated before, so that a copy that begins meanwhile is newer.
look() {
  keep_databases
  due=no
  stale=no
  if [ ! -e "$mark" ] || is_overtaken; then stale=yes; fi
  if [ "$stale" = yes ] || [ "$(cat "$mark" 2> /dev/null)" != "$POD_IP" ]; then
    if printf '%s\\n' "$POD_IP" 2> /dev/null > "$mark.new"; then due=yes; fi
  fi
  info=$(local_cli info | tr -d '\\r')
}
# Values may hold colons, as IPv6 addresses do.
field() { printf '%s\\n' "$info" | sed -n "s/^$1://p"; }
# Whether the primary at this address is this very node, from before it got another one: the sentinels have yet to miss it. Not where
# another has become primary there.
was_here() {
  [ "$(cat "$mark" 2> /dev/null)" = "$1" ] && [ "$(node_cli "$1" role | head -n 1 | tr -d '\\r')" != master ]
}
# It holds less than a primary that lives, and is not elected for as long as that one may come back.
fall_behind() {
  uptime_ms > "$behind"
  local_cli config set replica-priority 0 > /dev/null || true
}
# Of a replica without a link. Nothing that is newer has come back within three minutes: then old data has to do.
settle_behind() {
  if [ "$(field master_sync_in_progress)" = 1 ]; then
    fall_behind
  elif [ "$stale" = yes ] || [ ! -e "$behind" ]; then
    return 0
  elif [ ! -s "$behind" ]; then
    # The process that wrote the file was killed before it had written the time.
    fall_behind
  elif [ "$(($(uptime_ms) - $(cat "$behind")))" -gt 180000 ]; then
    local_cli config set replica-priority 100 > /dev/null || return 0
    rm -f "$behind"
  fi
}
# Whether this server has had its link, and so has loaded a copy, and is not at another. Where the primary ends before the copy is written
# down, this node may be all that holds what the two have acknowledged.
had_link() {
  case $(field master_link_down_since_seconds) in '' | -*) return 1 ;; esac
  [ "$(field aof_enabled):$(field loading):$(field master_sync_in_progress)" = 1:0:0 ]
}
# It copies a server elsewhere, and is told what to do by the operator alone: hidden from sentinels, which nothing else makes a node. Its volume has no
# mark until the cut-over, so that it takes no writes by itself when it starts again.
is_importing() { [ "$(field role):$(field replica_announced)" = slave:0 ]; }
# Takes the mark, or gives it, by what the server said. Succeeds where the append-only file holds the dataset.
settle_mark() {
  case "$(field aof_enabled):$(field role):$(field master_link_status)" in
    1:master:* | 1:slave:up) ;;
    0:*)
      rm -f "$mark"
      case "$(field role):$(field master_link_status)" in
        # Switched off by hand.
        master:* | slave:up) local_cli config set appendonly yes > /dev/null || true ;;
        # By the server, while it loads a copy or since it could not: the node holds a part of the dataset, or nothing.
        *) local_cli config set replica-priority 0 > /dev/null || true ;;
      esac
      return 1
      ;;
    *)
      if [ "$stale" = no ] || ! had_link; then
        settle_behind
        return 1
      fi
      ;;
  esac
  if [ "$stale" = yes ] && [ "$(field aof_rewrite_in_progress):$(field aof_rewrite_scheduled)" != 0:0 ]; then
    rm -f "$mark"
    return 1
  fi
  if [ "$due" = yes ]; then
    mv -f "$mark.new" "$mark"
    sync "$mark" 2> /dev/null || true
    rm -f /data/unfinished.aof
  fi
  [ "$stale" = no ] || local_cli config set replica-priority 100 > /dev/null || true
  if is_overtaken; then return 1; fi
  if [ -e "$behind" ]; then
    [ "$stale" = yes ] || local_cli config set replica-priority 100 > /dev/null || return 0
    rm -f "$behind"
  fi
  return 0
}
record=/data/term
carrier=cluster-announce-hostname
number_of() { case \${1#*-} in '' | *[!0-9]*) echo 0 ;; *) echo "\${1#*-}" ;; esac; }
# The record, or nothing where it is none.
read_term() { case $(cat "$record" 2> /dev/null) in primary-*[!0-9]* | replica-*[!0-9]*) ;; primary-[0-9]* | replica-[0-9]*) cat "$record" ;; esac; }
# Brings the record in line with the role that the server has. What the operator has told the server counts where it is later.
settle_term() {
  [ -n "$info" ] || return 0
  written=$(read_term)
  told=$(local_cli config get "$carrier" | tail -n 1 | tr -d '\\r')
  term=$written
  [ "$(number_of "$told")" -le "$(number_of "$written")" ] || term=$told
  number=$(number_of "$term")
  case "$(field role):$(field master_link_status)" in
    master:*)
      case $term in primary-*) ;; *) term=primary-$((number + 1)) ;; esac
      ;;
    slave:up)
      primary=$(node_cli "$(field master_host)" config get "$carrier" | tail -n 1 | tr -d '\\r')
      case $primary in primary-*) [ "$(number_of "$primary")" -le "$number" ] || number=$(number_of "$primary") ;; esac
      # It holds the dataset of another now, whatever it was before.
      [ "$number" = 0 ] || term=replica-$number
      ;;
  esac
  if [ -n "$term" ] && [ "$term" != "$written" ]; then
    if printf '%s
' "$term" 2> /dev/null > "$record.new"; then
      mv -f "$record.new" "$record"
      sync "$record" 2> /dev/null || true
    fi
  fi
  [ -z "$term" ] || [ "$term" = "$told" ] || local_cli config set "$carrier" "$term" > /dev/null || true
}
`,
  'watching.sh': `#!/bin/sh
set -eu
. "$CONFIG_DIR/library.sh"
settle_password 26379 || true
timeout 2 "$cli" -p 26379 sentinel debug info-period "$(cat "$CONFIG_DIR/info-period-ms")" > /dev/null 2>&1 || true
confine_sentinel_clients || true
settle_proxy_user || true
answer=$(timeout 2 "$cli" -p 26379 sentinel get-master-addr-by-name "$CLUSTER_NAME" 2>&1) || true
case $answer in
  *NOAUTH* | *'AUTH failed'* | *'max number of clients'* | Error:*) [ -e /run/redis/watching ] ;;
  # An address of version 4 or 6.
  [0-9a-f]*[.:]*) : > /run/redis/watching ;;
  *)
    rm -f /run/redis/watching
    exit 1
    ;;
esac
`,
} as const;
