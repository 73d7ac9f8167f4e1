/** The reference page of EtcdCluster. */
import { etcdKind } from './etcd.ts';
import { referencePage } from './reference.ts';

export const etcdReference: string = referencePage(etcdKind);
