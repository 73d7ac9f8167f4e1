/**
 * An API server that keeps objects and forgets nothing that it was asked: enough of the protocol for commands, which
 * get, list, create, apply and delete. Controllers are played by `settle`, which sees every object that is stored.
 */
import { apiVersionOf, type KubeObject, type Resource } from '../../src/api/object.ts';
import * as builtIn from '../../src/api/resource.ts';
import type { Transport, TransportRequest, TransportResponse } from '../../src/runtime/transport.ts';
import { handlers as engines } from '../support/handlers.ts';

const other = (group: string, kind: string, plural: string, namespaced = true): Resource => ({
  group,
  version: 'v1',
  kind,
  plural,
  namespaced,
});

const rbac = 'rbac.authorization.k8s.io';
const admission = 'admissionregistration.k8s.io';

const resources: readonly Resource[] = [
  builtIn.pods,
  builtIn.services,
  builtIn.configMaps,
  builtIn.secrets,
  builtIn.persistentVolumeClaims,
  builtIn.statefulSets,
  builtIn.podDisruptionBudgets,
  builtIn.jobs,
  builtIn.cronJobs,
  other('', 'Namespace', 'namespaces', false),
  other('', 'ServiceAccount', 'serviceaccounts'),
  other('apps', 'Deployment', 'deployments'),
  other(rbac, 'Role', 'roles'),
  other(rbac, 'RoleBinding', 'rolebindings'),
  other(rbac, 'ClusterRole', 'clusterroles', false),
  other(rbac, 'ClusterRoleBinding', 'clusterrolebindings', false),
  other('storage.k8s.io', 'StorageClass', 'storageclasses', false),
  other('networking.k8s.io', 'NetworkPolicy', 'networkpolicies'),
  other(admission, 'ValidatingAdmissionPolicy', 'validatingadmissionpolicies', false),
  other(admission, 'ValidatingAdmissionPolicyBinding', 'validatingadmissionpolicybindings', false),
  other('apiextensions.k8s.io', 'CustomResourceDefinition', 'customresourcedefinitions', false),
];

export interface ApiServerOptions {
  /** Objects that are there from the beginning. */
  readonly objects?: readonly KubeObject[];
  /** Whether our kinds are installed. Default true. */
  readonly crds?: boolean;
  /** Paths that nobody may use. */
  readonly forbidden?: RegExp | undefined;
  /** Why a dry run of this object is refused. */
  readonly refuses?: ((object: KubeObject) => string | undefined) | undefined;
  /** What controllers make of an object that was written. */
  readonly settle?: (object: KubeObject) => KubeObject;
}

export interface ApiServer extends Transport {
  /** `GET /api/v1/...`, in order. */
  readonly requests: readonly TransportRequest[];
  /** Requests that change something. */
  readonly writes: readonly TransportRequest[];
  /** `Kind namespace/name` of everything, sorted. */
  readonly names: readonly string[];
  object(kind: string, name: string): KubeObject | undefined;
}

export function apiServer(options: ApiServerOptions = {}): ApiServer {
  const { crds = true, settle = (object) => object } = options;
  const kinds = [...resources, ...(crds ? engines.map(({ kind }) => kind.resource) : [])];
  const objects = new Map<string, KubeObject>();
  const requests: TransportRequest[] = [];
  let born = 0;

  const pathOf = (object: KubeObject): string => {
    const resource = kinds.find((r) => r.kind === object.kind && apiVersionOf(r) === object.apiVersion);
    if (resource === undefined) throw new Error(`the test's API server has no ${object.kind}`);
    const { namespace } = object.metadata;
    const scope = resource.namespaced ? `/namespaces/${namespace}` : '';
    return `${rootOf(resource)}${scope}/${resource.plural}/${object.metadata.name}`;
  };
  const store = (object: KubeObject): KubeObject => {
    const path = pathOf(object);
    const uid = objects.get(path)?.metadata.uid ?? object.metadata.uid ?? `uid-${++born}`;
    const metadata = { generation: 1, ...object.metadata, uid };
    const stored = settle({ ...object, metadata });
    objects.set(path, stored);
    return stored;
  };
  for (const object of options.objects ?? []) store(object);

  function list(path: string, query: Readonly<Record<string, string>>): TransportResponse<string> | undefined {
    const resource = kinds.find((r) => path.endsWith(`/${r.plural}`) && path.startsWith(rootOf(r)));
    if (resource === undefined) return undefined;
    const prefix = path.slice(0, -resource.plural.length);
    const wanted = (query.labelSelector ?? '').split(',').flatMap((pair) => (pair === '' ? [] : [pair.split('=')]));
    const items = [...objects].flatMap(([key, object]) => {
      const labels = object.metadata.labels ?? {};
      const inside = key.startsWith(prefix) && key.includes(`/${resource.plural}/`);
      return inside && wanted.every(([name = '', value]) => labels[name] === value) ? [object] : [];
    });
    const from = Number(query.continue ?? 0);
    const to = from + Number(query.limit ?? items.length);
    const metadata = { resourceVersion: '1', ...(to < items.length ? { continue: String(to) } : {}) };
    return answer(200, { kind: `${resource.kind}List`, metadata, items: items.slice(from, to) });
  }

  function respond(request: TransportRequest): TransportResponse<string> {
    const { method, path, query = {}, body } = request;
    const found = objects.get(path);
    if (options.forbidden?.test(path))
      return answer(403, { kind: 'Status', reason: 'Forbidden', message: 'you may not' });
    switch (method) {
      case 'GET': {
        if (found !== undefined) return answer(200, found);
        const version = kinds.filter((r) => rootOf(r) === path);
        if (version.length > 0) {
          const described = version.map(({ plural, kind, namespaced }) => ({ name: plural, kind, namespaced }));
          return answer(200, { kind: 'APIResourceList', resources: described });
        }
        const known = kinds.some((r) => path.startsWith(`${rootOf(r)}/`) && path.split('/').includes(r.plural));
        if (!known) return { status: 404, headers: {}, body: '404 page not found\n' };
        return list(path, query) ?? missing(path);
      }
      case 'POST': {
        const object = JSON.parse(body ?? '') as KubeObject;
        const refusal = query.dryRun === 'All' ? options.refuses?.(object) : undefined;
        if (refusal !== undefined) return answer(403, { kind: 'Status', reason: 'Forbidden', message: refusal });
        if (query.dryRun === 'All') return answer(201, object);
        if (!objects.has(pathOf(object))) return answer(201, store(object));
        return answer(409, { kind: 'Status', reason: 'AlreadyExists', message: 'it exists' });
      }
      case 'PATCH':
        return answer(200, store(JSON.parse(body ?? '') as KubeObject));
      case 'DELETE': {
        if (found === undefined) return missing(path);
        const { preconditions } = JSON.parse(body ?? '') as { preconditions: { uid: string } };
        if (preconditions.uid !== found.metadata.uid) throw new Error(`${path} was deleted under another UID`);
        objects.delete(path);
        return answer(200, { kind: 'Status', status: 'Success' });
      }
      default:
        throw new Error(`the test's API server knows no ${method}`);
    }
  }

  return {
    requests,
    get writes() {
      return requests.filter(({ method, query }) => method !== 'GET' && query?.dryRun !== 'All');
    },
    get names() {
      return [...objects.values()]
        .map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`)
        .sort();
    },
    object: (kind, name) => [...objects.values()].find((o) => o.kind === kind && o.metadata.name === name),
    request(request) {
      requests.push(request);
      return Promise.resolve(respond(request));
    },
    stream: () => Promise.reject(new Error('a command watches nothing')),
    close: () => Promise.resolve(),
  };
}

function rootOf(resource: Resource): string {
  return `${resource.group === '' ? '/api' : '/apis'}/${apiVersionOf(resource)}`;
}

function answer(status: number, body: object): TransportResponse<string> {
  return { status, headers: {}, body: JSON.stringify(body) };
}

function missing(path: string): TransportResponse<string> {
  return answer(404, { kind: 'Status', code: 404, reason: 'NotFound', message: `${path} not found` });
}
