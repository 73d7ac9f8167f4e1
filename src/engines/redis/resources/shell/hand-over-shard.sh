#!/bin/sh
set -eu
. "$CONFIG_DIR/library.sh"
settle_password 6379 || true
. "$CONFIG_DIR/shard.sh"
# SIGTERM comes once, and a server whose append-only file does not hold the copied dataset yet refuses it for good.
until_written() {
  local_cli config set save '' > /dev/null || true
  tries=0
  while [ "$tries" -lt 20 ]; do
    case $(local_cli info persistence) in *aof_rewrite_in_progress:1* | *aof_rewrite_scheduled:1*) ;; *) break ;; esac
    tries=$((tries + 1))
    sleep 1
  done
}
trap until_written EXIT
give_up=$(($(date +%s) + 10))
role() { own_cli role | head -n 1 | tr -d '\r'; }
[ "$(role)" = master ] && owns_slots || exit 0
# Servers of Redis do not tell their replicas which slots are open: keys of these that have moved would read as missing. The operator finishes them.
tries=0
while [ "$tries" -lt 30 ] && own_line | grep -q '\['; do
  tries=$((tries + 1))
  sleep 0.1
done
# Those that have the most come first. The replica has this server pause its writes until it has everything.
for p in $(own_cli info replication | tr -d '\r' | awk -F'[=,]' '/^slave[0-9]+:/ && /state=online/ { print $8, $2 }' | sort -rn | cut -d ' ' -f 2); do
  [ "$(date +%s)" -lt "$give_up" ] || break
  case $(peer_cli "$p" info persistence) in *aof_rewrite_in_progress:0*) ;; *) continue ;; esac
  case $(peer_cli "$p" cluster failover) in OK*) ;; *) continue ;; esac
  tries=0
  while [ "$tries" -lt 60 ] && [ "$(date +%s)" -lt "$give_up" ]; do
    [ "$(role)" != slave ] || exit 0
    tries=$((tries + 1))
    sleep 0.1
  done
done
exit 0
