/** What people meet of etcd. */

import { leafKeys } from '../../certificates/facts.ts';
import { placesIn } from '../../engine/connection.ts';
import type { Definition } from '../../engine/definition.ts';
import { releasedImage } from './kind/released-image.ts';
import { defaultVersion, type EtcdSpecInput, etcdKind } from './kind/schema.ts';
import { clientPort, etcdNames, peerPort } from './names.ts';

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
  connection({ name, namespace }, { auth, tls }) {
    const names = etcdNames(name);
    const place = placesIn(namespace);
    const { host, port } = place(names.client, clientPort);
    const { name: secretName = names.root, key = 'password' } = auth?.secretRef ?? {};
    const isOwn = tls?.client?.selfManaged !== undefined;
    return {
      services: { client: { host, port }, peer: place(names.peers, peerPort) },
      env: {
        ETCDCTL_ENDPOINTS: `${tls?.client === undefined ? 'http' : 'https'}://${host}:${port}`,
        ...(auth?.enabled === true ? { ETCDCTL_USER: 'root', ETCDCTL_PASSWORD: { secretName, key } } : {}),
      },
      ...(isOwn ? { ca: { secretName: names.user, key: leafKeys.trusted } } : {}),
    };
  },
  images: [releasedImage(defaultVersion)],
  // Children of two kinds in one namespace may not share their names.
  sample: { name: 'sample-etcd' },
  shell: (host) => `etcdctl --endpoints=${host}:2379 endpoint status --cluster -w table`,
};
