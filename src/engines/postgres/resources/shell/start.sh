#!/bin/sh
# Starts Patroni, but for a member that has had data and whose volume is blank. Patroni would count its vote, and could
# promote another one that has less. The operator replaces it.
set -eu
start=$(cat "${CONFIG_DIRECTORY:?}/start" 2>/dev/null || echo join)
if [ "$start" = resume ] && [ ! -s "${DATA_DIRECTORY:?}/global/pg_control" ]; then
  echo "the volume is blank, and this member has had data" >&2
  exit 78
fi
exec patroni "$CONFIG_DIRECTORY"
