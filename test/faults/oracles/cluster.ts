/** Which custom resources are clusters: backups of them say that they are ready, too, and mean something else. */
import type { KubeObject } from '../../../src/api/object.ts';

export const isCluster = ({ apiVersion, kind }: Pick<KubeObject, 'apiVersion' | 'kind'>): boolean =>
  apiVersion.startsWith('clusterwright.dev/') && kind.endsWith('Cluster');
