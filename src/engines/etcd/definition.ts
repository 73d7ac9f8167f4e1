/** What people meet of etcd. */

import type { Definition } from '../../engine/definition.ts';
import { type EtcdSpecInput, etcdKind } from './kind/schema.ts';
import { etcdNames } from './names.ts';

export interface EtcdEndpoints {
  /** Name of the Service of the members that are ready, on port 2379. */
  readonly clientService: string;
  /** Name of the headless Service of all members, on the ports 2379 and 2380. */
  readonly peerService: string;
}

export const etcdDefinition: Definition<EtcdSpecInput, EtcdEndpoints> = {
  name: 'etcd',
  kind: etcdKind,
  endpoints(cluster) {
    const { client, peers } = etcdNames(cluster);
    return { clientService: client, peerService: peers };
  },
  // Children of two kinds in one namespace may not share their names.
  sample: { name: 'sample-etcd' },
  shell: (host) => `etcdctl --endpoints=${host}:2379 endpoint status --cluster -w table`,
};
