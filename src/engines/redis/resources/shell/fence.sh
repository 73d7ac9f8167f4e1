#!/bin/sh
set -eu
# One look. Fails where the loop has to look again soon.
uptime_now() { read -r UP _ < /proc/uptime && now="${UP%.*}${UP#*.}0"; }
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
  if [ -z "${FENCE_SESSION:-}" ] || ! kill -0 "$FENCE_SESSION" 2> /dev/null; then
    local_cli "$@"
    return
  fi
  read -r mark < /proc/sys/kernel/random/uuid
  printf 'echo "<%s"\n%s\necho ">%s"\n' "$mark" "$*" "$mark" >&3
  answer=$(timeout 2 sed -n "/^<$mark/,/^>$mark/{/^<$mark/d;/^>$mark/q;p;}" <&4) || answer=
  if [ -z "$answer" ]; then
    answer=$(local_cli "$@") || return 1
    kill "$FENCE_SESSION" 2> /dev/null || true
  fi
  printf '%s\n' "$answer"
}
required() { ask_server config get min-replicas-to-write | tail -n 1 | tr -d '\r'; }
# Another loop may have begun while this look took its time: then that one decides.
is_current() { [ -z "${FENCE_LOOP:-}" ] || { read -r current _ < "$loop" && [ "$current" = "$FENCE_LOOP" ]; } 2> /dev/null; }
require() {
  is_current || return 1
  case $(ask_server config set min-replicas-to-write "$1") in OK*) ;; *) return 1 ;; esac
}
fence() {
  has=$(required)
  case $has in '' | *[!0-9]* | "$closed") return 0 ;; esac
  printf '%s\n' "$has" > "$fenced.new"
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
  printf '%s\n' "$since" > "$reached.new"
  mv -f "$reached.new" "$reached"
}
# Who is online and was known stays known; of others the sentinels are asked. They do not list a server that is not announced, and have reached
# the one that they list as up. One that just appears has no run id yet, and they do not know whether it is announced.
learn_replicas() {
  copying=$(printf '%s\n' "$online" | cut -d ' ' -f 1 | sort -u | tr '\n' ' ')
  [ "$copying" != "$own " ] || return 0
  known=$({ for s in $(sentinels); do
    { sentinel_cli "$s" sentinel replicas "$CLUSTER_NAME" | tr -d '\r' | awk '
      NR % 2 { name = $0; next }
      { v[name] = $0 }
      name == "flags" && v["port"] == 6379 && v["runid"] != "" && !/down|disconnected/ && !seen[v["ip"]]++ { print v["ip"] }'; } &
  done; wait; } | sort | uniq -c | awk -v majority="$majority" '$1 >= majority { printf "%s ", $2 }')
  own=$(printf '%s\n' "$copying" | awk -v own=" $own $known" '
    { for (i = 1; i <= NF; i++) if (index(own, " " $i " ")) { printf "%s%s", (n++ ? " " : ""), $i } }')
  printf '%s\n' "$own" > "$replicas.new"
  mv -f "$replicas.new" "$replicas"
}
mode=Off
after=0
read -r mode after < "$CONFIG_DIR/fence" || true
info=$(ask_server info replication | tr -d '\r')
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
[ "$mode" = Strict ] || online=$(printf '%s\n' "$info" | awk '
  /^slave[0-9]+:/ && /,port=6379,/ && /,state=online,/ && match($0, /ip=[^,]+/) {
    ip = substr($0, RSTART + 3, RLENGTH - 3)
    if (match($0, /lag=[0-9]+/)) print ip, substr($0, RSTART + 4, RLENGTH - 4)
  }')
# A server of somebody else may copy from it, too, and is no other side of a cut. Once most sentinels name another, replicas do not count.
own=$(cat "$replicas" 2> /dev/null) || own=
lag=
[ -e "$replaced" ] || lag=$(printf '%s\n' "$online" | awk -v own=" $own " '
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
    { sentinel_cli "$s" sentinel master "$CLUSTER_NAME" | tr -d '\r' | awk -v me="$POD_IP" '
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
