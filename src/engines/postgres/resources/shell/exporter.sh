#!/bin/sh
# Starts the exporter of one member. The owner of the database sets its search path: that does not count here.
set -eu
export DATA_SOURCE_URI="$HOST:$PORT/$DATABASE?sslmode=verify-full&sslrootcert=$CONFIG/ca.crt&connect_timeout=5&statement_timeout=5000&default_transaction_read_only=on&application_name=exporter&search_path=pg_catalog&role=none"
export DATA_SOURCE_PASS_FILE="$CONFIG/password"
exec /usr/bin/prometheus-postgres-exporter --web.listen-address=":$METRICS_PORT" --extend.query-path="$CONFIG/queries.yaml" --collector.database_wraparound
