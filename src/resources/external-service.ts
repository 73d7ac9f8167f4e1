/** Services that a spec asks for beside those that its kind always has, so that a change of one leaves the others alone. */
import type { KubeObject, ObjectMeta } from '../api/object.ts';
import type { ServicePort } from './plain.ts';

export interface ExternalService {
  readonly type: 'ClusterIP' | 'LoadBalancer' | 'NodePort';
  readonly annotations: Readonly<Record<string, string>>;
  readonly nodePort?: number;
  readonly loadBalancerClass?: string;
  readonly sourceRanges: readonly string[];
  readonly externalTrafficPolicy?: 'Cluster' | 'Local';
  readonly trafficDistribution?: string;
  readonly ipFamilyPolicy?: 'SingleStack' | 'PreferDualStack' | 'RequireDualStack';
  readonly ipFamilies?: readonly ('IPv4' | 'IPv6')[];
  readonly appProtocol?: string;
}

export interface ExternalServiceOptions {
  readonly metadata: ObjectMeta;
  readonly selector: Readonly<Record<string, string>>;
  readonly port: ServicePort;
  /** Whether it leads to pods that are not ready, too. True where a label alone decides which pod serves. */
  readonly unready: boolean;
}

export function externalService(wanted: ExternalService, options: ExternalServiceOptions): KubeObject {
  const { type, annotations, nodePort, loadBalancerClass, sourceRanges, appProtocol } = wanted;
  const { externalTrafficPolicy, trafficDistribution, ipFamilyPolicy, ipFamilies } = wanted;
  const { metadata, selector, port, unready } = options;
  const isAnnotated = Object.keys(annotations).length > 0;
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { ...metadata, ...(isAnnotated ? { annotations } : {}) },
    spec: {
      type,
      selector,
      ports: [
        {
          ...port,
          ...(nodePort === undefined ? {} : { nodePort }),
          ...(appProtocol === undefined ? {} : { appProtocol }),
        },
      ],
      ...(unready ? { publishNotReadyAddresses: true } : {}),
      ...(loadBalancerClass === undefined ? {} : { loadBalancerClass }),
      ...(sourceRanges.length === 0 ? {} : { loadBalancerSourceRanges: sourceRanges }),
      ...(externalTrafficPolicy === undefined ? {} : { externalTrafficPolicy }),
      ...(trafficDistribution === undefined ? {} : { trafficDistribution }),
      ...(ipFamilyPolicy === undefined ? {} : { ipFamilyPolicy }),
      ...(ipFamilies === undefined ? {} : { ipFamilies }),
    },
  };
}
