import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { Operator, type OperatorProps } from '../../src/constructs/operator.ts';
import type { PolicyRule } from '../../src/engine/engine.ts';
import { etcd } from '../../src/engines/etcd/index.ts';
import { redis } from '../../src/engines/redis/index.ts';
import { defineEngine } from '../../src/jobs/handlers.ts';
import { handlers as engines } from '../support/handlers.ts';
import { findObject, manifestsOf } from './manifests.ts';

const operator = (props?: OperatorProps): KubeObject[] =>
  manifestsOf((chart) => void new Operator(chart, 'operator', props));
const everywhere = { all: true } as const;

const rulesOf = (object: KubeObject): readonly PolicyRule[] => object.rules as readonly PolicyRule[];
const idsOf = (objects: readonly KubeObject[]): string[] =>
  objects.map(({ kind, metadata }) => [kind, metadata.namespace, metadata.name].filter(Boolean).join(' '));

/** One line a rule: `group/resource,…: verbs [names]`. */
function rightsOf(object: KubeObject): string[] {
  return rulesOf(object).map(({ apiGroups, resources, verbs, resourceNames }) =>
    [`${apiGroups.join()}/${resources.join()}: ${verbs.join(' ')}`, ...(resourceNames ?? []).map((n) => `[${n}]`)].join(
      ' ',
    ),
  );
}

describe('the rights of the operator', () => {
  test('in all namespaces', () => {
    const objects = operator({ watch: everywhere });
    expect(rightsOf(findObject(objects, 'ClusterRole', 'clusterwright'))).toMatchInlineSnapshot(`
      [
        "/configmaps,persistentvolumeclaims,pods,services: get list watch create patch delete",
        "/pods/resize: patch",
        "/secrets: get create patch delete",
        "/serviceaccounts: get list watch create patch",
        "apps/controllerrevisions: get",
        "apps/statefulsets: get list watch create patch delete",
        "batch/cronjobs: get list watch create patch",
        "batch/jobs: get list watch create patch delete",
        "cert-manager.io/certificates: get list watch create patch delete",
        "clusterwright.dev/backups,backupschedules,etcdclusters,postgresclusters,postgresdatabases,postgresusers,redisclusters: get list watch patch",
        "clusterwright.dev/backups/finalizers,backupschedules/finalizers,etcdclusters/finalizers,postgresclusters/finalizers,postgresdatabases/finalizers,postgresusers/finalizers,redisclusters/finalizers: update",
        "clusterwright.dev/backups/status,backupschedules/status,etcdclusters/status,postgresclusters/status,postgresdatabases/status,postgresusers/status,redisclusters/status: patch",
        "events.k8s.io/events: create patch",
        "networking.k8s.io/networkpolicies: get list watch create patch delete",
        "policy/poddisruptionbudgets: get list watch create patch delete",
        "rbac.authorization.k8s.io/rolebindings,roles: get list watch create patch",
      ]
    `);
    expect(rightsOf(findObject(objects, 'Role', 'clusterwright-leader'))).toMatchInlineSnapshot(`
      [
        "coordination.k8s.io/leases: get update [clusterwright]",
        "coordination.k8s.io/leases: create",
      ]
    `);
  });

  test('are in the API group of each kind, and so are those of people', () => {
    const ours = defineEngine(redis).handler('agent:1');
    const resource = { ...ours.kind.resource, group: 'caches.example.com' };
    const theirs = { ...redis, handler: () => ({ ...ours, kind: { ...ours.kind, resource } }) };
    const objects = operator({ engines: [defineEngine(etcd), theirs], watch: everywhere });
    const rights = (name: string): string[] =>
      rightsOf(findObject(objects, 'ClusterRole', name)).filter((line) => line.includes('redisclusters'));
    expect(rights('clusterwright')).toEqual([
      'caches.example.com/redisclusters: get list watch patch',
      'caches.example.com/redisclusters/finalizers: update',
      'caches.example.com/redisclusters/status: patch',
    ]);
    expect(rights('clusterwright-view')).toEqual([
      'caches.example.com/redisclusters: get list watch',
      'caches.example.com/redisclusters/scale,redisclusters/status: get',
    ]);
    expect(rights('clusterwright-edit')).toEqual([
      'caches.example.com/redisclusters: create update patch delete deletecollection',
      'caches.example.com/redisclusters/scale: update patch',
    ]);
  });

  const everyRule = operator().flatMap((object) => (object.rules === undefined ? [] : rulesOf(object)));
  const secretVerbs = everyRule.flatMap((rule) => (rule.resources.includes('secrets') ? rule.verbs : []));

  test('hold no wildcard', () => {
    expect(everyRule.length).toBeGreaterThan(5);
    expect(JSON.stringify(everyRule)).not.toContain('*');
  });

  test('reach into no pod', () => {
    const resources = everyRule.flatMap((rule) => rule.resources);
    for (const way of ['exec', 'attach', 'portforward', 'ephemeralcontainers', 'proxy', 'token']) {
      expect(resources.filter((resource) => resource.endsWith(`/${way}`))).toEqual([]);
    }
  });

  test('see no list of Secrets', () => {
    expect(secretVerbs).toContain('get');
    expect(secretVerbs).not.toContain('list');
    expect(secretVerbs).not.toContain('watch');
  });

  test('write no nodes, webhooks or custom resource definitions', () => {
    const groups = new Set(everyRule.flatMap((rule) => rule.apiGroups));
    for (const group of ['admissionregistration.k8s.io', 'apiextensions.k8s.io']) expect(groups).not.toContain(group);
    const core = everyRule.filter((rule) => rule.apiGroups.includes('')).flatMap((rule) => rule.resources);
    expect(core).not.toContain('nodes');
  });

  const granting = ['serviceaccounts', 'roles', 'rolebindings'];
  const verbsOfGranting = (objects: readonly KubeObject[]): string[] =>
    objects.flatMap((object) =>
      rightsOf({ ...object, rules: rulesOf({ rules: [], ...object }) }).filter((line) =>
        granting.some((name) => line.split(':')[0]?.includes(name)),
      ),
    );

  test('write Roles and ServiceAccounts for PostgreSQL, without `bind`, `escalate` and `delete`', () => {
    expect(verbsOfGranting(operator())).toEqual([
      '/serviceaccounts: get list watch create patch',
      'rbac.authorization.k8s.io/rolebindings,roles: get list watch create patch',
    ]);
  });

  test('write neither where the operator serves no engine that asks for it', () => {
    expect(verbsOfGranting(operator({ engines: [defineEngine(redis), defineEngine(etcd)] }))).toEqual([
      '/serviceaccounts: get list watch',
      'rbac.authorization.k8s.io/rolebindings,roles: get list watch',
    ]);
  });

  test('cover what each engine declares', () => {
    const rights = new Set(
      everyRule.flatMap((rule) =>
        rule.resources.flatMap((resource) => rule.verbs.map((verb) => `${rule.apiGroups[0]}/${resource} ${verb}`)),
      ),
    );
    for (const { permissions } of engines) {
      for (const { apiGroups, resources, verbs } of permissions) {
        for (const resource of resources)
          for (const verb of verbs) expect(rights).toContain(`${apiGroups[0]}/${resource} ${verb}`);
      }
    }
  });

  test('hold no right to create pods where nobody is to be judged by dry run', () => {
    const verbsOn = (objects: readonly KubeObject[]): readonly string[] =>
      rulesOf(findObject(objects, 'Role', 'clusterwright-watch')).flatMap(({ resources, verbs }) =>
        resources.includes('pods') ? verbs : [],
      );
    expect(verbsOn(operator())).toContain('create');
    expect(verbsOn(operator({ dryRuns: false }))).toEqual(['get', 'list', 'watch', 'patch', 'delete']);
  });

  test.each([
    ['is not told otherwise where it has it', {}, []],
    ['is told where it does not', { dryRuns: false }, [{ name: 'CLUSTERWRIGHT_DRY_RUNS', value: 'false' }]],
  ])('to create pods is used for dry runs, and the controller %s', (_, props, variables) => {
    const [controller] = podOf(operator(props)).containers;
    expect(controller?.env.filter(({ name }) => name.includes('DRY_RUNS'))).toEqual(variables);
  });

  test('go to the account that the pods run under', () => {
    const objects = operator({ namespace: 'ops' });
    const subjects = objects.flatMap((object) => (object.subjects === undefined ? [] : [object.subjects]));
    const account = { apiGroup: '', kind: 'ServiceAccount', name: 'clusterwright', namespace: 'ops' };
    expect(subjects).toEqual(subjects.map(() => [account]));
    expect(podOf(objects).serviceAccountName).toBe('clusterwright');
    expect(findObject(objects, 'ServiceAccount', 'clusterwright').metadata.namespace).toBe('ops');
  });
});

interface Pod {
  readonly serviceAccountName: string;
  readonly securityContext: Readonly<Record<string, unknown>>;
  readonly volumes?: readonly unknown[];
  readonly hostNetwork?: boolean;
  readonly containers: readonly {
    readonly image: string;
    readonly imagePullPolicy: string;
    readonly env: readonly { readonly name: string; readonly value?: string }[];
    readonly ports: readonly Readonly<Record<string, unknown>>[];
    readonly securityContext: Readonly<Record<string, unknown>>;
    readonly resources: { readonly limits: { readonly memory: string }; readonly requests: unknown };
    readonly [field: string]: unknown;
  }[];
}

function podOf(objects: readonly KubeObject[]): Pod {
  const { template } = findObject(objects, 'Deployment', 'clusterwright').spec as {
    readonly template: { readonly spec: Pod };
  };
  return template.spec;
}

describe('the pods of the operator', () => {
  const pod = podOf(operator());
  const [controller] = pod.containers;

  test('meet the restricted Pod Security Standard, on a read-only root', () => {
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
    expect(pod.securityContext.runAsUser).toBeGreaterThan(10_000);
    expect(controller?.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect(pod.volumes).toBeUndefined();
    expect(pod.hostNetwork).toBe(false);
    expect(controller?.ports.some((port) => 'hostPort' in port)).toBe(false);
  });

  test('are probed, bounded, two, and never both evicted at once', () => {
    for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe']) expect(controller).toHaveProperty(probe);
    expect(controller?.resources).toEqual({ requests: { cpu: '50m', memory: '96Mi' }, limits: { memory: '256Mi' } });
    expect(findObject(operator(), 'Deployment', 'clusterwright').spec).toMatchObject({ replicas: 2 });
    expect(findObject(operator(), 'PodDisruptionBudget', 'clusterwright').spec).toMatchObject({
      maxUnavailable: 1,
      unhealthyPodEvictionPolicy: 'AlwaysAllow',
    });
  });

  test('take what they are given', () => {
    const [container] = podOf(operator({ resources: { cpu: '1', memoryLimit: '1Gi' } })).containers;
    expect(container?.resources).toEqual({ requests: { cpu: '1', memory: '96Mi' }, limits: { memory: '1Gi' } });
  });

  test('can be set in ways that docs/install.md has', () => {
    const source = readFileSync('src/constructs/operator.ts', 'utf8');
    const [, fields = ''] = /interface OperatorProps \{(.*?)\n\}/s.exec(source) ?? [];
    const rows = readFileSync('docs/install.md', 'utf8').split('\n');
    const documented = rows.flatMap((row) => /^\| `([a-zA-Z]+)` \|/.exec(row)?.[1] ?? []);
    expect([...fields.matchAll(/readonly (\w+)\?:/g)].map(([, field]) => field)).toEqual(documented);
  });

  test('know which resources to serve', () => {
    const selectorOf = (props: OperatorProps) =>
      podOf(operator(props)).containers[0]?.env.find(({ name }) => name === 'CLUSTERWRIGHT_RESOURCE_SELECTOR')?.value;
    expect([selectorOf({}), selectorOf({ resourceSelector: 'tier=blue' })]).toEqual([undefined, 'tier=blue']);
  });

  test('run their default image from the registry that they are told, and tell the controller', () => {
    const imageRegistry = 'r.example/mirror';
    const registryOf = (props: OperatorProps) =>
      podOf(operator(props)).containers[0]?.env.find(({ name }) => name === 'CLUSTERWRIGHT_IMAGE_REGISTRY')?.value;
    expect(podOf(operator({ imageRegistry })).containers[0]?.image).toBe('r.example/mirror/clusterwright:0.1.0');
    expect(podOf(operator({ imageRegistry, image: 'x/y:1' })).containers[0]?.image).toBe('x/y:1');
    expect([registryOf({ imageRegistry }), registryOf({})]).toEqual([imageRegistry, undefined]);
  });

  test('run the image they are told to', () => {
    const [container] = podOf(operator({ image: 'r.example.com/x@sha256:0', imagePullPolicy: 'Always' })).containers;
    expect(container).toMatchObject({ image: 'r.example.com/x@sha256:0', imagePullPolicy: 'Always' });
  });
});

describe('what a company sets', () => {
  const template = (props: OperatorProps) =>
    (findObject(operator(props), 'Deployment', 'clusterwright').spec as { readonly template: KubeObject }).template;

  test.each<[keyof OperatorProps, unknown]>([
    ['imagePullSecrets', [{ name: 'registry' }]],
    ['nodeSelector', { pool: 'system' }],
    ['tolerations', [{ key: 'dedicated', operator: 'Exists', effect: 'NoSchedule' }]],
    ['priorityClassName', 'system-cluster-critical'],
  ])('%s is in the pods as it is given, and absent without it', (name, value) => {
    expect(podOf(operator({ [name]: value }))).toHaveProperty(name, value);
    expect(podOf(operator())).not.toHaveProperty(name);
  });

  test('labels and annotations are on every object and on the pods', () => {
    const extra = { labels: { team: 'data' }, annotations: { 'example.com/owner': 'data' } };
    const objects = operator(extra);
    expect(objects).toHaveLength(operator().length);
    for (const { metadata } of [...objects, template(extra)]) expect(metadata).toMatchObject(extra);
  });

  test('labels and annotations replace none of ours, and select nothing', () => {
    const extra = {
      labels: { 'app.kubernetes.io/name': 'x', 'rbac.authorization.k8s.io/aggregate-to-view': 'false' },
      annotations: { 'argocd.argoproj.io/sync-wave': '9' },
    };
    const before = operator();
    for (const { kind, metadata } of operator(extra)) {
      const ours = findObject(before, kind, metadata.name).metadata;
      expect(metadata.labels).toMatchObject(ours.labels ?? {});
      expect(metadata.annotations).toMatchObject(ours.annotations ?? {});
    }
    expect(template(extra).metadata.labels).toMatchObject({ 'app.kubernetes.io/name': 'clusterwright' });
    const selectors = (objects: readonly KubeObject[]) =>
      objects.map(({ spec }) => (spec as { readonly selector?: unknown } | undefined)?.selector);
    expect(selectors(operator(extra))).toEqual(selectors(before));
  });

  test('the name of objects without a namespace is that of no other operator', () => {
    const clusterScoped = (objects: readonly KubeObject[]): string[] =>
      idsOf(objects.filter(({ kind, metadata }) => metadata.namespace === undefined && kind !== 'Namespace'));
    const first = clusterScoped(operator({ watch: everywhere }));
    const other = operator({ namespace: 'second', watch: everywhere });
    expect(clusterScoped(other).filter((id) => first.includes(id))).toEqual([]);
    expect(clusterScoped(other)).toHaveLength(first.length);
    expect(findObject(other, 'ClusterRoleBinding', 'clusterwright-second')).toMatchObject({
      roleRef: { name: 'clusterwright-second' },
      subjects: [{ name: 'clusterwright', namespace: 'second' }],
    });
    expect(findObject(other, 'ValidatingAdmissionPolicyBinding', 'clusterwright-second-own-pods').spec).toMatchObject({
      policyName: 'clusterwright-second-own-pods',
    });
  });
});

describe('pods that have rights of their own', () => {
  const policies = (props?: OperatorProps): string[] => idsOf(operator(props)).filter((id) => id.includes('own-pods'));

  test('may not change the spec, the labels, the owners and the finalizers of pods', () => {
    expect(policies()).toEqual([
      'ValidatingAdmissionPolicy clusterwright-own-pods',
      'ValidatingAdmissionPolicyBinding clusterwright-own-pods',
    ]);
    const policy = findObject(operator(), 'ValidatingAdmissionPolicy', 'clusterwright-own-pods');
    expect(policy.spec).toMatchObject({
      failurePolicy: 'Fail',
      validations: [
        { message: 'a pod of a database may not change its spec' },
        { message: 'a pod of a database may not change labels other than clusterwright.dev/role' },
        { message: 'a pod of a database may not change its owner references' },
        { message: 'a pod of a database may not change its finalizers' },
      ],
    });
  });

  test('are there for PostgreSQL alone', () => {
    expect(policies({ engines: [defineEngine(redis), defineEngine(etcd)] })).toEqual([]);
  });
});

test('the kinds with fields of pods have a policy about who sets them', () => {
  const policy = findObject(operator(), 'ValidatingAdmissionPolicy', 'clusterwright-pod-fields');
  expect(policy.spec).toMatchObject({
    failurePolicy: 'Fail',
    matchConstraints: { resourceRules: [{ resources: ['redisclusters', 'etcdclusters', 'postgresclusters'] }] },
  });
  const kinds = engines.filter(({ kind }) => kind.schema.properties?.spec?.properties?.pods !== undefined);
  expect(kinds).toHaveLength(3);
});

describe('the network of the operator', () => {
  test('reaches DNS, the API server and the ports of managed databases, and is open on one port', () => {
    expect(findObject(operator({ apiServerPorts: [8443] }), 'NetworkPolicy', 'clusterwright').spec).toMatchObject({
      policyTypes: ['Egress', 'Ingress'],
      ingress: [{ ports: [{ port: 8080, protocol: 'TCP' }] }],
      egress: [
        {
          ports: [
            { port: 53, protocol: 'UDP' },
            { port: 53, protocol: 'TCP' },
            { port: 8443, protocol: 'TCP' },
          ],
        },
        {
          to: [
            {
              namespaceSelector: {},
              podSelector: { matchLabels: { 'app.kubernetes.io/managed-by': 'clusterwright' } },
            },
          ],
          ports: [
            { port: 2379, protocol: 'TCP' },
            { port: 2381, protocol: 'TCP' },
            { port: 5432, protocol: 'TCP' },
            { port: 6379, protocol: 'TCP' },
            { port: 6380, protocol: 'TCP' },
            { port: 6432, protocol: 'TCP' },
            { port: 8008, protocol: 'TCP' },
            { port: 8010, protocol: 'TCP' },
            { port: 26_379, protocol: 'TCP' },
          ],
        },
      ],
    });
  });
});

describe('the operator as a whole', () => {
  test('brings its namespace, restricted, unless there is one', () => {
    expect(findObject(operator(), 'Namespace', 'clusterwright-system').metadata.labels).toMatchObject({
      'pod-security.kubernetes.io/enforce': 'restricted',
    });
    expect(idsOf(operator({ createNamespace: false })).filter((id) => id.startsWith('Namespace'))).toEqual([]);
  });

  test('extends what people may do, if wanted', () => {
    const objects = operator();
    expect(rightsOf(findObject(objects, 'ClusterRole', 'clusterwright-view'))).toMatchInlineSnapshot(`
      [
        "clusterwright.dev/backups,backupschedules,etcdclusters,postgresclusters,postgresdatabases,postgresusers,redisclusters: get list watch",
        "clusterwright.dev/backups/status,backupschedules/status,etcdclusters/scale,etcdclusters/status,postgresclusters/scale,postgresclusters/status,postgresdatabases/status,postgresusers/status,redisclusters/scale,redisclusters/status: get",
      ]
    `);
    expect(rightsOf(findObject(objects, 'ClusterRole', 'clusterwright-edit'))).toMatchInlineSnapshot(`
      [
        "clusterwright.dev/backups,backupschedules,etcdclusters,postgresclusters,postgresdatabases,postgresusers,redisclusters: create update patch delete deletecollection",
        "clusterwright.dev/etcdclusters/scale,postgresclusters/scale,redisclusters/scale: update patch",
      ]
    `);
    expect(idsOf(operator({ extendUserRoles: false })).filter((id) => /-(view|edit)$/.test(id))).toEqual([]);
  });

  test.each<[OperatorProps, string]>([
    [{ replicas: 0 }, 'replicas'],
    [{ replicas: 1.5 }, 'replicas'],
    [{ clusterScopedName: 'A b' }, 'clusterScopedName'],
    [{ imageRegistry: 'mirror/' }, 'imageRegistry'],
    [{ resourceSelector: 'tier=a b' }, 'resourceSelector'],
    [{ labels: { 'app.kubernetes.io/managed-by': 'clusterwright' } }, 'managed-by'],
  ])('is refused at synth with %j', (props, fault) => {
    expect(() => operator(props)).toThrow(fault);
  });
});
