#!/bin/sh
set -eu
# The first process of a container ignores SIGTERM unless it says otherwise.
trap 'exit 143' TERM
. "$CONFIG_DIR/library.sh"
conf=/run/redis/redis.conf
keep_password
rm -f /run/redis/loading /run/redis/next-peer
: > "$restoring"
. "$CONFIG_DIR/volume.sh"
. "$CONFIG_DIR/shard.sh"
judge_volume
# A copy of another pod's volume is that pod's node: with its ID it would draw clients and replicas of that cluster to itself.
own="$POD_NAME.$CLUSTER_NAME.$POD_NAMESPACE.svc"
held=$(awk '$3 ~ /myself/ { split($2, part, ","); print part[2] }' "$nodes_file" 2> /dev/null || true)
if [ -n "$held" ] && [ "$held" != "$own" ]; then
  echo "/data holds the node of $held: this is a copy of another volume, and is not started" >&2
  exit 1
fi
# Without its data, a node would serve its slots empty, and its replicas would copy that. It starts as a new node, which has no slots.
if [ -e "$nodes_file" ] && [ ! -s "$manifest" ]; then
  if [ -e "$nodes_file.without-data" ]; then rm -f "$nodes_file"; else mv "$nodes_file" "$nodes_file.without-data"; fi
fi
# With data and no nodes.conf, a server takes the slots of its keys, though another node may have served them since.
if [ ! -e "$nodes_file" ] && [ -e "$manifest" ]; then
  if [ -e /data/appendonlydir.without-nodes ]; then
    echo "/data holds data without nodes.conf, and appendonlydir.without-nodes from before: delete one of them" >&2
    exit 1
  fi
  rm -f "$mark"
  mv /data/appendonlydir /data/appendonlydir.without-nodes
fi
# What a node says of this one: `replaced` where another has its slots by a later epoch, `followed` where it has a replica, or `alone`.
# $1: the node, $2: the own ID, $3: the epoch, $4: a slot.
verdict_of() {
  peer_cli "$1" cluster nodes | tr -d '\r' | awk -v id="$2" -v epoch="$3" -v slot="$4" '
    $1 == id { known = 1; if (NF >= 9) owns = 1 }
    $4 == id && $3 ~ /slave/ { followed = 1 }
    $1 != id && $7 + 0 > epoch + 0 {
      for (i = 9; i <= NF; i++) {
        n = split($i, range, "-")
        if ($i ~ /^[0-9]/ && range[1] + 0 <= slot + 0 && slot + 0 <= range[n] + 0) another = 1
      }
    }
    END { if (another && !owns) print "replaced"; else if (known) print followed ? "followed" : "alone" }'
}
# What several nodes say together, those of the own shard first; or nothing. One that has just come back may know less.
peers_say() {
  said=
  answers=0
  asks_by=$(($(uptime_ms) + 10000))
  for p in $(peers | grep "^${POD_NAME%-*}-") $(peers | grep -v "^${POD_NAME%-*}-"); do
    case $(verdict_of "$p" "$@") in
      replaced)
        said=replaced
        break
        ;;
      followed) said=followed ;;
      alone) [ "$said" = followed ] || said=alone ;;
      *)
        if [ "$(uptime_ms)" -ge "$asks_by" ]; then break; fi
        continue
        ;;
    esac
    answers=$((answers + 1))
    [ "$answers" -lt 6 ] || break
  done
  echo "$said"
}
# A primary whose process was killed may have acknowledged what its disk does not have, and its replicas may hold it: as primary it would have
# them copy less. One of them takes over, as with Sentinel. Where none is elected in time, they all have failed with it, and it goes on with what
# its file has; but never without the mark, which says that this is its dataset.
await_heir() {
  set -- $(awk '$3 ~ /myself/ && $3 ~ /master/ {
    for (i = 9; i <= NF; i++) if ($i ~ /^[0-9]/) { split($i, range, "-"); print $1, $7, range[1]; exit }
  }' "$nodes_file" 2> /dev/null || true)
  [ $# -eq 3 ] || return 0
  if [ -e "$mark" ] && [ ! -e "$running" ]; then return 0; fi
  node_timeout=$(awk '$1 == "cluster-node-timeout" { print $2 }' "$CONFIG_DIR/redis.conf" | tail -n 1)
  case $node_timeout in '' | *[!0-9]*) node_timeout=5000 ;; esac
  give_up=$(($(uptime_ms) + 3 * node_timeout))
  told=no
  while :; do
    case $(peers_say "$@") in replaced | alone) return 0 ;; esac
    if [ "$(uptime_ms)" -ge "$give_up" ]; then
      [ ! -e "$mark" ] || return 0
      if [ "$told" = no ]; then
        echo "/data does not hold all that this primary has served, and no replica has taken over: it is not started before one has; to serve what there is, and lose the rest, create $mark" >&2
        told=yes
      fi
    fi
    sleep 0.5
  done
}
await_heir
# Only a new pod may have missed a change of the password.
if [ "$is_new" = yes ]; then
  for p in $(peers | head -n 5); do
    told=$(peer_cli "$p" acl getuser default | hashes)
    [ -n "$told" ] || continue
    printf '%s\n' "$told" > "$accepted"
    break
  done
fi
client_rule() {
  {
    [ ! -s "$accepted" ] || cat "$accepted"
    if [ "$is_new" = yes ] || [ ! -s "$accepted" ]; then hash_of "$password"; fi
  } | hashes | awk '{ rule = rule " #" $0 } END { printf "user default on%s ~* &* +@all %s\n", rule, "SHARD_CLIENT_RULE" }'
}
priority=100
unelected=no
if [ ! -e "$mark" ] || [ -e "$behind" ]; then
  priority=0
  unelected=yes
fi
escaped=$(printf '%s' "$password" | sed 's/[\\"]/\\&/g')
{
  printf 'include %s/redis.conf\n' "$CONFIG_DIR"
  printf 'dir /data\nappendonly yes\nappenddirname appendonlydir\nappendfilename appendonly.aof\n'
  printf 'pidfile %s\n' "$running"
  printf 'cluster-enabled yes\ncluster-config-file nodes.conf\n'
  printf 'cluster-announce-ip %s\nreplica-announce-ip %s\n' "$POD_IP" "$POD_IP"
  printf 'cluster-announce-hostname %s\n' "$own"
  printf 'requirepass "%s"\n' "$escaped"
  client_rule
  identity_rule
  printf 'masteruser %s\nmasterauth %s\n' "$identity" "$identity_password"
  printf 'replica-priority %s\ncluster-replica-no-failover %s\n' "$priority" "$unelected"
} > "$conf"
if printf 'yes\n' 2> /dev/null > "$running"; then sync "$running" 2> /dev/null || true; fi
unset REDISCLI_AUTH password escaped identity_password
exec "${SERVER:-redis}-server" "$conf"
