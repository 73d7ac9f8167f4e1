/**
 * Where an end-to-end test plays: a namespace that enforces `restricted`, with an operator of its own.
 *
 * The operator's lease is in that namespace, and it watches no other, so several stages share one Kubernetes.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, inject } from 'vitest';
import { parse, stringify } from 'yaml';
import { apiVersionOf } from '../../src/api/object.ts';
import type { EtcdSpecInput } from '../../src/engines/etcd/kind/schema.ts';
import type { PostgresSpecInput } from '../../src/engines/postgres/kind/schema.ts';
import type { RedisSpecInput } from '../../src/engines/redis/kind/schema.ts';
import type { KubeClient } from '../../src/runtime/client.ts';
import type { AskEtcd } from './etcd-client.ts';
import { type EtcdTestCluster, etcdTestCluster } from './etcd-test-cluster.ts';
import type { ForesightPlace } from './foreseen-operator.ts';
import { foresightWords, readForesight, unforeseenIn } from './foresight-report.ts';
import { connectKubernetes } from './kubernetes.ts';
import { removeNamespace, restricted } from './namespace.ts';
import { type OperatorProcess, startOperator } from './operator-process.ts';
import { grantRights } from './operator-rights.ts';
import { type PostgresTestCluster, postgresTestCluster } from './postgres-test-cluster.ts';
import { imageOf, type TestCluster, testCluster } from './redis-cluster.ts';
import { etcdClusters, postgresClusters, redisClusters } from './resources.ts';
import { recordResult, resultsDirectory } from './results.ts';
import { until } from './until.ts';
import { watchStatuses } from './watched-statuses.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Of the cluster's administrator. */
    kubeconfig: string;
    /** The controller in one file. */
    bundle: string;
    /** Whether that one has O13 in it. */
    isForeseen: boolean;
  }
}

export interface Stage {
  readonly namespace: string;
  readonly client: KubeClient;
  /** Of the cluster's administrator, with the stage's namespace in its context. */
  readonly kubeconfig: string;
  /** Of the operator's ServiceAccount, which has the rights that its manifests give it and no others. */
  readonly operatorKubeconfig: string;
  /** Warnings that the API server gave to the test. */
  readonly warnings: readonly string[];
  /** For an operator that is started without `startOperator`. */
  readonly foresight: ForesightPlace;
  /** `bundle`: of an operator of somebody else, which has the administrator's rights, and which O13 does not look at. */
  startOperator(bundle?: string): Promise<OperatorProcess>;
  /** Makes a RedisCluster of version 8.0 unless the spec says otherwise. */
  create(name: string, spec?: RedisSpecInput): Promise<TestCluster>;
  /** `ask`: how its clients ask, where they have to show who they are. */
  createEtcd(name: string, spec?: EtcdSpecInput, ask?: AskEtcd): Promise<EtcdTestCluster>;
  createPostgres(name: string, spec?: PostgresSpecInput): Promise<PostgresTestCluster>;
  /**
   * Ends the operators and removes the namespace with everything in it. Rejects when they did what no plan had shown (O13), when
   * they asked for what they have no right to, and when a status contradicted itself.
   */
  close(): Promise<void>;
}

export async function openStage(name: string): Promise<Stage> {
  const namespace = `e2e-${name}`;
  const { client, warnings, close } = await connectKubernetes(inject('kubeconfig'));
  await removeNamespace(client, namespace);
  await until(`the namespace ${namespace} made`, () => client.create(restricted(namespace)));
  const directory = await mkdtemp(join(tmpdir(), 'clusterwright-e2e-'));
  const kubeconfig = join(directory, 'kubeconfig');
  const administrator = inNamespace(await readFile(inject('kubeconfig'), 'utf8'), namespace);
  await writeFile(kubeconfig, administrator, { mode: 0o600 });
  const operatorKubeconfig = join(directory, 'operator-kubeconfig');
  await writeFile(operatorKubeconfig, asUser(administrator, await grantRights(client, namespace)), { mode: 0o600 });
  const operators: OperatorProcess[] = [];
  let isForeseen = inject('isForeseen');
  const statuses = watchStatuses(client, namespace);
  const foresight = { kubeconfig, file: join(resultsDirectory, `${namespace}.foresight.jsonl`) };
  await rm(foresight.file, { force: true });

  return {
    namespace,
    client,
    kubeconfig,
    operatorKubeconfig,
    warnings,
    foresight,
    async startOperator(bundle = inject('bundle')) {
      const logFile = join(resultsDirectory, `${namespace}.log`);
      const isOurs = bundle === inject('bundle');
      const credentials = { kubeconfig: isOurs ? operatorKubeconfig : kubeconfig };
      const operator = await startOperator({ ...credentials, bundle, namespace, logFile, foresight });
      isForeseen &&= isOurs;
      operators.push(operator);
      return operator;
    },
    async create(cluster, spec = {}) {
      await client.create({
        apiVersion: apiVersionOf(redisClusters),
        kind: redisClusters.kind,
        metadata: { name: cluster, namespace },
        spec: { image: imageOf(spec.version ?? '8.0'), ...spec },
      });
      return testCluster(client, namespace, cluster);
    },
    async createEtcd(cluster, spec = {}, ask) {
      await client.create({
        apiVersion: apiVersionOf(etcdClusters),
        kind: etcdClusters.kind,
        metadata: { name: cluster, namespace },
        spec,
      });
      return etcdTestCluster(client, namespace, cluster, ask);
    },
    async createPostgres(cluster, spec = {}) {
      await client.create({
        apiVersion: apiVersionOf(postgresClusters),
        kind: postgresClusters.kind,
        metadata: { name: cluster, namespace },
        spec,
      });
      return postgresTestCluster(client, namespace, cluster);
    },
    async close() {
      await Promise.all(operators.map((operator) => operator.kill()));
      await removeNamespace(client, namespace);
      await rm(directory, { recursive: true });
      const contradictions = await statuses.stop();
      await close();
      const lines = await readForesight(foresight.file);
      await recordResult({ scenario: `foresight: ${name}`, measured: foresightWords(lines) });
      expect(unforeseenIn(lines)).toEqual([]);
      expect(operators.flatMap(({ log }) => withoutRight(log))).toEqual([]);
      expect(contradictions, 'a status contradicts itself').toEqual([]);
      // Those that are killed at every write run in this process, with O13 in any case.
      if (operators.length === 0 || isForeseen) expect(lines).not.toEqual([]);
    },
  };
}

/** What RBAC has refused. A namespace that is being removed refuses new objects in other words. */
function withoutRight(log: OperatorProcess['log']): string[] {
  return log.map((line) => JSON.stringify(line)).filter((line) => /cannot \S+ resource/.test(line));
}

/** Each of its users acts as this one. */
function asUser(text: string, name: string): string {
  const config = parse(text) as { users: { user: object }[] };
  return stringify({
    ...config,
    users: config.users.map((entry) => ({ ...entry, user: { ...entry.user, as: name } })),
  });
}

function inNamespace(text: string, namespace: string): string {
  const config = parse(text) as { contexts: { context: object }[] };
  const contexts = config.contexts.map((entry) => ({ ...entry, context: { ...entry.context, namespace } }));
  return stringify({ ...config, contexts });
}
