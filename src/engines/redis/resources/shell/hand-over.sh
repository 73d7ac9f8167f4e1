#!/bin/sh
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
info=$(local_cli info replication | tr -d '\r')
case $info in *role:master*) ;; *) exit 0 ;; esac
peers=$(printf '%s\n' "$info" | awk -F'[=,]' '/^slave[0-9]+:/ && /state=online/ { print $2 }')
[ -n "$peers" ] || exit 0
set -- $(named_primary)
[ "${1:-}" = "$POD_IP" ] || exit 0
sentinel=$2

paused_at=$(uptime_ms)
local_cli client pause 10000 write > /dev/null
give_up=$(($(date +%s) + 8))
in_time() { [ "$(date +%s)" -lt "$give_up" ]; }
# Seconds count whole: between two and three of them.
caught_up_by=$(($(date +%s) + 3))
resume() { local_cli client unpause > /dev/null; exit 0; }
target=$(local_cli info replication | tr -d '\r' | awk -F: '/^master_repl_offset:/ { print $2 }')
while :; do
  ahead=
  behind=
  for p in $peers; do
    told=$(node_cli "$p" info replication | tr -d '\r')
    # Servers elsewhere copy from this one, too. One that lets nobody in, or has priority 0, is not elected: nobody waits for it. A node of the
    # cluster with priority 0 may get another just now.
    case $told in
      NOAUTH* | WRONGPASS* | NOPERM*) continue ;;
      *slave_priority:0*) [ "$(node_cli "$p" config get masteruser | tail -n 1 | tr -d '\r')" = "$identity" ] || continue ;;
    esac
    got=$(printf '%s\n' "$told" | awk -F: '/^slave_repl_offset:/ { print $2 }')
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
    role=$(node_cli "$p" role | head -n 1 | tr -d '\r')
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
  others=$(node_cli "$promoted" info replication | tr -d '\r' |
    awk -F'[=,]' -v me="$POD_IP" '/^slave[0-9]+:/ && /state=online/ && $2 != me { n++ } END { print n + 0 }')
  [ "$others" = 0 ] || exit 0
  tries=$((tries + 1))
  sleep 0.1
done
exit 0
