# Of the engine: a pod of Redis is not told. While a cluster changes over, pods of both have these scripts.
cli="${SERVER:-redis}-cli"
# The password with which this pod logs in: that of its start, until the server knows another. The kubelet changes the mounted
# file under a server that runs, and the server does not take notice. A pod that was made before there was such a file has it
# in its configuration; what the server itself has written there may hold escapes, which are left alone.
if [ -s /run/redis/password ]; then
  password=$(head -n 1 /run/redis/password)
else
  password=$(head -n 1 "$AUTH_FILE")
  started_with=$(sed -n 's/^requirepass "\(.*\)"$/\1/p' /run/redis/redis.conf /run/redis/sentinel.conf 2> /dev/null | head -n 1)
  case $started_with in
    '' | *\\[!\"\\]*) ;;
    *) password=$(printf '%s' "$started_with" | sed 's/\\\(.\)/\1/g') ;;
  esac
fi
export REDISCLI_AUTH="$password"
mounted_password() { head -n 1 "$AUTH_FILE" 2> /dev/null || true; }
# Once the server knows what the Secret says, the scripts log in with that: the password before will not be accepted for long. $1: the port.
settle_password() {
  mounted=$(mounted_password)
  [ -n "$mounted" ] && [ "$mounted" != "$password" ] || return 0
  case $(REDISCLI_AUTH=$mounted timeout 2 "$cli" -p "$1" ping 2>&1) in
    PONG* | LOADING* | MASTERDOWN* | MISCONF*) ;;
    *) return 0 ;;
  esac
  password=$mounted
  export REDISCLI_AUTH="$password"
  keep_password
}
# What the cluster calls itself among its own. A pod that was made before there was such a name has no password for it.
identity="clusterwright/$POD_NAMESPACE/$CLUSTER_NAME"
identity_password=
[ -z "${IDENTITY_FILE:-}" ] || identity_password=$(head -n 1 "$IDENTITY_FILE")
# As servers keep it.
hash_of() { printf '%s' "$1" | sha256sum | cut -c 1-64; }
identity_rule() { printf 'user %s on #%s ~* &* +@all\n' "$identity" "$(hash_of "$identity_password")"; }
# Hashes of the passwords with which clients are let in, where there may be others than that of the pod.
accepted=/run/redis/accepted
# In what a server tells of a user; each once.
hashes() { tr -d '\r' | awk 'length($0) == 64 && !/[^0-9a-f]/ && !seen[$0]++'; }
# Before the server starts: a change of the password may be under way. $1: a sentinel.
learn_accepted() {
  [ -n "$identity_password" ] || return 0
  told=$(REDISCLI_AUTH=$identity_password; sentinel_cli "$1" --user "$identity" acl getuser default | hashes)
  [ -z "$told" ] || printf '%s\n' "$told" > "$accepted"
}
# For a node that has no sentinels to learn it from when it starts again.
keep_accepted() {
  told=$(local_cli acl getuser default | hashes)
  [ -n "$told" ] && [ "$told" != "$(cat "$accepted" 2> /dev/null)" ] || return 0
  printf '%s\n' "$told" > "$accepted.new" && mv -f "$accepted.new" "$accepted"
}
# The rule of the default user, where clients may log in with more than the password of the pod, or no more with that: what was accepted
# last. Only a new pod adds the password of the Secret here, since it has no other one. The operator tells the servers that run already, after
# the sentinels, so that the scripts do not use the new password before the sentinels accept it.
default_rule() {
  {
    [ ! -s "$accepted" ] || cat "$accepted"
    if [ "$is_new" = yes ] || [ ! -s "$accepted" ]; then hash_of "$password"; fi
  } | hashes | awk -v own="$(hash_of "$password")" '
    { rule = rule " #" $0; last = $0 }
    END { if (NR != 1 || last != own) printf "user default on%s ~* &* +@all\n", rule }'
}
# A container that restarts in this pod keeps the password that the pod started with. A pod does not start with an empty
# password: the server would accept every client.
is_new=yes
[ ! -s /run/redis/password ] || is_new=no
keep_password() {
  if [ -z "$password" ] && [ ! -s /run/redis/password ]; then
    echo "the first line of $AUTH_FILE is empty" >&2
    exit 1
  fi
  (umask 077 && printf '%s\n' "$password" > /run/redis/password)
}
# Runs redis-cli. $1: seconds. While the password of clients changes, another process may refuse the password of this pod. And somebody may have
# taken commands from the user default. Then the pod logs in with the identity of the cluster. What is refused has not run, so no command runs
# twice.
ask() (
  seconds=$1
  shift
  code=0
  answer=$(timeout "$seconds" "$cli" "$@" 2> /dev/null) || code=$?
  case $answer in
    NOAUTH* | WRONGPASS* | NOPERM*)
      if [ -n "$identity_password" ]; then
        REDISCLI_AUTH=$identity_password
        exec timeout "$seconds" "$cli" --user "$identity" "$@" 2> /dev/null
      fi
      ;;
  esac
  [ -z "$answer" ] || printf '%s\n' "$answer"
  exit "$code"
)
local_cli() { ask 2 -p 6379 "$@"; }
node_cli() { host=$1; shift; ask 1 -h "$host" -p 6379 "$@"; }
sentinel_cli() { host=$1; shift; ask 1 -h "$host" -p 26379 "$@"; }
sentinels() { cat "$CONFIG_DIR/sentinels"; }
# The password of the identity, where this server copies by it: then every node knows who the cluster is. The pod's file may say
# another than the server has been told, and pods of before have none.
own_password() {
  [ "$(local_cli config get masteruser | tail -n 1 | tr -d '\r')" != "$identity" ] ||
    local_cli config get masterauth | tail -n 1 | tr -d '\r'
}
# REPLICAOF, as the cluster: the default user may not, once it is confined. Prints the answer.
replicate_from() {
  own=$(own_password)
  if [ -z "$own" ]; then
    local_cli replicaof "$@"
  else
    (REDISCLI_AUTH=$own; local_cli --user "$identity" replicaof "$@")
  fi
}
# Takes from the default user what a sentinel would say, since one from elsewhere may have its password and remember this address.
# Not while a sentinel of this cluster may still speak as that user; the scripts that say it otherwise are those of this file.
confine_clients() {
  [ ! -e /run/redis/confined ] || return 0
  own=$(own_password)
  [ -n "$own" ] || return 0
  for s in $(sentinels); do
    case $(REDISCLI_AUTH=$own; sentinel_cli "$s" --user "$identity" ping) in PONG*) ;; *) return 0 ;; esac
  done
  case $(local_cli acl setuser default CLIENT_RULE) in OK*) : > /run/redis/confined ;; esac
}
# Of a sentinel. It has logged in to the others as the cluster since it started.
confine_sentinel_clients() {
  [ -n "$identity_password" ] && [ ! -e /run/redis/confined ] || return 0
  case $(timeout 2 "$cli" -p 26379 acl setuser default SENTINEL_CLIENT_RULE 2> /dev/null) in OK*) : > /run/redis/confined ;; esac
}
# Of a sentinel: the user as whom a proxy asks for the address of the primary, and can do nothing else. It needs no password, so that proxies
# hold none. Its name is that of the cluster: a sentinel of another one refuses it.
settle_proxy_user() {
  if [ -e "$CONFIG_DIR/proxy" ]; then
    [ ! -e /run/redis/proxied ] || return 0
    case $(ask 2 -p 26379 acl setuser "$identity/proxy" reset on nopass '+sentinel|get-master-addr-by-name') in OK*) : > /run/redis/proxied ;; esac
  elif [ -e /run/redis/proxied ]; then
    case $(ask 2 -p 26379 acl deluser "$identity/proxy") in [01]*) rm -f /run/redis/proxied ;; esac
  fi
}
# Users that the operator has set, as a server keeps them: see client/user-record.ts. Prints the patterns, or nothing where there are none.
# Fails where the server does not tell.
record_at() {
  told=$("$@" acl getuser RECORD_USER) || return 1
  case $told in '') ;; flags*) printf '%s\n' "$told" | tr -d '\r' | awk 'last == "keys" { print; exit } { last = $0 }' ;; *) return 1 ;; esac
}
kept_users=/run/redis/users
# There from the start of a server until it has been given its users: a character for each try.
restoring=/run/redis/restoring
# For a server that starts again in this pod, where no other node can tell it.
keep_users() {
  [ ! -e "$restoring" ] || return 0
  record=$(record_at local_cli) || return 0
  if [ -z "$record" ]; then
    rm -f "$kept_users"
  elif [ "$record" != "$(cat "$kept_users" 2> /dev/null)" ]; then
    (umask 077 && printf '%s\n' "$record" > "$kept_users.new") && mv -f "$kept_users.new" "$kept_users"
  fi
}
# Before a node that has started is admitted: gives its server the users that its primary has, or those that it had before. The record comes
# first, so that no user is there of whom the operator does not know that it has set it. A line that this server refuses is the operator's to
# tell of. Fails for ten tries at most: the operator sets what is missing, and a node without users is better than none. $1: the primary, or
# empty.
restore_users() {
  [ -e "$restoring" ] || return 0
  printf . >> "$restoring"
  try_restore "$1" || [ "$(wc -c < "$restoring")" -ge 10 ] || return 1
  rm -f "$restoring"
}
try_restore() {
  if [ -n "$1" ]; then
    record=$(record_at node_cli "$1") || return 1
  else
    record=$(cat "$kept_users" 2> /dev/null) || return 0
  fi
  [ -n "$record" ] || return 0
  own=$(own_password)
  {
    printf 'acl setuser RECORD_USER reset off %s\n' "$record"
    printf '%s\n' "$record" | tr ' ' '\n' | sed 's/^~//' | awk -F ';' 'NF > 2 {
      line = "acl setuser " $1 " reset on"
      for (i = 3; i <= NF; i++) line = line " " $i
      print line
    }'
  } | if [ -n "$own" ]; then
    REDISCLI_AUTH=$own timeout 2 "$cli" -p 6379 --user "$identity" > /dev/null 2>&1
  else
    timeout 2 "$cli" -p 6379 > /dev/null 2>&1
  fi
  [ "$(record_at local_cli)" = "$record" ]
}
# Asks all sentinels at once; prints "ADDRESS SENTINEL VERDICT" of the view with the highest configuration epoch, then
# all sentinels that watch anybody; or nothing. The verdict says whether a node may follow now. It acknowledges writes
# from then on, and as long as the sentinels do not know it they may elect one that lacks them: so it is safe only where
# those who may want another primary are no quorum. A sentinel pings every second: a missed answer tells of a cut before
# the flag of down-after does.
# Everybody is waited for: the server is the container's first process, and does not reap what others leave behind.
named_primary() {
  set -- $(sentinels)
  [ $# -gt 0 ] || return 0
  { for s; do
    { sentinel_cli "$s" sentinel master "$CLUSTER_NAME" | tr -d '\r' |
      awk -v s="$s" -v missed="$(cat "$CONFIG_DIR/missed-ms")" 'NR % 2 { name = $0; next } { v[name] = $0 } END {
        sees = "up"
        if (v["flags"] ~ /_down/ || v["runid"] == "" || v["last-ok-ping-reply"] !~ /^[0-9]+$/) sees = "down"
        if (v["last-ok-ping-reply"] + 0 > missed + 0) sees = "down"
        if (v["flags"] ~ /failover/) sees = "replaced"
        if (v["ip"] != "") print v["config-epoch"], v["ip"], s, sees
      }'; } &
  done; wait; } | sort -rn | awk -v spare="$(($# - $(cat "$CONFIG_DIR/quorum")))" '
    NR == 1 { address = $2; sentinel = $3 }
    $2 == address { n[$4]++ }
    { watching = watching " " $3 }
    END { if (NR) print address, sentinel, (!n["replaced"] && n["up"] > spare ? "safe" : "unsafe") watching }'
}
# Whether a sentinel has this node among the replicas and reaches it: it could tell it to follow another.
is_known_to() {
  sentinel_cli "$1" sentinel replicas "$CLUSTER_NAME" | tr -d '\r' | awk -v me="$POD_IP" '
    NR % 2 { name = $0; next }
    name == "ip" { ip = $0 }
    name == "flags" && ip == me { known = !/down|disconnected/ }
    END { exit !known }'
}
# Has a sentinel ask all nodes that it does not take for down what they hold, and succeeds when they have told it: it elects by
# what it has heard last, which may be from before an acknowledgement. Fails where it does not answer, too, or cannot act now:
# its clock has jumped. $2: how many looks, ten a second.
inform() {
  case $(sentinel_cli "$1" info sentinel) in *sentinel_tilt:1*) return 1 ;; esac
  from=$(uptime_ms)
  left=$2
  sentinel_cli "$1" sentinel debug info-period 100 > /dev/null || return 1
  while :; do
    within=$(($(uptime_ms) - from - 10))
    told=$(sentinel_cli "$1" sentinel replicas "$CLUSTER_NAME") || left=0
    if printf '%s\n' "$told" | tr -d '\r' | awk -v within="$within" '
      NR % 2 { name = $0; next }
      name == "flags" { up = !/down|disconnected/ }
      name == "info-refresh" && up && $0 + 0 >= within + 0 { late = 1 }
      END { exit late }'; then break; fi
    left=$((left - 1))
    [ "$left" -gt 0 ] || break
    sleep 0.1
  done
  # An election takes nobody whose answer is older than three of these periods.
  sentinel_cli "$1" sentinel debug info-period "$(cat "$CONFIG_DIR/info-period-ms")" > /dev/null || true
  [ "$left" -gt 0 ]
}
# Hundredths of a second, which nobody sets.
uptime_ms() { echo "$(cut -d ' ' -f 1 /proc/uptime | tr -d .)0"; }
# The most replicas that any sentinel knows: one that was just reset knows none.
known_replicas() {
  for s in $(sentinels); do
    sentinel_cli "$s" sentinel master "$CLUSTER_NAME" | tr -d '\r' |
      awk 'NR % 2 { name = $0; next } name == "num-slaves"'
  done | sort -rn | head -n 1
}
# Tells the operator that the scripts of this pod ask sentinels. A node whose scripts know no sentinels restarts as primary, even if another
# primary has been elected.
tell_sentinels() {
  [ -n "$(sentinels)" ] || return 0
  [ "$(local_cli config get cluster-announce-port | tail -n 1 | tr -d '\r')" = 26379 ] ||
    local_cli config set cluster-announce-port 26379 > /dev/null
}
# Starts the loop of the fence where it has not looked for a while: it was killed, or the container was started before there was one.
keep_fence() {
  [ -s "$CONFIG_DIR/fence" ] || return 0
  looked=
  { read -r _ looked < /run/redis/fence-loop; } 2> /dev/null || true
  case $looked in '' | *[!0-9]*) ;; *) [ "$(($(uptime_ms) - looked))" -gt 15000 ] || return 0 ;; esac
  server=$(cat /run/redis/server 2> /dev/null) || server=1
  /bin/sh "$CONFIG_DIR/fence-loop.sh" "$server" < /dev/null > /dev/null 2>&1 &
}
# Folders of modules: of the image of Redis, of Debian, and of valkey-bundle. A server does not read what a module has written without that
# module, so a pod without any does not start.
modules() {
  [ "${MODULES:-None}" = Bundled ] || return 0
  for module in /usr/local/lib/redis/modules/*.so /usr/lib/redis/modules/*.so /usr/lib/valkey/*.so; do
    [ ! -f "$module" ] || printf 'loadmodule %s\n' "$module"
  done
}
need_modules() {
  if [ "${MODULES:-None}" = None ] || [ -n "$(modules)" ]; then return 0; fi
  echo "spec.modules is Bundled, and the image has no module in /usr/local/lib/redis/modules, /usr/lib/redis/modules or /usr/lib/valkey" >&2
  exit 72
}
