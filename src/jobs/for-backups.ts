/**
 * On a PersistentVolumeClaim: a person says that it is there for backups, whoever else uses it. On a ServiceAccount: that
 * the pods of backups may run as it.
 */
export const forBackupsAnnotation = 'clusterwright.dev/for-backups';
