#!/bin/sh
set -eu
# Looks again and again while the server runs. $1: the id of the server's process.
uptime_now() { read -r UP _ < /proc/uptime && now="${UP%.*}${UP#*.}0"; }
loop=/run/redis/fence-loop
# The last one to begin is the one that goes on.
printf '%s 0\n' $$ > "$loop"
# A session with the server, which the looks share: a server whose clients use all of its connections accepts no other. A new session has new
# pipes, so that it runs nothing that was meant for the one before. It ends with the loop, which alone holds the other ends.
session=
start_session() {
  rm -f "$loop.asked" "$loop.told"
  mkfifo -m 600 "$loop.asked" "$loop.told"
  exec 3<> "$loop.asked" 4<> "$loop.told"
  rm -f "$loop.asked" "$loop.told"
  (
    . "$CONFIG_DIR/library.sh"
    if [ -n "$identity_password" ]; then
      export REDISCLI_AUTH="$identity_password"
      exec "$cli" -p 6379 --user "$identity"
    fi
    exec "$cli" -p 6379
  ) < /proc/$$/fd/3 > /proc/$$/fd/4 2> /dev/null 3>&- 4>&- &
  session=$!
}
while kill -0 "$1" 2> /dev/null && read -r own _ < "$loop" && [ "$own" = $$ ]; do
  uptime_now
  began=$now
  printf '%s %s\n' $$ "$began" > "$loop"
  if [ -z "$session" ] || ! kill -0 "$session" 2> /dev/null; then start_session; fi
  pause=2000
  FENCE_LOOP=$$ FENCE_SESSION=$session /bin/sh "$CONFIG_DIR/fence.sh" || pause=1000
  uptime_now
  rest=$((began + pause - now))
  [ "$rest" -ge 100 ] || rest=100
  sleep "$((rest / 1000)).$(printf '%03d' $((rest % 1000)))"
done
