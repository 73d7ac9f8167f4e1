#!/bin/sh
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
role() { own_cli role | head -n 1 | tr -d '\r'; }
[ "$(role)" = master ] && owns_slots || exit 0
# Servers of Redis do not tell their replicas which slots are open: keys of these that have moved would read as missing. The operator finishes them.
tries=0
while [ "$tries" -lt 30 ] && own_line | grep -q '\['; do
  tries=$((tries + 1))
  sleep 0.1
done
# Whether this replica would still have on its next start what it has copied, as its pod has decided. A failover by hand asks for neither that nor priority.
may_lead() {
  case $(peer_cli "$1" config get cluster-replica-no-failover | tail -n 1 | tr -d '\r') in no) ;; *) return 1 ;; esac
  peer_cli "$1" info | tr -d '\r' | awk -F: '
    { told[$1] = $2 }
    END {
      exit !(told["master_link_status"] == "up" && told["slave_priority"] + 0 > 0 && told["aof_enabled"] == "1" &&
        told["aof_rewrite_in_progress"] == "0" && told["aof_rewrite_scheduled"] == "0")
    }'
}
# Those that have the most come first. The replica has this server pause its writes until it has everything.
for p in $(own_cli info replication | tr -d '\r' | awk -F'[=,]' '/^slave[0-9]+:/ && /state=online/ { print $8, $2 }' | sort -rn | cut -d ' ' -f 2); do
  [ "$(date +%s)" -lt "$give_up" ] || break
  may_lead "$p" || continue
  # Nobody takes a slot from this server meanwhile: who would asks it first, by a command that waits for the end of the pause, and has 0.1 s then. See ADR 48.
  own_cli client pause 3000 write > /dev/null || true
  sleep 0.2
  case $(peer_cli "$p" cluster failover) in
    OK*) ;;
    *)
      own_cli client unpause > /dev/null || true
      continue
      ;;
  esac
  tries=0
  while [ "$tries" -lt 60 ] && [ "$(date +%s)" -lt "$give_up" ]; do
    if [ "$(role)" = slave ]; then
      own_cli client unpause > /dev/null || true
      exit 0
    fi
    tries=$((tries + 1))
    sleep 0.1
  done
  own_cli client unpause > /dev/null || true
done
exit 0
