/** What both stages begin with: a simulated API server with the objects of a cluster that nobody has started yet, and each member's files. */
import type { Cluster } from '../../../../src/api/cluster.ts';
import type { KubeObject } from '../../../../src/api/object.ts';
import type { PostgresSpec, PostgresSpecInput } from '../../../../src/engines/postgres/kind/schema.ts';
import { component, memberName, paths, podName } from '../../../../src/engines/postgres/names.ts';
import { memberStatefulSet } from '../../../../src/engines/postgres/resources/pods.ts';
import { memberPart, newState, postgresChildren } from '../../../../src/engines/postgres/resources/resources.ts';
import { forming, type Start, startKey } from '../../../../src/engines/postgres/resources/roster.ts';
import { memberLabel, selectorLabels } from '../../../../src/resources/metadata.ts';
import { createClient } from '../../../../src/runtime/client.ts';
import { postgresCluster } from '../../../support/postgres-situation.ts';
import { simulatedKubernetes } from '../../kubernetes/simulated-kubernetes.ts';
import type { SimulatedKubernetes } from '../../world/kubernetes.ts';
import type { Network } from '../../world/network.ts';
import { seeded } from '../../world/random.ts';
import type { VirtualTime } from '../../world/time.ts';

export const namespace = 'apps';
export const scope = 'db';

export interface Place {
  readonly cluster: Cluster<PostgresSpec>;
  readonly kubernetes: SimulatedKubernetes;
  /** The objects are there when this resolves. Time has to pass meanwhile. */
  ready(): Promise<void>;
  /** By absolute path, as the pod of the member mounts them. */
  files(member: number, how: Start): ReadonlyMap<string, string>;
  /** Of the container, with references to the pod resolved. */
  environment(member: number, ip: string): Readonly<Record<string, string>>;
  command(): readonly string[];
  annotations(configMap: string): Readonly<Record<string, string>> | undefined;
  label(member: number, name: string): string | undefined;
}

export function placeOf(spec: PostgresSpecInput, time: VirtualTime, network: Network): Place {
  const cluster = postgresCluster(spec);
  const kubernetes = simulatedKubernetes({
    ...{ time, network, random: seeded(7), nodes: 0, crds: [], namespaces: [namespace] },
    images: () => undefined,
  });
  const members = cluster.spec.instances;
  const part = memberPart(cluster);
  const client = createClient({ transport: kubernetes.transport('clusterwright'), clock: time, random: seeded(8) });
  const children = postgresChildren(cluster, forming(members)).map(({ object }) => object);
  const dataOf = (name: string): Readonly<Record<string, string>> =>
    (children.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === name) as ConfigMap).data;
  const container = () => {
    const set = memberStatefulSet(cluster, 0, part, 1) as unknown as { readonly spec: Template };
    const [found] = set.spec.template.spec.containers;
    if (found === undefined) throw new Error('a member has a container');
    return found;
  };
  const found = (kind: string, name: string): KubeObject | undefined =>
    kubernetes.objects().find((one) => one.kind === kind && one.metadata.name === name);

  return {
    cluster,
    kubernetes,
    async ready() {
      const access = children.filter(({ kind }) => ['ServiceAccount', 'Role', 'RoleBinding'].includes(kind));
      const pods = Array.from({ length: members }, (_, index) => podOf(cluster, index));
      for (const object of [...newState(cluster).map((each) => each.object), ...access, ...pods]) {
        const { ownerReferences: _, ...metadata } = object.metadata;
        await client.create({ ...object, metadata });
      }
    },
    files(member, how) {
      const { 'patroni.yml': patroni = '', passwd = '', ...scripts } = dataOf(`${scope}-patroni`);
      const roster = dataOf(`${scope}-members`);
      const bootstrap = how === 'form' ? roster[`${memberName(scope, member)}.bootstrap.yml`] : undefined;
      if (how === 'form' && bootstrap === undefined) throw new Error(`${startKey(scope, member)} is not to form`);
      return new Map([
        [`${paths.patroni}/patroni.yml`, patroni],
        [`${paths.patroni}/start`, how],
        ...(bootstrap === undefined ? [] : [[`${paths.patroni}/bootstrap.yml`, bootstrap] as const]),
        ...Object.entries(scripts).map(([name, text]) => [`${paths.patroni}/${name}`, text] as const),
        ['/etc/passwd', passwd],
      ]);
    },
    environment(member, ip) {
      const fields: Readonly<Record<string, string>> = { 'metadata.name': podName(scope, member), 'status.podIP': ip };
      const values: Record<string, string> = {};
      for (const { name, value = '', valueFrom } of container().env) {
        const text = valueFrom === undefined ? value : (fields[valueFrom.fieldRef.fieldPath] ?? '');
        values[name] = text.replace(/\$\((\w+)\)/g, (_, other: string) => values[other] ?? '');
      }
      return values;
    },
    command: () => container().command,
    annotations: (name) => {
      const object = found('ConfigMap', name);
      return object === undefined ? undefined : (object.metadata.annotations ?? {});
    },
    label: (member, name) => found('Pod', podName(scope, member))?.metadata.labels?.[name],
  };
}

function podOf(cluster: Cluster<PostgresSpec>, index: number): KubeObject {
  const labels = {
    ...selectorLabels(cluster, { engine: 'postgres', component }),
    [memberLabel]: memberName(scope, index),
  };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: podName(scope, index), namespace, labels },
    spec: { containers: [{ name: 'postgres', image: 'postgres' }] },
  };
}

interface ConfigMap extends KubeObject {
  readonly data: Readonly<Record<string, string>>;
}

interface Template {
  readonly template: {
    readonly spec: {
      readonly containers: readonly {
        readonly command: readonly string[];
        readonly env: readonly {
          readonly name: string;
          readonly value?: string;
          readonly valueFrom?: { readonly fieldRef: { readonly fieldPath: string } };
        }[];
      }[];
    };
  };
}
