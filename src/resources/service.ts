/** Services: headless ones name pods, ClusterIP ones give a role an address that outlives its holder. */
import type { KubeObject, ObjectMeta } from '../api/object.ts';
import type { ServicePort } from './plain.ts';

export interface ServiceOptions {
  readonly metadata: ObjectMeta;
  readonly selector: Readonly<Record<string, string>>;
  readonly ports: readonly ServicePort[];
  /** It leads to pods that are not ready, too: a label alone decides which pod serves. */
  readonly unready?: true;
}

/** DNS answers with every pod's address, ready or not: members must find each other before they are ready. */
export function headlessService({ metadata, selector, ports }: ServiceOptions): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata,
    spec: { clusterIP: 'None', publishNotReadyAddresses: true, selector, ports },
  };
}

export function clusterIPService({ metadata, selector, ports, unready }: ServiceOptions): KubeObject {
  const more = unready === true ? { publishNotReadyAddresses: true } : {};
  return { apiVersion: 'v1', kind: 'Service', metadata, spec: { type: 'ClusterIP', selector, ports, ...more } };
}
