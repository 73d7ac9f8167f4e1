#!/bin/sh
set -eu
. "$CONFIG_DIR/library.sh"
settle_password 6379 || true
. "$CONFIG_DIR/volume.sh"
look
# An import may take longer than the kubelet waits.
if is_importing; then exit 0; fi
confine_clients || true
(. "$CONFIG_DIR/tls.sh" && secure_server) || true
# A copy is on the disk once the append-only file holds it: killed before, the node would not have what it acknowledged.
kept=no
if settle_mark; then kept=yes; fi
settle_term
# Where the mark was given just now, this has been said.
electable() { [ "$kept:$stale" = yes:yes ] || local_cli config set replica-priority 100 > /dev/null; }
case "$(field role):$(field master_link_status)" in
  master:*)
    restore_users "" || exit 1
    electable
    ;;
  slave:up)
    [ "$kept" = no ] || electable
    set -- $(named_primary)
    if [ "${1:-}" = "$POD_IP" ]; then exit 1; fi
    follow=127.0.0.1
    port=1
    if [ "${3:-}" = safe ]; then
      follow=$1
      port=6379
    fi
    if [ "$follow" != "$(field master_host)" ]; then
      # It may have been promoted since it was asked.
      case $(local_cli role) in slave*) replicate_from "$follow" "$port" > /dev/null ;; esac
      exit 1
    fi
    [ "$kept" = yes ] || exit 1
    shift 3
    for s; do is_known_to "$s" || exit 1; done
    restore_users "$follow" || exit 1
    ;;
  slave:*)
    if [ "$(field master_sync_in_progress)" = 0 ]; then
      set -- $(named_primary)
      if [ "${3:-}" = safe ] && [ "$1" != "$POD_IP" ] && ! was_here "$1"; then
        [ "$stale" = yes ] || fall_behind
        [ "$1" = "$(field master_host)" ] || replicate_from "$1" 6379 > /dev/null
      fi
    fi
    exit 1
    ;;
  *) exit 1 ;;
esac
