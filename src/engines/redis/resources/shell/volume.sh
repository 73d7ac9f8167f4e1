mark=/data/initialised
received=/data/dump.rdb
unfinished=/data/appendonlydir/temp-appendonly.aof.incr
behind=/run/redis/behind
# Whether a copy has begun since the mark was given. Equal times count.
is_overtaken() {
  [ ! -e "$unfinished" ] || return 0
  [ -e "$received" ] && [ ! "$mark" -nt "$received" ]
}
used=/data/databases
most_databases() {
  most=$(cat "$used" 2> /dev/null) || most=
  case $most in '' | *[!0-9]* | ?????*) most=0 ;; esac
  [ "$most" -ge "${DATABASES:-0}" ] || most=$DATABASES
  echo "$most"
}
keep_databases() {
  most=$(most_databases)
  [ "$most" != 0 ] && [ "$(cat "$used" 2> /dev/null)" != "$most" ] || return 0
  if printf '%s\n' "$most" 2> /dev/null > "$used.new" && mv -f "$used.new" "$used"; then sync "$used" 2> /dev/null || true; fi
}
# Before the server starts.
judge_volume() {
  keep_databases
  if is_overtaken; then rm -f "$mark"; fi
  # Of a rewrite or a copy in whose middle the process was killed. Servers neither read nor delete them: they would fill the volume.
  rm -f /data/temp-rewriteaof-*.aof /data/temp-[0-9]*.rdb || true
  # With dump.rdb it is all that a person could recover the copy from.
  [ ! -e "$unfinished" ] || mv -f "$unfinished" /data/unfinished.aof
  # Times by the clock of another Kubernetes node mean nothing here.
  [ ! -e "$received" ] || touch -t 200001010000 "$received"
  [ ! -e "$mark" ] || touch "$mark"
}
# Asks the server. A mark that is due is dated before, so that a copy that begins meanwhile is newer.
look() {
  keep_databases
  due=no
  stale=no
  if [ ! -e "$mark" ] || is_overtaken; then stale=yes; fi
  if [ "$stale" = yes ] || [ "$(cat "$mark" 2> /dev/null)" != "$POD_IP" ]; then
    if printf '%s\n' "$POD_IP" 2> /dev/null > "$mark.new"; then due=yes; fi
  fi
  info=$(local_cli info | tr -d '\r')
}
# Values may hold colons, as IPv6 addresses do.
field() { printf '%s\n' "$info" | sed -n "s/^$1://p"; }
# Whether the primary at this address is this very node, from before it got another one: the sentinels have yet to miss it. Not where
# another has become primary there.
was_here() {
  [ "$(cat "$mark" 2> /dev/null)" = "$1" ] && [ "$(node_cli "$1" role | head -n 1 | tr -d '\r')" != master ]
}
# It holds less than a primary that lives, and is not elected for as long as that one may come back.
fall_behind() {
  uptime_ms > "$behind"
  local_cli config set replica-priority 0 > /dev/null || true
}
# Of a replica without a link. Nothing that is newer has come back within three minutes: then old data has to do.
settle_behind() {
  if [ "$(field master_sync_in_progress)" = 1 ]; then
    fall_behind
  elif [ "$stale" = yes ] || [ ! -e "$behind" ]; then
    return 0
  elif [ ! -s "$behind" ]; then
    # The process that wrote the file was killed before it had written the time.
    fall_behind
  elif [ "$(($(uptime_ms) - $(cat "$behind")))" -gt 180000 ]; then
    local_cli config set replica-priority 100 > /dev/null || return 0
    rm -f "$behind"
  fi
}
# Whether this server has had its link, and so has loaded a copy, and is not at another. Where the primary ends before the copy is written
# down, this node may be all that holds what the two have acknowledged.
had_link() {
  case $(field master_link_down_since_seconds) in '' | -*) return 1 ;; esac
  [ "$(field aof_enabled):$(field loading):$(field master_sync_in_progress)" = 1:0:0 ]
}
# It copies a server elsewhere, and is told what to do by the operator alone: hidden from sentinels, which nothing else makes a node. Its volume has no
# mark until the cut-over, so that it takes no writes by itself when it starts again.
is_importing() { [ "$(field role):$(field replica_announced)" = slave:0 ]; }
# Takes the mark, or gives it, by what the server said. Succeeds where the append-only file holds the dataset.
settle_mark() {
  case "$(field aof_enabled):$(field role):$(field master_link_status)" in
    1:master:* | 1:slave:up) ;;
    0:*)
      rm -f "$mark"
      case "$(field role):$(field master_link_status)" in
        # Switched off by hand.
        master:* | slave:up) local_cli config set appendonly yes > /dev/null || true ;;
        # By the server, while it loads a copy or since it could not: the node holds a part of the dataset, or nothing.
        *) local_cli config set replica-priority 0 > /dev/null || true ;;
      esac
      return 1
      ;;
    *)
      if [ "$stale" = no ] || ! had_link; then
        settle_behind
        return 1
      fi
      ;;
  esac
  if [ "$stale" = yes ] && [ "$(field aof_rewrite_in_progress):$(field aof_rewrite_scheduled)" != 0:0 ]; then
    rm -f "$mark"
    return 1
  fi
  if [ "$due" = yes ]; then
    mv -f "$mark.new" "$mark"
    sync "$mark" 2> /dev/null || true
    rm -f /data/unfinished.aof
  fi
  [ "$stale" = no ] || local_cli config set replica-priority 100 > /dev/null || true
  if is_overtaken; then return 1; fi
  if [ -e "$behind" ]; then
    [ "$stale" = yes ] || local_cli config set replica-priority 100 > /dev/null || return 0
    rm -f "$behind"
  fi
  return 0
}
record=/data/term
carrier=cluster-announce-hostname
number_of() { case ${1#*-} in '' | *[!0-9]*) echo 0 ;; *) echo "${1#*-}" ;; esac; }
# The record, or nothing where it is none.
read_term() { case $(cat "$record" 2> /dev/null) in primary-*[!0-9]* | replica-*[!0-9]*) ;; primary-[0-9]* | replica-[0-9]*) cat "$record" ;; esac; }
# Brings the record in line with the role that the server has. What the operator has told the server counts where it is later.
settle_term() {
  [ -n "$info" ] || return 0
  written=$(read_term)
  told=$(local_cli config get "$carrier" | tail -n 1 | tr -d '\r')
  term=$written
  [ "$(number_of "$told")" -le "$(number_of "$written")" ] || term=$told
  number=$(number_of "$term")
  case "$(field role):$(field master_link_status)" in
    master:*)
      case $term in primary-*) ;; *) term=primary-$((number + 1)) ;; esac
      ;;
    slave:up)
      primary=$(node_cli "$(field master_host)" config get "$carrier" | tail -n 1 | tr -d '\r')
      case $primary in primary-*) [ "$(number_of "$primary")" -le "$number" ] || number=$(number_of "$primary") ;; esac
      # It holds the dataset of another now, whatever it was before.
      [ "$number" = 0 ] || term=replica-$number
      ;;
  esac
  if [ -n "$term" ] && [ "$term" != "$written" ]; then
    if printf '%s
' "$term" 2> /dev/null > "$record.new"; then
      mv -f "$record.new" "$record"
      sync "$record" 2> /dev/null || true
    fi
  fi
  [ -z "$term" ] || [ "$term" = "$told" ] || local_cli config set "$carrier" "$term" > /dev/null || true
}
