/** Which answers of the API server the alert `OperatorRefused` counts. */
import { expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { persistentVolumeClaims } from '../../src/api/resource.ts';
import { operatorMonitoring } from '../../src/monitoring/operator.ts';
import { createClient, type KubeClient } from '../../src/runtime/client.ts';
import { createMetrics } from '../../src/runtime/metrics.ts';
import { FakeApi } from '../support/fake-api.ts';
import { samplesOf } from '../support/metrics-text.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

type Labels = Readonly<Record<string, string>>;

/** The selector of the alert, as Prometheus reads it: a label that is not there is empty. */
function selectorOf(alert: string): (labels: Labels) => boolean {
  const { expr = '' } = operatorMonitoring.alerts.find(({ name }) => name === alert) ?? {};
  const [, selector = ''] = /clusterwright_api_requests_total\{(.*?)\}/.exec(expr) ?? [];
  const matchers = [...selector.matchAll(/(\w+)(=~|!=)"([^"]*)"/g)];
  expect(matchers.length).toBe(2);
  return (labels) =>
    matchers.every(([, label = '', operator, value = '']) => {
      const has = labels[label] ?? '';
      return operator === '!=' ? has !== value : new RegExp(`^(?:${value})$`).test(has);
    });
}

const pod: KubeObject = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'db-0', namespace: 'apps' } };
const claim = { resource: persistentVolumeClaims, namespace: 'apps', name: 'data-db-0' };
const dryRun = (client: KubeClient): Promise<unknown> => client.create(pod, { dryRun: true });
const expansion = (client: KubeClient): Promise<unknown> => client.mergePatch(claim, {});
const noRight = 'User "operator" cannot create resource "pods" in API group "" in the namespace "apps"';

it.each<readonly [story: string, counts: boolean, call: (client: KubeClient) => Promise<unknown>, number, string]>([
  ['a PriorityClass', false, dryRun, 403, 'pods "db-0" is forbidden: no PriorityClass with name nobody was found'],
  ['a quota', false, dryRun, 403, 'pods "db-0" is forbidden: exceeded quota: q, requested: pods=1, used: pods=3'],
  ['Pod Security', false, dryRun, 403, 'pods "db-0" is forbidden: violates PodSecurity "restricted:latest"'],
  ['a webhook', false, dryRun, 403, 'admission webhook "p.example" denied the request: no'],
  [
    'a webhook that quotes',
    false,
    dryRun,
    403,
    `admission webhook "p.example" denied the request: forbidden: ${noRight}`,
  ],
  ['a webhook with a status of its own', false, dryRun, 500, 'admission webhook "p.example" denied the request: no'],
  [
    'a policy with a status of its own',
    false,
    dryRun,
    401,
    `pods "db-0" is forbidden: ValidatingAdmissionPolicy 'p' denied`,
  ],
  [
    'a StorageClass that cannot grow',
    false,
    expansion,
    403,
    'persistentvolumeclaims "data-db-0" is forbidden: only dynamically provisioned pvc can be resized',
  ],
  [
    'a quota of storage',
    false,
    expansion,
    403,
    'persistentvolumeclaims "data-db-0" is forbidden: exceeded quota: disks',
  ],
  ['no right to dry runs', true, dryRun, 403, `pods is forbidden: ${noRight}`],
  ['no right to one object', true, expansion, 403, `persistentvolumeclaims "data-db-0" is forbidden: ${noRight}`],
  [
    'no right to the owner',
    true,
    dryRun,
    403,
    `pods "db-0" is forbidden: cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on`,
  ],
  [
    'no right to delete what gets an owner',
    true,
    expansion,
    403,
    `persistentvolumeclaims "data-db-0" is forbidden: cannot set an ownerRef on a resource you can't delete: , <nil>`,
  ],
  ['a proxy before the API server', true, dryRun, 403, 'Access denied'],
  ['a token that has expired', true, dryRun, 401, 'Unauthorized'],
  ['a webhook that is down', true, dryRun, 500, 'Internal error occurred: failed calling webhook "p.example": timeout'],
])('%s: %s', async (_, counts, call, status, message) => {
  const api = new FakeApi();
  const metrics = createMetrics();
  const body = JSON.stringify({ kind: 'Status', message });
  api.intercept = () => Promise.resolve({ status, headers: {}, body });
  const clock = new VirtualClock();
  await expect(call(createClient({ transport: api.transport, clock, random: () => 0, metrics }))).rejects.toThrow(
    message,
  );
  const requests = samplesOf(await metrics.text()).filter(({ name }) => name === 'clusterwright_api_requests_total');
  expect(requests.map(({ labels }) => labels.code)).toEqual([String(status)]);
  expect(requests.filter(({ labels }) => selectorOf('OperatorRefused')(labels)).length).toBe(counts ? 1 : 0);
});
