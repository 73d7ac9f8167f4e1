/** One PostgresCluster under test: made, changed, asked, broken. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { configMaps, persistentVolumeClaims, pods as podResource } from '../../src/api/resource.ts';
import type { ClusterStatus } from '../../src/api/status.ts';
import type { PostgresSpecInput } from '../../src/engines/postgres/kind/schema.ts';
import { component, postgresNames, roleLabel } from '../../src/engines/postgres/names.ts';
import { type Claim, type Pod, podIsReady } from '../../src/resources/children.ts';
import { componentLabel, instanceLabel } from '../../src/resources/metadata.ts';
import type { KubeClient } from '../../src/runtime/client.ts';
import { listAll } from './kubernetes.ts';
import { endpointSlices, postgresClusters } from './resources.ts';
import { type Patience, until } from './until.ts';

const run = promisify(execFile);

export interface PostgresTestCluster {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly name: string;
  object(): Promise<KubeObject>;
  status(): Promise<ClusterStatus>;
  /** Status and reason of `Ready`: `False NoPrimary`. */
  ready(): Promise<string>;
  change(spec: PostgresSpecInput): Promise<void>;
  remove(): Promise<void>;
  pods(): Promise<readonly Pod[]>;
  pod(name: string): Promise<Pod>;
  claims(): Promise<readonly Claim[]>;
  log(pod: string): Promise<string>;
  /** The pod that holds the lock. Rejects where nobody does. */
  primary(): Promise<Pod>;
  /** Those of the members that do not hold it. */
  standbys(): Promise<readonly Pod[]>;
  /** Runs a shell in the container of a member; resolves with its output. For psql it is `$PGBIN/psql` and the local socket. */
  shell(pod: string, command: string, withinMs?: number): Promise<string>;
  /** Asks PostgreSQL of a member as its superuser. One row a line, columns separated by `|`. */
  sql(pod: string, statement: string): Promise<string>;
  /** Asks Patroni for a switchover with its own command; rejects where it refuses. Default: to anybody who may take over. */
  switchover(to?: string): Promise<void>;
  /** Waits until it says Ready with this many members, of which the Service leads to one. */
  whole(size: number, patience?: Patience): Promise<readonly Pod[]>;
}

export function postgresTestCluster(client: KubeClient, namespace: string, name: string): PostgresTestCluster {
  const ref = { resource: postgresClusters, namespace, name };
  const names = postgresNames(name);
  const labelSelector = `${instanceLabel}=${name},${componentLabel}=${component}`;
  const listed = async (resource: typeof podResource): Promise<readonly KubeObject[]> =>
    (await client.list(resource, { namespace, labelSelector })).items.toSorted((a, b) =>
      a.metadata.name < b.metadata.name ? -1 : 1,
    );

  async function endpoints(): Promise<readonly string[]> {
    const slices = (await listAll(client, endpointSlices, namespace)) as readonly (KubeObject & {
      readonly endpoints?: readonly { readonly targetRef?: { readonly name?: string } }[] | null;
    })[];
    return slices
      .filter(({ metadata }) => metadata.labels?.['kubernetes.io/service-name'] === names.primary)
      .flatMap((slice) => (slice.endpoints ?? []).flatMap(({ targetRef }) => targetRef?.name ?? []));
  }

  const cluster: PostgresTestCluster = {
    client,
    namespace,
    name,
    object: () => client.get(ref),
    status: async () => ((await client.get(ref)).status ?? {}) as ClusterStatus,
    async ready() {
      const found = (await cluster.status()).conditions?.find(({ type }) => type === 'Ready');
      return `${found?.status} ${found?.reason}`;
    },
    async change(spec) {
      await client.mergePatch(ref, { spec });
    },
    async remove() {
      const { uid = '' } = (await client.get(ref)).metadata;
      await client.remove({ ...ref, uid });
    },
    pods: async () => (await listed(podResource)) as readonly Pod[],
    pod: async (pod) => (await client.get({ resource: podResource, namespace, name: pod })) as Pod,
    claims: async () => (await listed(persistentVolumeClaims)) as readonly Claim[],
    log: (pod) => client.getText(`/api/v1/namespaces/${namespace}/pods/${pod}/log?container=postgres`),
    async primary() {
      const lock = await client.get({ resource: configMaps, namespace, name: names.state.leader });
      const holder = lock.metadata.annotations?.leader;
      if (holder === undefined || holder === '') throw new Error('nobody holds the lock');
      return cluster.pod(holder);
    },
    async standbys() {
      const { metadata } = await cluster.primary();
      return (await cluster.pods()).filter((pod) => pod.metadata.name !== metadata.name);
    },
    async shell(pod, command, withinMs = 60_000) {
      const words = ['-n', namespace, 'exec', pod, '-c', 'postgres', '--', 'sh', '-c', command];
      const { stdout } = await run('kubectl', words, { timeout: withinMs, maxBuffer: 64 * 1024 ** 2 });
      return stdout.trimEnd();
    },
    sql: (pod, statement) =>
      cluster.shell(
        pod,
        `"$PGBIN"/psql -X -At -v ON_ERROR_STOP=1 -h /var/run/postgresql -U postgres app <<'SQL'\n${statement}\nSQL`,
      ),
    async switchover(to) {
      const { metadata } = await cluster.primary();
      const candidate = to === undefined ? '' : `--candidate ${to}`;
      const said = await cluster.shell(
        metadata.name,
        `patronictl -c /etc/patroni/patroni.yml switchover ${name} --leader ${metadata.name} ${candidate} --force 2>&1`,
      );
      // It ends well where it was refused, too.
      if (!/Successfully switched over/.test(said)) throw new Error(said);
    },
    whole: (size, patience) =>
      until(
        `${name} whole with ${size} members`,
        async () => {
          const { metadata, status } = await cluster.object();
          const { conditions, observedGeneration, members = [], primary } = (status ?? {}) as ClusterStatus;
          expect(conditions?.find(({ type }) => type === 'Ready')).toMatchObject({ status: 'True' });
          expect(observedGeneration).toBe(metadata.generation);
          const pods = await cluster.pods();
          expect(pods.filter((pod) => !podIsReady(pod)).map((pod) => pod.metadata.name)).toEqual([]);
          expect(pods.length).toBe(size);
          expect(members.map(({ role }) => role).sort()).toEqual(roles(size));
          const holder = (await cluster.primary()).metadata.name;
          expect(primary).toBe(holder);
          const labelled = pods.filter((pod) => pod.metadata.labels?.[roleLabel] === 'primary');
          expect(labelled.map((pod) => pod.metadata.name)).toEqual([holder]);
          expect(await endpoints()).toEqual([holder]);
          return pods;
        },
        patience,
      ),
  };
  return cluster;
}

const roles = (size: number): string[] => ['primary', ...Array.from({ length: size - 1 }, () => 'standby')];
