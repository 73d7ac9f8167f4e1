#!/bin/sh
set -eu
. "$CONFIG_DIR/library.sh"
settle_password 6379 || true
. "$CONFIG_DIR/volume.sh"
. "$CONFIG_DIR/shard.sh"
look
kept=no
if settle_mark; then kept=yes; fi
settle_eligibility || true
find_peers || true
case "$(field loading):$(field role):$(field master_link_status)" in
  0:master:*) owns_slots ;;
  0:slave:up) [ "$kept" = yes ] ;;
  *) exit 1 ;;
esac
