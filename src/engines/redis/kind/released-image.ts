/** The image of Redis as it is released, which runs where a cluster names none. */
export function releasedImage(version: string): string {
  return `docker.io/library/redis:${version}`;
}
