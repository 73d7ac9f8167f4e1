#!/bin/sh
set -eu
# The first process of a container ignores SIGTERM unless it says otherwise.
trap 'exit 143' TERM
. "$CONFIG_DIR/library.sh"
conf=/run/redis/redis.conf
keep_password
need_modules
rm -f /run/redis/loading /run/redis/confined
rm -f /run/redis/fenced /run/redis/reached /run/redis/named /run/redis/replaced /run/redis/replicas
echo $$ > /run/redis/server
: > "$restoring"
. "$CONFIG_DIR/volume.sh"
judge_volume
blank=yes
[ ! -e /data/initialised ] || blank=no

follow="127.0.0.1 1"
# No list is not an empty one: without it the node does not start.
watchers=$(sentinels)
if [ -z "$watchers" ]; then
  # A blank volume may be one that was lost: only the operator can tell, from the claim and the status.
  if [ "$blank" = no ] || [ -s "$CONFIG_DIR/ephemeral" ]; then follow=""; fi
else
  tries=0
  refused=0
  informed=
  while :; do
    set -- $(named_primary)
    primary=${1:-}
    if [ -z "$primary" ]; then
      # A node with data waits a little for sentinels that are just out of reach; a blank one has nothing to lose.
      tries=$((tries + 1))
      if [ "$blank" = yes ] || [ "$tries" -ge 5 ]; then break; fi
      sleep 1
    elif [ "$primary" != "$POD_IP" ]; then
      # Otherwise it runs and follows nobody, electable where it has data: the startup probe asks again every second.
      [ "$3" != safe ] || was_here "$primary" || follow="$primary 6379"
      break
    else
      # The sentinels still call this address primary: the process died and came back. A replica takes over, since it
      # may hold acknowledged writes that this disk does not: the one that holds the most.
      if [ "$informed" != "$2" ]; then
        inform "$2" 50 || true
        informed=$2
      fi
      answer=$(sentinel_cli "$2" sentinel failover "$CLUSTER_NAME" || true)
      case $answer in
        *NOGOODSLAVE*)
          refused=$((refused + 1))
          known=$(known_replicas)
          if [ "$known" = 0 ] || [ "$refused" -ge 50 ]; then
            # Another node that had this address is meant where this one held its data elsewhere: that one may have more. On a blank
            # volume it takes no writes, and runs: otherwise nobody could tell why there is no primary.
            if [ "$blank" = no ] && [ "$(cat /data/initialised)" = "$POD_IP" ]; then follow=""; fi
            break
          fi
          ;;
      esac
      sleep 0.2
    fi
  done
  rm -f "$accepted"
  [ -z "${2:-}" ] || learn_accepted "$2" || true
fi

# It joins a primary that lives, and holds less than that.
case $follow in '' | '127.0.0.1 1') ;; *) [ "$blank" = yes ] || uptime_ms > "$behind" ;; esac
[ -n "$follow" ] || rm -f "$behind"
priority=100
[ "$blank" = no ] && [ ! -e "$behind" ] || priority=0
escaped=$(printf '%s' "$password" | sed 's/[\\"]/\\&/g')
{
  printf 'include %s/redis.conf\n' "$CONFIG_DIR"
  modules
  printf 'dir /data\nappendonly yes\nappenddirname appendonlydir\nappendfilename appendonly.aof\n'
  # A pod that was made before it was told has what the file says.
  [ "$(most_databases)" = 0 ] || printf 'databases %s\n' "$(most_databases)"
  printf 'requirepass "%s"\n' "$escaped"
  default_rule
  if [ -n "$identity_password" ]; then
    identity_rule
    printf 'masteruser %s\nmasterauth %s\n' "$identity" "$identity_password"
  else
    printf 'masterauth "%s"\n' "$escaped"
  fi
  printf 'replica-announce-ip %s\n' "$POD_IP"
  [ -z "$watchers" ] || printf 'cluster-announce-port 26379\n'
  printf 'replica-priority %s\n' "$priority"
  [ -z "$(read_term)" ] || printf '%s %s\n' "$carrier" "$(read_term)"
  [ -z "$follow" ] || printf 'replicaof %s\n' "$follow"
} > "$conf"
unset REDISCLI_AUTH password escaped identity_password
[ ! -s "$CONFIG_DIR/fence" ] || /bin/sh "$CONFIG_DIR/fence-loop.sh" $$ < /dev/null >&2 &
exec "${SERVER:-redis}-server" "$conf"
