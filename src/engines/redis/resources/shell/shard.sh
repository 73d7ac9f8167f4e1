# shellcheck disable=SC2034 # The scripts that read this one use these.
# Of a node of a Redis Cluster. Whoever asks another node does so as the cluster, which no node of another cluster lets in.
nodes_file=/data/nodes.conf
manifest=/data/appendonlydir/appendonly.aof.manifest
# Of a restore, beside data that no server has served yet. It is good for one node: it goes when that has written its nodes.conf.
restored=/data/restored-shard
consume_restored() { if [ -s "$nodes_file" ] || [ ! -s "$manifest" ]; then rm -f "$restored"; fi; }
# Made before the server starts, and removed by the server itself when it is stopped in order: then its append-only file has all that it acknowledged.
running=/data/running
# In its place where the append-only file lacks what was acknowledged when the server was told to stop: it would remove that file as if all were there.
unwritten=/data/unwritten
own_cli() ( REDISCLI_AUTH=$identity_password; ask 2 -p 6379 --user "$identity" "$@" )
peer_cli() ( host=$1; shift; REDISCLI_AUTH=$identity_password; ask 1 -h "$host" -p 6379 --user "$identity" "$@" )
peers() { cat "$CONFIG_DIR/peers"; }
# The line of this node in what it says of the cluster.
own_line() { own_cli cluster nodes | tr -d '\r' | grep -E '^[0-9a-f]{40} [^ ]+ ([a-z?,]*,)?myself[, ]'; }
owns_slots() { own_line | awk '{ exit NF < 9 }'; }
# A replica that has not written down what it has copied would lose it as primary: it is not elected. `volume.sh` decides that. $1: `yes` where it
# has; a priority of 0 that somebody has set by hand ends then.
settle_eligibility() {
  priority=$(own_cli config get replica-priority | tail -n 1 | tr -d '\r')
  [ -n "$priority" ] || return 0
  if [ "$priority:$1" = 0:yes ]; then
    case $(own_cli config set replica-priority 100) in OK*) priority=100 ;; esac
  fi
  wanted=no
  if [ "$priority" = 0 ] || [ ! -e "$mark" ] || is_overtaken; then wanted=yes; fi
  [ "$(own_cli config get cluster-replica-no-failover | tail -n 1 | tr -d '\r')" = "$wanted" ] ||
    own_cli config set cluster-replica-no-failover "$wanted" > /dev/null
}
# A node that hears of another address of its primary from a third one goes on copying from the address of before. Told its primary again, it
# goes over.
find_primary() {
  case "$(field role):$(field master_link_status)" in slave:down) ;; *) return 0 ;; esac
  primary=$(own_line | awk '{ print $4 }')
  now=$(own_cli cluster nodes | tr -d '\r' | grep "^$primary " | awk '{ sub(/:[0-9]+@.*/, "", $2); print $2 }')
  [ -z "$now" ] || [ "$now" = "$(field master_host)" ] || own_cli cluster replicate "$primary" > /dev/null || true
}
# When all pods have new addresses at once, no node finds another: each asks by the names of the pods. Only a node that takes the identity of
# this cluster and has an ID that this node knows is met, at the address that it says itself. The others hear of it from these two.
find_peers() {
  case $(own_cli cluster info) in '' | *cluster_state:ok*) return 0 ;; esac
  known=$(own_cli cluster nodes | tr -d '\r')
  met_by=$(($(uptime_ms) + 2500))
  next=$(cat /run/redis/next-peer 2> /dev/null) || next=0
  case $next in '' | *[!0-9]*) next=0 ;; esac
  number=0
  for p in $(peers); do
    number=$((number + 1))
    [ "$number" -gt "$next" ] || continue
    if [ "$(uptime_ms)" -gt "$met_by" ]; then
      echo "$((number - 1))" > /run/redis/next-peer
      return 0
    fi
    id=$(peer_cli "$p" cluster myid | tr -d '\r') || continue
    case $id in *[!0-9a-f]* | '') continue ;; esac
    printf '%s\n' "$known" | grep -E "^$id " | grep -qvE ' ([a-z?,]*,)?(myself|handshake)[, ]|[0-9]+ connected( |$)' || continue
    address=$(peer_cli "$p" config get cluster-announce-ip | tail -n 1 | tr -d '\r')
    [ -z "$address" ] || own_cli cluster meet "$address" 6379 > /dev/null || true
  done
  echo 0 > /run/redis/next-peer
}
