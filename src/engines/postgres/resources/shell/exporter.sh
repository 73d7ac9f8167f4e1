#!/bin/sh
# Pod N of the exporters asks the member on line N + 1 of the list. A change of the list starts the exporters anew.
set -eu
member=$(sed -n "$((${POD_NAME##*-} + 1))p" "$CONFIG/members")
[ -n "$member" ] || { echo "exporter: no member for $POD_NAME"; exit 1; }
export DATA_SOURCE_URI="$member.$DOMAIN:$PORT/$DATABASE?sslmode=verify-full&sslrootcert=$CONFIG/ca.crt&connect_timeout=5&statement_timeout=5000&default_transaction_read_only=on&application_name=exporter"
export DATA_SOURCE_PASS_FILE="$CONFIG/password"
export PG_EXPORTER_CONSTANT_LABELS="cluster=$CLUSTER,member=$member"
exec /usr/bin/prometheus-postgres-exporter --web.listen-address=":$METRICS_PORT" --extend.query-path="$CONFIG/queries.yaml"
