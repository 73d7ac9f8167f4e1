/** Where the password of etcd's root user is. */
import type { Cluster } from '../../../api/cluster.ts';
import type { EtcdSpec } from '../kind/schema.ts';
import { etcdNames } from '../names.ts';

/** Name and key of the Secret that holds the root user's password: the user's, or the one that is generated. */
export function passwordSecret({ metadata, spec }: Cluster<EtcdSpec>): { readonly name: string; readonly key: string } {
  return spec.auth.secretRef ?? { name: etcdNames(metadata.name).root, key: 'password' };
}

/** Of the key in the same Secret with the password that the one in `KEY` is to replace. */
export function previousKey(key: string): string {
  return `${key}-previous`;
}
