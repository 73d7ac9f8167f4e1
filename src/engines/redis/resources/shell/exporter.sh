#!/bin/sh
# Runs redis_exporter beside a server, and again when it ends. This shell goes on meanwhile: a container that ends makes its pod unready,
# and the Services would leave out a server that is well.
set -u
umask 077
program=$(command -v redis_exporter || command -v prometheus-redis-exporter || echo /redis_exporter)
passwords=/run/exporter/passwords.json
# As redis_exporter writes the user into an address.
user=$(printf '%s' "$IDENTITY" | sed 's|/|%2F|g')
exporter=
pause=
password=
# Without a line there is no password, and one that is not of these characters is not one that the operator has made.
current() {
  read -r password < "$IDENTITY_FILE" || :
  case $password in *[!A-Za-z0-9+/=_.-]*) password= ;; esac
}
# Its runtime collects garbage before it reaches the limit of the container, which is not in the environment: a limit may change in place.
spare_memory() {
  limit=
  { read -r limit < /sys/fs/cgroup/memory.max; } 2> /dev/null
  case $limit in
    '' | *[!0-9]*) unset GOMEMLIMIT ;;
    *) export GOMEMLIMIT="$((limit * 8 / 10))" ;;
  esac
}
# Of files and connections. Each connection may hold a megabyte of headers, and an exporter beyond its memory limit makes the pod unready:
# strangers must not be able to do that. About twelve can be served at a time, others wait.
# shellcheck disable=SC3045 # Not in POSIX; dash, busybox and bash have it.
ulimit -n 20
trap 'kill $exporter $pause 2> /dev/null; exit 0' TERM INT
while :; do
  password=
  current
  used=$password
  # For this address and user alone, so nothing else is ever told the password.
  printf '{"redis://%s@127.0.0.1:%s":"%s"}\n' "$user" "$REDIS_PORT" "$used" > "$passwords"
  spare_memory
  # Without the last, whoever reaches the port could have it ask another address, or read names of keys.
  "$program" --web.listen-address=":$METRICS_PORT" --redis.addr="redis://127.0.0.1:$REDIS_PORT" \
    --redis.user="$IDENTITY" --redis.password-file="$passwords" --connection-timeout=5s --disable-scrape-endpoint &
  exporter=$!
  # The kubelet changes the mounted file when the Secret changes.
  while :; do
    sleep 5 &
    pause=$!
    wait "$pause"
    kill -0 "$exporter" 2> /dev/null || break
    current
    if [ "$password" != "$used" ]; then
      kill "$exporter"
      break
    fi
  done
  wait "$exporter"
  echo "redis_exporter has ended with code $? and starts again" >&2
done
