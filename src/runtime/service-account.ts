/** A ServiceAccount, asked of the API server: nobody watches them. */
import type { KubeObject } from '../api/object.ts';
import { serviceAccounts } from '../api/resource.ts';
import { isNotFound } from './api-error.ts';
import type { KubeClient } from './client.ts';

export type AccountReader = (namespace: string, name: string, signal: AbortSignal) => Promise<KubeObject | undefined>;

export function accountReader(client: Pick<KubeClient, 'get'>): AccountReader {
  return async (namespace, name, signal) => {
    try {
      return await client.get({ resource: serviceAccounts, namespace, name }, { signal });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  };
}
