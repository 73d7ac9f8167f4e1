/** What runs where a cluster names no image. None of them is published: `docs/install.md` says how they are built. */
export function releasedImage(version: string): string {
  return `clusterwright-postgres:${version}`;
}

export const poolerImage = 'clusterwright-pgbouncer:1.24';
export const exporterImage = 'clusterwright-postgres-exporter:0.17';
