/** What a request of the operator is about, read from its path alone. */
import type { TransportRequest } from '../../../src/runtime/transport.ts';

export interface Target {
  /** Empty for the core group. */
  readonly group: string;
  readonly resource: string;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
}

export function targetOf(path: string): Target {
  const match = /^\/(?:api|apis\/([^/]+))\/[^/]+(?:\/namespaces\/([^/]+))?\/([^/]+)(?:\/([^/]+))?(?:\/([^/]+))?$/.exec(
    path,
  );
  const [, group = '', namespace, resource = '', name, subresource] = match ?? [];
  return { group, resource, namespace, name, subresource };
}

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete';

/** As authorization names it. */
export function verbOf({ method, path, query }: TransportRequest): Verb {
  switch (method) {
    case 'GET':
      if (query?.watch !== undefined) return 'watch';
      return targetOf(path).name === undefined ? 'list' : 'get';
    case 'POST':
      return 'create';
    case 'PUT':
      return 'update';
    case 'PATCH':
      return 'patch';
    case 'DELETE':
      return 'delete';
    default:
      return method satisfies never;
  }
}

/** What changes nothing: a dry run is a question. */
export function isRead({
  method,
  query,
}: {
  readonly method: string;
  readonly query?: TransportRequest['query'];
}): boolean {
  return method === 'GET' || query?.dryRun === 'All';
}

/** Writes that are numbered: what changes an object, leases and events apart. */
export function isNumbered(request: TransportRequest): boolean {
  const { resource } = targetOf(request.path);
  return !isRead(request) && resource !== 'leases' && resource !== 'events';
}
