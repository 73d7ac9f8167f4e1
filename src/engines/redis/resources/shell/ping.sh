#!/bin/sh
set -eu
. "$CONFIG_DIR/library.sh"
settle_password 6379 || true
keep_fence || true
tell_sentinels || true
[ -n "$(sentinels)" ] || keep_accepted || true
keep_users || true
(. "$CONFIG_DIR/tls.sh" && keep_certificate) || true
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
