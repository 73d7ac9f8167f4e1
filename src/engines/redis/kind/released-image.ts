/** What runs where a cluster names no image. */

/** Of Redis as it is released. */
export function releasedImage(version: string): string {
  return `docker.io/library/redis:${version}`;
}

/** The variant with a shell. From 1.83 on it can be told to ask nobody but its own server. */
export const exporterImage = 'docker.io/oliver006/redis_exporter:v1.86.0-alpine';
