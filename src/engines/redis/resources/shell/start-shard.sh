#!/bin/sh
set -eu
# The first process of a container ignores SIGTERM unless it says otherwise.
trap 'exit 143' TERM
. "$CONFIG_DIR/library.sh"
conf=/run/redis/redis.conf
keep_password
need_modules
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
# The data is kept, and not served. $1: the end of its new name, $2: why.
put_aside() {
  name=$1
  number=1
  while [ -e "/data/appendonlydir.$name" ]; do
    number=$((number + 1))
    name=$1-$number
  done
  echo "$2; its data is moved to /data/appendonlydir.$name" >&2
  rm -f "$mark"
  mv /data/appendonlydir "/data/appendonlydir.$name"
}
# With data and no nodes.conf, a server takes the slots of its keys, though another node may have served them since. What a restore has put here,
# nobody has served. The file is empty where the first process was killed before it had written it.
consume_restored
if [ ! -s "$nodes_file" ] && [ -e "$manifest" ] && [ ! -e "$restored" ]; then put_aside without-nodes '/data holds data without nodes.conf'; fi
# What a node says of this one: `replaced` where another has its slots by a later epoch, `contested` where another node of the shard has them by the
# same one: when the two met, the smaller ID would win, `followed` where it has a replica, or `alone`. A replica that has failed is not elected; without the mark it is waited for.
# $1: the node, $2: the own ID, $3: the epoch, $4: a slot.
verdict_of() {
  marked=no
  [ ! -e "$mark" ] || marked=yes
  peer_cli "$1" cluster nodes | tr -d '\r' | awk -v id="$2" -v epoch="$3" -v slot="$4" -v marked="$marked" -v shard=",${POD_NAME%-*}-" '
    $1 == id { known = 1; if (NF >= 9) owns = 1 }
    $4 == id && $3 ~ /slave/ && (marked == "no" || $3 !~ /fail(,|$)/) { followed = 1 }
    $1 != id {
      for (i = 9; i <= NF; i++) {
        n = split($i, range, "-")
        if ($i !~ /^[0-9]/ || range[1] + 0 > slot + 0 || slot + 0 > range[n] + 0) continue
        if ($7 + 0 > epoch + 0) another = 1
        else if ($7 + 0 == epoch + 0 && index($2, shard)) contested = 1
      }
    }
    END {
      if (another && !owns) print "replaced"
      else if (contested && !owns) print "contested"
      else if (known) print followed ? "followed" : "alone"
    }'
}
own_peers() { peers | grep "^${POD_NAME%-*}-" | grep -vE "^$POD_NAME(\.|$)"; }
# What several nodes say together, those of the own shard first; or nothing. One that has just come back may know less.
peers_say() {
  said=
  answers=0
  asks_by=$(($(uptime_ms) + 10000))
  for p in $(own_peers) $(peers | grep -v "^${POD_NAME%-*}-"); do
    case $(verdict_of "$p" "$@") in
      replaced)
        said=replaced
        break
        ;;
      # Who has heard of an election knows more than who has not.
      contested) said=contested ;;
      followed) [ "$said" = contested ] || said=followed ;;
      alone) [ -n "$said" ] || said=alone ;;
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
# Whether the process of this primary was killed, or its file lacks what it has acknowledged, or its dataset is not all that it had.
is_doubtful() { [ ! -e "$mark" ] || [ -e "$running" ] || [ -e "$unwritten" ]; }
# Keys move to a primary before its first slot does. Nobody is elected in the place of a primary without slots, so its replica alone may have some of
# them, and would lose them by copying from it. $1: the own ID, $2: the own epoch. Prints `copy` and the replica that has keys, `silent` where one may, or
# `taken` and the node of this shard that a person has made primary in its place, by a newer epoch, and that has keys.
keeper() {
  found=
  for p in $(own_peers); do
    is=$(peer_cli "$p" cluster nodes | tr -d '\r' | awk -v id="$1" -v epoch="$2" '$3 ~ /myself/ {
      for (i = 9; i <= NF; i++) if ($i ~ /^[0-9]/) owns = 1
      isTaken = $4 == "-" && !owns && $7 + 0 > epoch + 0
      print ($4 == id ? "copy" : isTaken ? "taken" : "other")
    }')
    [ "$is" != other ] || continue
    case ${is:+$(peer_cli "$p" dbsize | tr -d '\r')} in
      0) ;;
      *[!0-9]* | '') [ -n "$found" ] || found=silent ;;
      *)
        found="$is $p"
        [ "$is" = copy ] || break
        ;;
    esac
  done
  echo "$found"
}
await_keeper() {
  told=no
  while :; do
    kept=$(keeper "$@")
    case $kept in
      '') return 0 ;;
      silent) [ "$(uptime_ms)" -lt "$give_up" ] || return 0 ;;
      taken*)
        put_aside taken "${kept#taken } has been made primary of this shard, and has keys: this pod has a new node, which follows it"
        # With its ID, clients would be sent to it for the keys that it had.
        rm -f "$nodes_file"
        return 0
        ;;
      *)
        if [ "$told" = no ]; then
          echo "this primary has no slot, and /data may lack keys that have moved here and that ${kept#copy } has: it is not started before that is primary; run CLUSTER FAILOVER TAKEOVER there" >&2
          told=yes
        fi
        ;;
    esac
    sleep 0.5
  done
}
# A replica that had its link, and has lost it: a second attempt to elect it begins five times `cluster-node-timeout` after that. One that has
# started since is not elected.
may_be_elected() {
  for p in $(own_peers); do
    case $(peer_cli "$p" info replication) in *role:slave*master_link_down_since_seconds:[0-9]*) return 0 ;; esac
  done
  return 1
}
# A primary whose process was killed may have acknowledged what its disk does not have, and its replicas may hold it: as primary it would have
# them copy less. One of them takes over, as with Sentinel. Where none is elected in time, they all have failed with it, and it goes on with what
# its file has; but never without the mark, which says that this is its dataset.
await_heir() {
  set -- $(awk '$3 ~ /myself/ && $3 ~ /master/ {
    for (i = 9; i <= NF; i++) if ($i ~ /^[0-9]/) { split($i, range, "-"); print $1, $7, range[1]; exit }
    print $1, $7
  }' "$nodes_file" 2> /dev/null || true)
  [ $# -gt 0 ] && is_doubtful || return 0
  node_timeout=$(awk '$1 == "cluster-node-timeout" { print $2 }' "$CONFIG_DIR/redis.conf" | tail -n 1)
  case $node_timeout in '' | *[!0-9]*) node_timeout=5000 ;; esac
  began=$(uptime_ms)
  give_up=$((began + 3 * node_timeout))
  if [ $# -eq 2 ]; then
    await_keeper "$@"
    return 0
  fi
  told=no
  while :; do
    verdict=$(peers_say "$@")
    case $verdict in replaced | alone) return 0 ;; esac
    if [ "$verdict" = contested ]; then
      if [ "$told" = no ]; then
        echo "another node of this shard has its slots, by the same epoch: it is not started before that has a newer one; run CLUSTER BUMPEPOCH on a replica of another shard, and then there" >&2
        told=yes
      fi
    elif [ "$(uptime_ms)" -ge "$give_up" ]; then
      if [ -e "$mark" ]; then
        [ "$(uptime_ms)" -lt "$((began + 7 * node_timeout))" ] && may_be_elected || return 0
      elif [ "$told" = no ]; then
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
  modules
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
[ ! -e "$running" ] || rm -f "$unwritten"
unset REDISCLI_AUTH password escaped identity_password
exec "${SERVER:-redis}-server" "$conf"
