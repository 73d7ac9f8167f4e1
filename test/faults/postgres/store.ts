/** What Patroni keeps in Kubernetes: four ConfigMaps and the pods of the members, as one member sees and writes them. */
import type { KubeObject } from '../../../src/api/object.ts';
import type { Transport } from '../../../src/runtime/transport.ts';
import type { Network } from '../world/network.ts';

/** Where pods reach the API server. No pod of the simulation has it. */
export const apiAddress = '10.96.0.1';

type Annotations = Readonly<Record<string, string>>;
export type Json = Readonly<Record<string, unknown>>;

export interface MemberRow {
  readonly name: string;
  readonly ip: string;
  readonly state: string;
  readonly role: string;
  readonly timeline: number;
  readonly label: string | undefined;
  readonly pending: boolean;
}

export interface SyncState {
  readonly leader: string;
  readonly voters: readonly string[];
  readonly quorum: number;
}

export interface View {
  /** resourceVersions of those that are there. */
  readonly versions: Readonly<Record<Part, string | undefined>>;
  readonly initialize: string | undefined;
  /** The pod that moves an unfinished database aside. */
  readonly claim: string | undefined;
  readonly config: Json | undefined;
  readonly history: readonly (readonly [number, ...unknown[]])[];
  /** Whoever the lock names, whether it has ended or not. */
  readonly holder: string | undefined;
  readonly lock: Annotations;
  readonly optime: number;
  readonly failsafe: Readonly<Record<string, string>> | undefined;
  readonly failover: { readonly leader: string; readonly candidate: string } | undefined;
  readonly sync: SyncState;
  readonly members: readonly MemberRow[];
}

export const claimAnnotation = 'clusterwright.dev/begins-anew';

export const parts = ['config', 'leader', 'failover', 'sync'] as const;
export type Part = (typeof parts)[number];

/** There is no way to the API server. */
export class StoreAway extends Error {
  override readonly name = 'StoreAway';
}

export interface StoreOptions {
  readonly ip: string;
  readonly scope: string;
  readonly namespace: string;
  readonly network: Network;
  readonly objects: () => readonly KubeObject[];
  readonly transport: Transport;
}

export class Store {
  readonly #options: StoreOptions;

  constructor(options: StoreOptions) {
    this.#options = options;
  }

  #reach(): void {
    const { network, ip } = this.#options;
    if (!network.reaches(ip, apiAddress)) throw new StoreAway('no route to the API server');
  }

  /** @throws StoreAway */
  view(): View {
    this.#reach();
    const { scope, namespace, objects } = this.#options;
    const here = objects().filter(({ metadata }) => metadata.namespace === namespace);
    const found = (part: Part): KubeObject | undefined =>
      here.find(
        ({ kind, metadata }) =>
          kind === 'ConfigMap' &&
          metadata.name === `${scope}-${part}` &&
          metadata.labels?.['app.kubernetes.io/instance'] === scope,
      );
    const at = Object.fromEntries(parts.map((part) => [part, found(part)])) as Record<Part, KubeObject | undefined>;
    const said = (part: Part): Annotations => at[part]?.metadata.annotations ?? {};
    const { leader, sync_standby = '', quorum = '0' } = said('sync');
    const failover = said('failover');
    return {
      versions: Object.fromEntries(parts.map((part) => [part, at[part]?.metadata.resourceVersion])) as View['versions'],
      initialize: said('config').initialize,
      claim: said('config')[claimAnnotation],
      config: parsed(said('config').config) as Json | undefined,
      history: (parsed(said('config').history) ?? []) as View['history'],
      holder: said('leader').leader,
      lock: said('leader'),
      optime: Number(said('leader').optime ?? 0),
      failsafe: parsed(said('leader').failsafe) as View['failsafe'],
      failover:
        (failover.leader ?? failover.member) === undefined
          ? undefined
          : { leader: failover.leader ?? '', candidate: failover.member ?? '' },
      sync: {
        leader: leader ?? '',
        voters: sync_standby === '' ? [] : sync_standby.split(','),
        quorum: Number(quorum),
      },
      members: here.filter((object) => isMember(object, scope)).flatMap(rowOf),
    };
  }

  /** The annotations of one of the ConfigMaps; null takes one away. False where that was refused. */
  async write(
    part: Part,
    annotations: Readonly<Record<string, string | null>>,
    resourceVersion?: string,
  ): Promise<boolean> {
    const { scope } = this.#options;
    return this.#patch('configmaps', `${scope}-${part}`, {
      annotations,
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    });
  }

  /** Labels and annotations of a pod. */
  async label(pod: string, metadata: object): Promise<boolean> {
    return this.#patch('pods', pod, metadata);
  }

  /** As the Role of the pods allows: a ConfigMap that is not there cannot be made. */
  async #patch(resource: 'configmaps' | 'pods', name: string, metadata: object): Promise<boolean> {
    this.#reach();
    const { namespace, transport } = this.#options;
    if (!this.#mayPatch(resource, name)) return false;
    const { status } = await transport.request({
      method: 'PATCH',
      path: `/api/v1/namespaces/${namespace}/${resource}/${name}`,
      headers: { 'content-type': 'application/merge-patch+json' },
      body: JSON.stringify({ metadata }),
    });
    return status < 300;
  }

  #mayPatch(resource: string, name: string): boolean {
    const { scope, namespace, objects } = this.#options;
    const account = `${scope}-postgres`;
    const named = (wanted: string): KubeObject | undefined =>
      objects().find(
        ({ kind, metadata }) => kind === wanted && metadata.name === account && metadata.namespace === namespace,
      );
    const role = named('Role') as (KubeObject & { readonly rules?: readonly Json[] }) | undefined;
    if (named('RoleBinding') === undefined || named('ServiceAccount') === undefined) return false;
    return (role?.rules ?? []).some(({ resources, verbs, resourceNames }) =>
      [resources, verbs, resourceNames].every(
        (list, at) => list === undefined || (list as string[]).includes([resource, 'patch', name][at] ?? ''),
      ),
    );
  }

  podsLabelled(role: string): readonly KubeObject[] {
    this.#reach();
    const { scope, objects } = this.#options;
    return objects().filter(
      (object) => isMember(object, scope) && object.metadata.labels?.['clusterwright.dev/role'] === role,
    );
  }
}

function isMember({ kind, metadata: { labels = {} } }: KubeObject, scope: string): boolean {
  return (
    kind === 'Pod' &&
    labels['app.kubernetes.io/instance'] === scope &&
    labels['app.kubernetes.io/component'] === 'member'
  );
}

function rowOf({ metadata }: KubeObject): MemberRow[] {
  const status = parsed(metadata.annotations?.status) as Readonly<Record<string, unknown>> | undefined;
  if (status === undefined) return [];
  const [, ip = ''] = /^https:\/\/([\d.]+):/.exec(String(status.api_url)) ?? [];
  return [
    {
      name: metadata.name,
      ip,
      state: String(status.state),
      role: String(status.role),
      timeline: Number(status.timeline ?? 0),
      label: metadata.labels?.['clusterwright.dev/role'],
      pending: status.pending_restart === true,
    },
  ];
}

function parsed(text: string | undefined): unknown {
  if (text === undefined || text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    // Somebody has written over it: Patroni reads on as if it were not there.
    return undefined;
  }
}
