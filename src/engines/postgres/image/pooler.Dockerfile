# PgBouncer for `spec.pooler`: docker build -t registry.example/pgbouncer:1.24 -f src/engines/postgres/image/pooler.Dockerfile .
FROM debian:trixie-slim
RUN apt-get update \
 && apt-get install --yes --no-install-recommends pgbouncer postgresql-client-17 \
 && rm -rf /var/lib/apt/lists/*
USER 10001:10001
