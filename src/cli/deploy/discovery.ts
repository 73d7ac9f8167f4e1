/**
 * Which path an object has. The controller knows its few kinds; what `up` applies may be anything, so the API server is
 * asked, once for each group and version.
 */
import type { KubeObject, Resource } from '../../api/object.ts';
import { ApiError } from '../../runtime/api-error.ts';
import type { KubeClient } from '../../runtime/client.ts';
import { CommandError } from '../fault.ts';

export interface Discovery {
  /** Learns the kinds of these objects. @throws CommandError on a kind that the cluster does not have */
  learn(client: Pick<KubeClient, 'getText'>, objects: readonly KubeObject[]): Promise<void>;
  /** Of an object whose kind was learnt. */
  resourceOf(object: Pick<KubeObject, 'apiVersion' | 'kind'>): Resource;
}

interface ResourceList {
  readonly resources: readonly { readonly name: string; readonly kind: string; readonly namespaced: boolean }[];
}

export function createDiscovery(): Discovery {
  const known = new Map<string, Resource>();

  async function learnVersion(client: Pick<KubeClient, 'getText'>, apiVersion: string): Promise<void> {
    const [first = '', second] = apiVersion.split('/');
    const [group, version] = second === undefined ? ['', first] : [first, second];
    const { resources } = JSON.parse(
      await client.getText(group === '' ? `/api/${version}` : `/apis/${apiVersion}`),
    ) as ResourceList;
    for (const { name, kind, namespaced } of resources) {
      // Subresources stand in the same list, as `deployments/scale`.
      if (!name.includes('/')) known.set(`${apiVersion} ${kind}`, { group, version, kind, plural: name, namespaced });
    }
  }

  return {
    async learn(client, objects) {
      const missing = objects.filter(({ apiVersion, kind }) => !known.has(`${apiVersion} ${kind}`));
      for (const apiVersion of new Set(missing.map((object) => object.apiVersion))) {
        try {
          await learnVersion(client, apiVersion);
        } catch (error) {
          if (!(error instanceof ApiError) || error.status !== 404) throw error;
        }
      }
      const unknown = missing.find(({ apiVersion, kind }) => !known.has(`${apiVersion} ${kind}`));
      if (unknown !== undefined) {
        throw new CommandError(`the cluster does not know the kind ${unknown.kind} of ${unknown.apiVersion}`);
      }
    },
    resourceOf(object) {
      const found = known.get(`${object.apiVersion} ${object.kind}`);
      if (found === undefined) throw new Error(`${object.apiVersion} ${object.kind} was not asked for`);
      return found;
    },
  };
}
