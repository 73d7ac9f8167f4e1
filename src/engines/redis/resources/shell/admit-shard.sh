#!/bin/sh
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
