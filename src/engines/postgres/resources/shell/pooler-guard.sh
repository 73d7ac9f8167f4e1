#!/bin/sh
# Runs beside PgBouncer. It ends a pause that has lasted too long: the operator pauses for a switchover, and may have died
# since. It also has PgBouncer read its files again when they change: settings, and renewed certificates.
# The kernel tells PgBouncer that this process runs as the same user, so no password is needed.
set -u
for psql in /usr/lib/postgresql/*/bin/psql; do :; done

console() {
  timeout 5 "$psql" --no-psqlrc --no-password --tuples-only --no-align --quiet \
    --host="$SOCKET" --port="$CONSOLE_PORT" --username=pgbouncer --dbname=pgbouncer --command="$1" 2>&1
}

# Times are those of the kernel, which nobody sets.
seconds() { cut -d. -f1 /proc/uptime; }

trap 'exit 0' TERM INT
loaded=
since=
while :; do
  digest=$(cat "$CONFIG"/* ${SHOWN:+"$SHOWN"/*} | sha256sum)
  if [ "$digest" != "$loaded" ] && console RELOAD >/dev/null; then
    [ -n "$loaded" ] && echo 'guard: the files have changed, and PgBouncer has read them'
    loaded=$digest
  fi
  if console 'SHOW STATE' | grep -q '^paused|yes'; then
    since=${since:-$(seconds)}
    if [ $(($(seconds) - since)) -ge "$PAUSE_LIMIT" ]; then
      echo "guard: paused for ${PAUSE_LIMIT} s: resume: $(console RESUME)"
      since=
    fi
  else
    since=
  fi
  sleep 2 & wait $!
done
