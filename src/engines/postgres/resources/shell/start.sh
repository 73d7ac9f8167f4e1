#!/bin/sh
# Starts Patroni, but for a member that has had data and whose volume is blank. Commits may have been acknowledged because
# this member had them, and under its name nobody may come who does not. The operator replaces it by another one.
# A member that imports data starts Patroni once it has it.
set -eu
start=$(cat "${CONFIG_DIRECTORY:?}/start" 2>/dev/null || echo join)
if [ "$start" = resume ] && [ ! -s "${DATA_DIRECTORY:?}/global/pg_control" ]; then
  echo "the volume is blank, and this member has had data" >&2
  exit 78
fi
if [ "$start" = import ]; then exec python3 -IS "$CONFIG_DIRECTORY/import.py"; fi
exec patroni "$CONFIG_DIRECTORY"
