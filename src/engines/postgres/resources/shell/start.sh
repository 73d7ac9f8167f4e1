#!/bin/sh
# Starts Patroni, but for a member that has had data and one of whose volumes is blank. Commits may have been acknowledged
# because this member had them, and under its name nobody may come who does not. The operator replaces it by another one.
# A member that imports data goes on once it has it.
#
# Where the log has a volume of its own, pg_wal leads to it. After a restore it is still a directory of the data: it is
# moved before the first start.
#
# A copy of the primary's data that was cut off is removed: Patroni would wait for a person. So is a new database that was not finished.
# This may be killed at any point, and run again.
set -eu
data=${DATA_DIRECTORY:?} wal=${WAL_DIRECTORY:-}
start=$(cat "${CONFIG_DIRECTORY:?}/start" 2>/dev/null || echo join)
refuse() { echo "$2" >&2; exit "$1"; }
# It has a lock of its own on the volume, and ends with this script.
if [ "$start" = import ] && [ -z "${IMPORT_IS_DONE:-}" ]; then exec python3 -IS "$CONFIG_DIRECTORY/import.py"; fi

# Of a command that may wait for long. The first process of a container is not ended by a signal that it has no trap for.
trap 'exit 143' TERM
waiting() { "$@" & wait $!; }

# The container of a pod that was deleted by force may still be at work on the volume when the next one starts on the same node. Patroni keeps
# the file open, and with it the lock, until its container ends. Jobs that change the volume take the same lock: see locked.py. A file system
# without locks keeps nobody from starting. NFS locks only what is open for writing, so it is a file and not the directory.
locking='
import fcntl, sys
say = lambda words: print(words, file=sys.stderr, flush=True)
try:
    try:
        fcntl.flock(9, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        say("another container is still at work on the volume: its end is waited for")
        fcntl.flock(9, fcntl.LOCK_EX)
except OSError as error:
    say("the volume cannot be locked: %s" % error)
'
lock=${data%/*}/clusterwright.lock
# Members may run as another user later. Where the file cannot be opened, the shell would end.
if (umask 0; : 9<> "$lock") 2>/dev/null; then
  exec 9<> "$lock"
  waiting python3 -IS -c "$locking"
elif [ -e "$(dirname "$lock")" ]; then
  echo "the volume cannot be locked: $lock cannot be opened for writing" >&2
fi

# The copy is complete before anything leads to it, and what is copied is removed last.
move_log() {
  if [ -e "$wal" ] && [ ! -e "$wal.moving" ]; then
    refuse 1 "$data/pg_wal and $wal are both logs: nothing is started before a person has removed the wrong one"
  fi
  touch "$wal.moving"
  sync
  rm -rf "$wal"
  cp -a "$data/pg_wal" "$wal"
  sync
  mv "$data/pg_wal" "$data/pg_wal.moved"
}

link_log() {
  [ -d "$wal" ] || refuse 79 "the volume of the log is blank, and this member has had data"
  [ -L "$data/pg_wal" ] || ln -s "$wal" "$data/pg_wal"
  sync
  rm -rf "$data/pg_wal.moved"
}

# pg_basebackup makes pg_wal, writes backup_label first and pg_control last. A server removes backup_label and needs pg_control: none has
# ever started on such data. A process that still copies to it finds no directory any more, and ends.
is_cut_off() {
  [ "$start" = join ] && [ ! -s "$data/global/pg_control" ] || return 1
  [ -f "$data/backup_label" ] || [ "$(ls -A "$data" 2>/dev/null)" = pg_wal ]
}

remove_copy() {
  echo "a copy of the data was cut off: it is removed, and begun anew" >&2
  if [ -n "$wal" ]; then
    log=$(readlink "$data/pg_wal" || true)
    case $log in "$wal" | "$wal".*) rm -rf "$log" ;; esac
  fi
  mv "$data" "$data.cut-off"
}

# A volume that an earlier cluster of the name has used belongs to its user. What nobody can look into is not blank.
for directory in "$data" "$data/global"; do
  if [ -d "$directory" ] && ! { [ -r "$directory" ] && [ -x "$directory" ]; }; then
    refuse 1 "$directory may not be read by user $(id -u): its data belongs to user $(stat -c %u "$directory")"
  fi
done

if is_cut_off; then remove_copy; fi
rm -rf "$data.cut-off"
[ "$start" = form ] || rm -f "${data%/*}/clusterwright.forming"
if [ "$start" = form ]; then waiting python3 -IS "$CONFIG_DIRECTORY/relabel.py" begin-anew; fi

if [ -s "$data/global/pg_control" ]; then
  if [ -n "$wal" ]; then
    if [ -d "$data/pg_wal" ] && [ ! -L "$data/pg_wal" ]; then move_log; fi
    if [ -d "$data/pg_wal.moved" ]; then link_log; fi
    rm -f "$wal.moving"
  fi
  if [ -L "$data/pg_wal" ] && [ ! -d "$data/pg_wal" ]; then
    refuse 79 "the volume of the log is blank, and this member has had data"
  fi
elif [ "$start" = resume ]; then
  refuse 78 "the volume is blank, and this member has had data"
elif [ -n "$wal" ] && [ -e "$wal" ] && [ -z "$(ls -A "$data" 2>/dev/null)" ]; then
  refuse 78 "the volume is blank, and that of the log is not"
fi

# Patroni 4.0.7 that is reloaded after its files have changed does not read its renewed certificate. They change once: what forms a
# cluster goes. So it gets them as they are at its start. None of an earlier start may be left.
files=${FILES_DIRECTORY:-/tmp/patroni}
rm -rf "$files"
mkdir "$files"
cp "$CONFIG_DIRECTORY"/*.yml "$files"
exec patroni "$files"
