/** Clusters and their children as the API server has them now: plain reads, no watch, and the controller's own view. */

import { childResources, optionalResources } from '../api/child-resources.ts';
import { displayName, type KubeObject, type Resource } from '../api/object.ts';
import { pods, secrets } from '../api/resource.ts';
import type { KindHandler } from '../engine/engine.ts';
import { type Children, childrenOf } from '../resources/children.ts';
import { instanceLabel, managedBy, managedByLabel, nameLabel } from '../resources/metadata.ts';
import { ApiError, isNotFound } from '../runtime/api-error.ts';
import type { KubeClient, Selection } from '../runtime/client.ts';
import { podSummary, wholeObject } from '../runtime/transform.ts';
import { CommandError } from './fault.ts';
import type { ManifestDocument } from './manifest.ts';

/** Objects a page. */
const pageSize = 500;

/** Undefined where there is no such object. @throws CommandError where the cluster does not know the kind at all */
export async function findCluster(
  client: Pick<KubeClient, 'get'>,
  engine: KindHandler,
  namespace: string,
  name: string,
): Promise<KubeObject | undefined> {
  try {
    return await client.get({ resource: engine.kind.resource, namespace, name });
  } catch (error) {
    refuseUnknownKind(error, engine);
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** In one namespace, or in all of them. */
export async function listClusters(
  client: Pick<KubeClient, 'list'>,
  engine: KindHandler,
  namespace: string | undefined,
): Promise<KubeObject[]> {
  try {
    return await listAll(client, engine.kind.resource, { namespace });
  } catch (error) {
    refuseUnknownKind(error, engine);
    throw error;
  }
}

/** A path that no API serves is answered in plain text; an object that is not there, by a Status. */
function refuseUnknownKind(error: unknown, { kind }: KindHandler): void {
  if (!(error instanceof ApiError) || error.status !== 404 || !error.message.includes('404 page not found')) return;
  throw new CommandError(
    `the cluster does not know the kind ${kind.resource.kind}; its CRD is installed with: clusterwright crds | kubectl apply --server-side -f -`,
    { cause: error },
  );
}

/** Who may not read what need not be there is asked for no right to it, or nobody could look at a cluster without it. */
function isOutOfReach(error: unknown): boolean {
  return isNotFound(error) || (error instanceof ApiError && error.status === 403);
}

/** The children by their labels, trimmed as the controller's cache trims them. */
export async function readChildren(
  client: Pick<KubeClient, 'list'>,
  engine: KindHandler,
  namespace: string,
  name: string,
): Promise<Children> {
  const labelSelector = `${managedByLabel}=${managedBy},${nameLabel}=${engine.name},${instanceLabel}=${name}`;
  const lists = await Promise.all(
    childResources.map(async (resource) => {
      const objects = await listChildren(client, resource, { namespace, labelSelector });
      return objects.map(resource === pods ? podSummary : wholeObject);
    }),
  );
  return childrenOf(lists.flat());
}

async function listChildren(
  client: Pick<KubeClient, 'list'>,
  resource: Resource,
  selection: Selection,
): Promise<KubeObject[]> {
  try {
    return await listAll(client, resource, selection);
  } catch (error) {
    if (optionalResources.includes(resource) && isOutOfReach(error)) return [];
    throw error;
  }
}

/** A Secret without what is in it. */
export async function findSecret(
  client: Pick<KubeClient, 'get'>,
  namespace: string,
  name: string,
): Promise<KubeObject | undefined> {
  try {
    const { apiVersion, kind, metadata } = await client.get({ resource: secrets, namespace, name });
    return { apiVersion, kind, metadata };
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

async function listAll(
  client: Pick<KubeClient, 'list'>,
  resource: Resource,
  selection: Selection,
): Promise<KubeObject[]> {
  const objects: KubeObject[] = [];
  let next: string | undefined;
  do {
    const page = await client.list(resource, { ...selection, limit: pageSize, continue: next });
    objects.push(...page.items);
    next = page.continue;
  } while (next !== undefined);
  return objects;
}

/** An object of the cluster in the place of a document, for messages about its fields. */
export function liveDocument(object: KubeObject): ManifestDocument {
  const { namespace = '' } = object.metadata;
  return { source: `${displayName(object)} in namespace ${namespace}`, value: object, locate: () => ({}) };
}
