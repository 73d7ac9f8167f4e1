/** The image of etcd as it is released, which runs where a cluster names none. */
export function releasedImage(version: string): string {
  return `gcr.io/etcd-development/etcd:v${version}`;
}
