/**
 * etcd and an API server that nobody else uses, on an empty data directory, without controller manager: its dozens of
 * writes for each cluster would be the ceiling, and the controller's own speed would not show.
 */
import { readFile } from 'node:fs/promises';
import { parseAllDocuments } from 'yaml';
import type { KubeObject, Resource } from '../../src/api/object.ts';
import { auditLogPath } from '../../src/sandbox/controlplane.ts';
import { layoutOf } from '../../src/sandbox/layout.ts';
import { processRecords } from '../../src/sandbox/process.ts';
import { createProgress } from '../../src/sandbox/progress.ts';
import { down, sandboxEnv, up } from '../../src/sandbox/sandbox.ts';
import { readState } from '../../src/sandbox/state.ts';
import { listAll } from '../support/kubernetes.ts';
import { until } from '../support/until.ts';
import { type Connection, connect, createNamespace } from './connection.ts';
import { UsageError } from './options.ts';
import type { Workload } from './workload.ts';

export const benchNamespace = 'bench';

export interface ControlPlane extends Connection {
  readonly kubeconfig: string;
  readonly apiServerPid: number;
  readonly etcdPid: number;
  readonly auditLog: string | undefined;
}

const progress = createProgress();

/** @throws UsageError when a sandbox is up: somebody may be using it */
export async function requireNoSandbox(): Promise<void> {
  if ((await readState(layoutOf(process.env))) !== undefined) {
    throw new UsageError('a sandbox is up; the bench starts its own: clusterwright sandbox down');
  }
}

/** Starts one with our CRDs and the namespace `bench`, and takes it down afterwards, whatever happens. */
export async function withControlPlane<T>(
  { resource }: Workload,
  options: { readonly audit?: boolean },
  work: (plane: ControlPlane) => Promise<T>,
): Promise<T> {
  const layout = layoutOf(process.env);
  const audit = options.audit ?? false;
  await up({ nodes: 0, audit, controllerManager: false }, progress, layout);
  try {
    const records = await processRecords(layout);
    const pidOf = (name: string): number => records.find((record) => record.name === name)?.pid ?? 0;
    const { KUBECONFIG: kubeconfig } = sandboxEnv(layout);
    const connection = await connect(kubeconfig, resource);
    try {
      await installCrds(connection, resource);
      await createNamespace(connection.client, benchNamespace);
      return await work({
        ...connection,
        kubeconfig,
        apiServerPid: pidOf('kube-apiserver'),
        etcdPid: pidOf('etcd'),
        auditLog: audit ? auditLogPath(layout) : undefined,
      });
    } finally {
      await connection.close();
    }
  } finally {
    await down(progress, layout);
  }
}

async function installCrds({ client }: Connection, resource: Resource): Promise<void> {
  const documents = parseAllDocuments(await readFile('dist/0000-crds.k8s.yaml', 'utf8'));
  for (const document of documents) await client.apply(document.toJS() as KubeObject, { force: true });
  const served = (): Promise<unknown> => listAll(client, resource, 'default');
  await until('the CRDs served', served, { withinMs: 30_000 });
}
