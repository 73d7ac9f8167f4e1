/**
 * Where the archive of a cluster's log is kept: in the folder of the cluster, beside its backups. The UID of the cluster is in the
 * path, so that clusters that were restored from one backup never write to the same place.
 *
 *     NAMESPACE/KIND/CLUSTER-UID/archive/PIECE           whole
 *     NAMESPACE/KIND/CLUSTER-UID/archive/PIECE.partial   the beginning of it; what is written later replaces it
 */
import { type ClusterIdentity, clusterFolder } from './identity.ts';

const partialSuffix = '.partial';

export function archiveFolder(cluster: ClusterIdentity): string {
  return `${clusterFolder(cluster)}/archive`;
}

export function pieceKey(folder: string, { name, isWhole }: { readonly name: string; readonly isWhole: boolean }) {
  return `${folder}/${name}${isWhole ? '' : partialSuffix}`;
}

const names = /^[A-Za-z0-9]+(\.[a-z]+)?(\/[A-Za-z0-9]+(\.[a-z]+)?)*$/;

/** Undefined for what is no piece. */
export function pieceIn(folder: string, key: string): { readonly name: string; readonly isWhole: boolean } | undefined {
  if (!key.startsWith(`${folder}/`)) return undefined;
  const rest = key.slice(folder.length + 1);
  const isWhole = !rest.endsWith(partialSuffix);
  const name = isWhole ? rest : rest.slice(0, -partialSuffix.length);
  return names.test(name) ? { name, isWhole } : undefined;
}
