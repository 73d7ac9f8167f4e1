#!/bin/sh
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
