/**
 * A label that a template leaves without a value, as `kubectl apply`, Helm and Argo CD bring it: a merge patch, in which the API server drops nulls
 * before it looks at the schema. Starts an API server of its own.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';

const bin = join(homedir(), '.cache/clusterwright/bin');
const kubernetes = join(bin, 'kubernetes-v1.35.4');
const home = mkdtempSync(join(tmpdir(), 'null-label-'));
const started: ChildProcess[] = [];
const start = (command: string, ...args: string[]): void =>
  void started.push(spawn('chrt', ['-i', '0', 'nice', '-n', '19', command, ...args], { stdio: 'ignore' }));

function kubectl(args: readonly string[], input = ''): string {
  const server = ['--server=https://127.0.0.1:37443', '--insecure-skip-tls-verify', '--token=tok', '--cache-dir', home];
  return execFileSync(join(kubernetes, 'kubectl'), [...server, ...args], { input, encoding: 'utf8', stdio: 'pipe' });
}

async function ready(attempt: () => unknown): Promise<void> {
  for (let n = 0; ; n++) {
    try {
      return void attempt();
    } catch (error) {
      if (n > 100) throw error;
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }
}

beforeAll(async () => {
  execFileSync('openssl', ['genrsa', '-out', join(home, 'sa.key'), '2048'], { stdio: 'ignore' });
  writeFileSync(join(home, 'tokens.csv'), 'tok,admin,1,"system:masters"\n');
  const [client, peer] = ['http://127.0.0.1:33379', 'http://127.0.0.1:33380'];
  start(
    join(bin, 'etcd-v3.6.16/etcd'),
    ...['--data-dir', join(home, 'etcd'), '--listen-client-urls', client, '--advertise-client-urls', client],
    ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer, '--initial-cluster', `default=${peer}`],
  );
  start(
    join(kubernetes, 'kube-apiserver'),
    ...[`--etcd-servers=${client}`, '--bind-address=127.0.0.1', '--secure-port=37443', `--cert-dir=${home}`],
    ...['--service-account-issuer=https://x', `--service-account-key-file=${home}/sa.key`],
    ...[`--service-account-signing-key-file=${home}/sa.key`, `--token-auth-file=${home}/tokens.csv`],
    ...['--authorization-mode=RBAC', '--service-cluster-ip-range=10.77.0.0/24'],
  );
  await ready(() => kubectl(['get', '--raw', '/readyz']));
  kubectl(['apply', '--server-side', '-f', 'dist/0000-crds.k8s.yaml']);
  await ready(() => kubectl(['get', 'etcdclusters']));
}, 120_000);
afterAll(() => {
  for (const child of started) child.kill('SIGKILL');
  rmSync(home, { recursive: true, force: true });
});

const manifest = (selector: string): string => `
apiVersion: clusterwright.dev/v1alpha1
kind: EtcdCluster
metadata: {name: db, namespace: default}
spec: {storage: {size: 1Gi}, networkPolicy: {clients: [{namespaceSelector: ${selector}}]}}
`;
const apply = (selector: string): string => {
  try {
    kubectl(['apply', '-f', '-'], manifest(selector));
  } catch {
    // Refused, as it should be.
  }
  try {
    return kubectl(['get', 'etcdcluster', 'db', '-o', 'jsonpath={.spec.networkPolicy.clients[*].namespaceSelector}']);
  } catch {
    return 'absent';
  }
};

it('created by kubectl apply, it does not select all namespaces', () => {
  expect(apply('{matchLabels: {team: null}}')).not.toBe('{"matchLabels":{}}');
});
it('changed by kubectl apply, it does not select all namespaces', () => {
  expect(apply('{matchLabels: {team: shop}}')).toBe('{"matchLabels":{"team":"shop"}}');
  expect(apply('{matchLabels: {team: null}}')).toBe('{"matchLabels":{"team":"shop"}}');
});
it('changed by kubectl apply, the other label does not stay alone', () => {
  expect(apply('{matchLabels: {team: shop, stage: live}}')).toBe('{"matchLabels":{"stage":"live","team":"shop"}}');
  expect(apply('{matchLabels: {team: null, stage: live}}')).not.toBe('{"matchLabels":{"stage":"live"}}');
});
