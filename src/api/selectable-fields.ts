/**
 * Fields that `kubectl get --field-selector` and watches can select by, from Kubernetes 1.31 on. The API server of 1.30 drops the list
 * of them from a CRD.
 */

/** Of a database. */
export const databaseFields: readonly string[] = ['.spec.version', '.spec.paused', '.status.phase'];

/** Of a resource that is about a database. */
export const aboutDatabaseFields: readonly string[] = ['.spec.cluster.kind', '.spec.cluster.name', '.status.phase'];
