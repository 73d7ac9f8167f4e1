# postgres_exporter for `spec.monitoring`: docker build -t registry.example/postgres-exporter:0.17 -f src/engines/postgres/image/exporter.Dockerfile .
FROM debian:trixie-slim
RUN apt-get update \
 && apt-get install --yes --no-install-recommends prometheus-postgres-exporter \
 && rm -rf /var/lib/apt/lists/*
USER 10001:10001
