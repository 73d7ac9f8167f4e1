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
  printf 'cluster-enabled yes\ncluster-config-file nodes.conf\n'
  printf 'cluster-announce-ip %s\nreplica-announce-ip %s\n' "$POD_IP" "$POD_IP"
  printf 'cluster-announce-hostname %s\n' "$own"
  printf 'requirepass "%s"\n' "$escaped"
  client_rule
  identity_rule
  printf 'masteruser %s\nmasterauth %s\n' "$identity" "$identity_password"
  printf 'replica-priority %s\ncluster-replica-no-failover %s\n' "$priority" "$unelected"
} > "$conf"
unset REDISCLI_AUTH password escaped identity_password
exec "${SERVER:-redis}-server" "$conf"
