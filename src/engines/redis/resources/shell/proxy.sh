#!/bin/sh
set -eu
# HAProxy does not look in the search list of resolv.conf.
CLUSTER_DOMAIN=cluster.local
while read -r word rest; do
  [ "$word" = search ] || continue
  for domain in $rest; do
    case $domain in svc.*) CLUSTER_DOMAIN=${domain#svc.} ;; esac
  done
done < /etc/resolv.conf
# Of pods with both families, Redis announces the first.
case $POD_IP in
  *:*) IP_FAMILY=ipv6 BIND='[::]' ;;
  *) IP_FAMILY=ipv4 BIND='' ;;
esac
export CLUSTER_DOMAIN IP_FAMILY BIND
exec haproxy -db -f "$CONFIG_DIR/haproxy.cfg"
