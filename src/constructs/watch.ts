/** Which namespaces the operator serves. */
export type Watch =
  /** Every namespace, by a ClusterRole: also Secrets of namespaces without a database can then be read. */
  | { readonly all: true }
  /** These alone, by a Role in each. */
  | { readonly namespaces: readonly string[] };

/** Sorted, each once; empty for all of them. */
export function watchedNamespaces(watch: Watch): readonly string[] {
  return 'all' in watch ? [] : [...new Set(watch.namespaces)].sort();
}

export const dnsLabel = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

/** An empty list would be taken for all namespaces, wherever it is handed on. */
export function watchFaults(watch: Watch): string[] {
  if ('all' in watch) return [];
  if (watch.namespaces.length === 0) {
    return ['watch.namespaces: must name a namespace; { all: true } watches all of them'];
  }
  return watch.namespaces
    .filter((namespace) => !dnsLabel.test(namespace))
    .map((name) => `watch.namespaces: ${name} is no name of a namespace: lower-case letters, digits and hyphens`);
}
