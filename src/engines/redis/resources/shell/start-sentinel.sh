#!/bin/sh
set -eu
trap 'exit 143' TERM
. "$CONFIG_DIR/library.sh"
conf=/run/redis/sentinel.conf
keep_password
rm -f /run/redis/watching /run/redis/confined /run/redis/proxied
escaped=$(printf '%s' "$password" | sed 's/[\\"]/\\&/g')
passwords() {
  printf 'requirepass "%s"\n' "$escaped"
  default_rule
  if [ -n "$identity_password" ]; then
    identity_rule
    printf 'sentinel sentinel-user %s\nsentinel sentinel-pass %s\n' "$identity" "$identity_password"
  else
    printf 'sentinel sentinel-pass "%s"\n' "$escaped"
  fi
}
# Any client that reaches a sentinel can log in as the user of the proxies. Without these limits it can send a command of up to 512 MB.
limits() { printf 'client-query-buffer-limit 1mb\nproto-max-bulk-len 1mb\n'; }
login() {
  if [ -n "$identity_password" ]; then
    printf 'sentinel auth-user %s %s\n' "$CLUSTER_NAME" "$identity"
    printf 'sentinel auth-pass %s %s\n' "$CLUSTER_NAME" "$identity_password"
  else
    printf 'sentinel auth-pass %s "%s"\n' "$CLUSTER_NAME" "$escaped"
  fi
}
if [ ! -s "$conf" ]; then
  set -- $(named_primary)
  [ -z "${2:-}" ] || learn_accepted "$2" || true
  {
    printf 'port 26379\ndir /tmp\nprotected-mode no\n'
    limits
    printf 'sentinel myid %s\n' "$(printf '%s' "$POD_NAMESPACE/$POD_NAME" | sha1sum | cut -c1-40)"
    printf 'sentinel announce-ip %s\n' "$POD_IP"
    passwords
    if [ -n "${1:-}" ]; then
      printf 'sentinel monitor %s %s 6379 %s\n' "$CLUSTER_NAME" "$1" "$(cat "$CONFIG_DIR/quorum")"
      login
      cat "$CONFIG_DIR/sentinel.conf"
    fi
  } > "$conf.new"
  mv "$conf.new" "$conf"
else
  # The same pod, perhaps with another address, as after a node's reboot. Sentinel rewrites passwords without quotes, and
  # would not read back one with a blank in it; users it may have written twice; what it has written of the default user
  # would override requirepass. The identity that it was told while it ran is kept as it is, where the pod has none.
  sed -n 's/^user default //p' "$conf" | tr ' ' '\n' | sed -n 's/^#//p' | hashes > "$accepted"
  told=no
  if [ -z "$identity_password" ] && grep -q '^sentinel auth-user ' "$conf"; then told=yes; fi
  {
    grep -v -e '^client-query-buffer-limit ' -e '^proto-max-bulk-len ' -e '^user ' -e '^requirepass ' -e '^sentinel sentinel-' -e '^sentinel auth-' -e '^sentinel announce-ip ' "$conf"
    limits
    printf 'sentinel announce-ip %s\n' "$POD_IP"
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
exec "${SERVER:-redis}-server" "$conf" --sentinel
