#!/bin/sh
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
