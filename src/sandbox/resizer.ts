/**
 * Lets limited volumes grow, as an external resizer does for a CSI driver: when a claim asks for more than its volume has, as
 * much of the reserve in its file system is given back, under the mount, and the API server is told.
 */
import { binaryPath } from './binaries.ts';
import { kubeconfigPath, type Layout, paths } from './layout.ts';
import type { Daemon } from './process.ts';
import { limitedClass } from './storage.ts';

const columns = [
  'NAMESPACE:.metadata.namespace',
  'NAME:.metadata.name',
  'CLASS:.spec.storageClassName',
  'VOLUME:.spec.volumeName',
  'WANTED:.spec.resources.requests.storage',
  'HAS:.status.capacity.storage',
].join(',');

/** The claims are watched: a quiet sandbox costs one open request. A watch that ends is begun again. */
export function resizerScript(layout: Layout): string {
  const patch = `kubectl patch --type=merge --request-timeout=10s`;
  return `
grow() {
  directory="$(kubectl get persistentvolume "$3" -o 'jsonpath={.spec.local.path}{.spec.hostPath.path}')" || return 1
  case "$directory" in ${paths(layout).limitedVolumes}/*) ;; *) return 1 ;; esac
  reserved="$(stat -c %s "$directory.fs/reserve")" || return 1
  more=$(($(numfmt --from=auto "$4") - $(numfmt --from=auto "$5")))
  [ "$reserved" -ge "$more" ] || return 1
  truncate -s $((reserved - more)) "$directory.fs/reserve" || return 1
  ${patch} persistentvolume "$3" -p "{\\"spec\\":{\\"capacity\\":{\\"storage\\":\\"$4\\"}}}" || return 1
  ${patch} -n "$1" persistentvolumeclaim "$2" --subresource=status -p "{\\"status\\":{\\"capacity\\":{\\"storage\\":\\"$4\\"}}}"
}
while :; do
  kubectl get persistentvolumeclaims -A --watch --no-headers -o custom-columns=${columns} |
    while read -r namespace name class volume wanted has; do
      [ "$class" = ${limitedClass} ] && [ "$has" != '<none>' ] && [ "$wanted" != "$has" ] || continue
      [ "$(numfmt --from=auto "$wanted")" -gt "$(numfmt --from=auto "$has")" ] || continue
      grow "$namespace" "$name" "$volume" "$wanted" "$has" || echo "$namespace/$name stays at $has" >&2
    done
  sleep 1
done
`;
}

export function resizer(layout: Layout): Daemon {
  return {
    name: 'volume-resizer',
    command: '/usr/bin/env',
    args: [
      `KUBECONFIG=${kubeconfigPath(layout, 'local-path')}`,
      `PATH=${binaryPath(layout, 'kubectl').replace(/\/kubectl$/, '')}:/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin`,
      '/bin/sh',
      '-c',
      resizerScript(layout),
    ],
  };
}
