/** Mistakes that the author of an engine may make, one at a time, and what the conformance suite says of each. */
import type { Cluster } from '../../src/api/cluster.ts';
import type { KubeObject } from '../../src/api/object.ts';
import { pods as podResource } from '../../src/api/resource.ts';
import type { PolicyRule, StatusReport } from '../../src/engine/engine.ts';
import type { Plan } from '../../src/plan/plan.ts';
import { type Fields, fieldsIn } from '../../src/testing/fields.ts';
import type { EngineSample } from '../../src/testing/sample.ts';
import { password, type Toy, type ToySpec, toy, toyCluster, toyKind } from './toy-engine.ts';

export interface Mistake {
  readonly story: string;
  readonly engine?: Partial<Toy>;
  readonly sample?: Partial<EngineSample>;
  readonly isWithoutSample?: boolean;
  /** Name of each check that fails, to words of its message. */
  readonly found: Readonly<Record<string, string>>;
}

const rules = {
  samples: 'there are samples, and each is a valid cluster of the kind with a UID',
  empty: 'an empty spec is valid',
  shape: 'the schema requires spec, without a default, and has a status',
  backups: 'the kind offers no backup that cannot be taken',
  storage: 'a kind with spec.storage has storageRules',
  watched: 'managed resources are of kinds that the operator watches, Secrets are generated',
  verbs: 'permissions have every verb that the managed resources and the kind need',
  needless: 'permissions name only managed resources, pods, and claims if there are any',
  ports: 'the ports that the operator may connect to are container ports',
  same: 'managed resources depend only on the name, the UID and the spec of the cluster',
  names: 'each managed resource has a name of its own',
  labels: 'managed resources have the common labels and the namespace of the cluster',
  owners: 'managed resources are owned by the cluster, Secrets that are generated are not',
  selectors: 'selectors have only fixed labels, and select pods of this cluster',
  security: 'pods satisfy the restricted Pod Security Standard',
  defaults: 'what the API server adds to a managed resource is no difference',
  sets: 'StatefulSets have names by which their pods and volumes are found',
  onDelete: 'StatefulSets restart no pod by themselves',
  claims: 'claims have the name, the labels and the form of size by which they are found and grow',
  offline: 'offline, the plan creates every managed resource and does nothing else',
  settled: 'when all is well, nothing is planned and the cluster is Ready',
  status: 'the status does not contradict itself, and has what the kind promises',
  secrets: 'no secret is in managed resources, plan or status',
  dialled: 'it connects only to ports that the engine lists',
  silence: 'when nobody answers, the cluster is not Ready and nothing is deleted',
} as const;

/** The resources of the toy, with each object of a kind changed. */
function changed(kind: string, change: (object: KubeObject, cluster: Cluster<ToySpec>) => Fields): Partial<Toy> {
  return {
    resources: (cluster) =>
      toy.resources(cluster).map((desired) => {
        const { object } = desired;
        return object.kind === kind
          ? { ...desired, object: { ...object, ...change(object, cluster) } as KubeObject }
          : desired;
      }),
  };
}

const metadataOf = (kind: string, change: (metadata: KubeObject['metadata']) => Fields): Partial<Toy> =>
  changed(kind, ({ metadata }) => ({ metadata: { ...metadata, ...change(metadata) } }));

const labelled = (change: Fields): Partial<Toy> =>
  metadataOf('Service', ({ labels }) => ({ labels: { ...labels, ...change } }));

const specOf = (kind: string, change: (spec: Fields) => Fields): Partial<Toy> =>
  changed(kind, ({ spec }) => ({ spec: { ...fieldsIn(spec), ...change(fieldsIn(spec)) } }));

const selecting = (change: Fields): Partial<Toy> =>
  specOf('Service', ({ selector }) => ({ selector: { ...fieldsIn(selector), ...change } }));

const podSpecOf = (change: Fields): Partial<Toy> =>
  specOf('StatefulSet', ({ template }) => {
    const { metadata, spec } = fieldsIn(template);
    return { template: { metadata, spec: { ...fieldsIn(spec), ...change } } };
  });

const claimOf = (change: (template: Fields) => Fields): Partial<Toy> =>
  specOf('StatefulSet', ({ volumeClaimTemplates }) => ({
    volumeClaimTemplates: (volumeClaimTemplates as readonly Fields[]).map((each) => ({ ...each, ...change(each) })),
  }));

/** A managed resource beside those of the toy, with the metadata of its Service. */
const withObject = (change: Fields): Partial<Toy> => ({
  resources: (cluster) => {
    const desired = toy.resources(cluster);
    const metadata = { ...desired[0]?.object.metadata, name: 'toy-more' };
    return [...desired, { object: { apiVersion: 'v1', metadata, ...change } as KubeObject }];
  },
});

const permitted = (change: (rule: PolicyRule) => PolicyRule): Partial<Toy> => ({
  permissions: toy.permissions.map(change),
});

const withoutVerb = (plural: string, verb: string): Partial<Toy> =>
  permitted((rule) =>
    rule.resources.includes(plural) ? { ...rule, verbs: rule.verbs.filter((each) => each !== verb) } : rule,
  );

const alsoPermitted = (plural: string, verb: string): Partial<Toy> => ({
  permissions: [...toy.permissions, { apiGroups: [''], resources: [plural], verbs: [verb] }],
});

const schemaOf = (change: Fields): Partial<Toy> => ({
  definition: { ...toy.definition, kind: { ...toyKind, schema: { ...toyKind.schema, ...change } } },
});

const { properties: parts = {} } = toyKind.schema;

const specSchemaOf = (change: Fields): Partial<Toy> =>
  schemaOf({ properties: { ...parts, spec: { ...parts.spec, ...change } } });

const withField = (name: string, schema: Fields): Partial<Toy> =>
  specSchemaOf({ properties: { ...parts.spec?.properties, [name]: schema } });

const text = { type: 'string', description: 'A text.' };

const planning = (change: (plan: Plan, situation: Parameters<Toy['plan']>[0]) => Plan): Partial<Toy> => ({
  plan: (situation, take) => change(toy.plan(situation, take), situation),
});

const reporting = (change: (report: StatusReport) => StatusReport): Partial<Toy> => ({
  status: (situation, plan) => change(toy.status(situation, plan)),
});

let calls = 0;

export const mistakes: readonly Mistake[] = [
  { story: 'no sample', isWithoutSample: true, found: { [rules.samples]: 'there is no sample' } },
  {
    story: 'a sample with a field that the kind does not have',
    sample: { cluster: { ...toyCluster(), spec: { ...toyCluster().spec, colour: 'red' } } },
    found: { [rules.samples]: 'defaults: spec.colour: unknown field' },
  },
  {
    story: 'a field that must be written',
    engine: specSchemaOf({ required: ['toys'], properties: { ...parts.spec?.properties, toys: text } }),
    found: { [rules.samples]: 'spec.toys', [rules.empty]: 'spec.toys' },
  },
  { story: 'spec may be left out', engine: schemaOf({ required: [] }), found: { [rules.shape]: 'not contain spec' } },
  {
    story: 'spec has a default',
    engine: specSchemaOf({ default: {} }),
    found: { [rules.shape]: 'spec has a default' },
  },
  {
    story: 'a last backup of an engine without backups',
    engine: withField('deletionPolicy', { ...text, enum: ['Retain', 'Snapshot', 'Delete'] }),
    found: { [rules.backups]: 'spec.deletionPolicy has the value Snapshot' },
  },
  ...['bootstrap', 'backup'].map((field) => ({
    story: `spec.${field} of an engine without backups`,
    engine: withField(field, text),
    found: { [rules.backups]: `there is spec.${field}` },
  })),
  {
    story: 'storage may shrink',
    engine: schemaOf({ 'x-kubernetes-validations': [] }),
    found: { [rules.storage]: 'does not contain storageRules' },
  },
  {
    story: 'a Deployment',
    engine: withObject({ kind: 'Deployment', apiVersion: 'apps/v1' }),
    found: { [rules.watched]: 'the operator does not watch apps/v1 Deployment toy-more' },
  },
  {
    story: 'a Secret with values',
    engine: withObject({ kind: 'Secret', stringData: { password } }),
    found: {
      [rules.watched]: 'Secret toy-more is not generated',
      [rules.defaults]: 'Secret toy-more would be applied again and again: stringData',
      [rules.settled]: 'it plans: apply Secret toy-more',
      [rules.secrets]: 'a secret is in: resources',
    },
  },
  ...['get', 'list', 'watch', 'create', 'patch'].map((verb) => ({
    story: `no right to ${verb} Services`,
    engine: withoutVerb('services', verb),
    found: { [rules.verbs]: `no ${verb} on services (\`resources\` returns them)` },
  })),
  {
    story: 'pods cannot be stopped',
    engine: withoutVerb('pods', 'delete'),
    found: { [rules.verbs]: 'no delete on pods (StatefulSets have them)' },
  },
  {
    story: 'volumes cannot grow',
    engine: withoutVerb('persistentvolumeclaims', 'patch'),
    found: { [rules.verbs]: 'no patch on persistentvolumeclaims (volumes grow)' },
  },
  ...['statefulsets', 'persistentvolumeclaims', 'secrets'].map((plural) => ({
    story: `a deletion cannot delete ${plural}`,
    engine: withoutVerb(plural, 'delete'),
    found: { [rules.verbs]: `no delete on ${plural} (deletionPolicy)` },
  })),
  {
    story: 'rights in another group',
    engine: permitted((rule) => (rule.apiGroups.includes('apps') ? { ...rule, apiGroups: [''] } : rule)),
    found: { [rules.verbs]: 'no create on statefulsets', [rules.needless]: 'statefulsets of the group ""' },
  },
  {
    story: 'Secrets may be listed',
    engine: alsoPermitted('secrets', 'list'),
    found: { [rules.needless]: 'list on secrets' },
  },
  { story: 'every verb', engine: alsoPermitted('pods', '*'), found: { [rules.needless]: 'every verb on pods' } },
  {
    story: 'rights on what it does not have',
    engine: alsoPermitted('pods/exec', 'create'),
    found: { [rules.needless]: 'pods/exec of the group "" are in no sample' },
  },
  {
    story: 'a port that no container has',
    engine: { ports: [7000, 7001] },
    found: { [rules.ports]: 'no container has the port 7001' },
  },
  {
    story: 'resources that differ from call to call',
    engine: metadataOf('Service', () => ({ annotations: { call: String(calls++) } })),
    found: { [rules.same]: 'two calls of `resources`', [rules.settled]: 'it plans: apply Service toy' },
  },
  {
    story: 'labels of the cluster in a managed resource',
    engine: changed('Service', ({ metadata }, cluster) => ({
      metadata: { ...metadata, annotations: { ...cluster.metadata.labels } },
    })),
    found: { [rules.same]: 'labels or annotations of the cluster change' },
  },
  {
    story: 'two of one name',
    engine: { resources: (cluster) => [...toy.resources(cluster), ...toy.resources(cluster).slice(0, 1)] },
    found: { [rules.names]: 'Service toy is there twice' },
  },
  {
    story: 'the name of another engine in a label',
    engine: labelled({ 'app.kubernetes.io/name': 'game' }),
    found: { [rules.labels]: 'Service toy has the label app.kubernetes.io/name: game instead of toy' },
  },
  {
    story: 'no version in the labels',
    engine: labelled({ 'app.kubernetes.io/version': undefined }),
    found: { [rules.labels]: 'Service toy has no label app.kubernetes.io/version' },
  },
  {
    story: 'the component of Jobs',
    engine: labelled({ 'app.kubernetes.io/component': 'agent' }),
    found: { [rules.labels]: 'Service toy has the component agent' },
  },
  {
    story: 'another namespace',
    engine: metadataOf('Service', () => ({ namespace: 'elsewhere' })),
    found: { [rules.labels]: 'Service toy is not in the namespace' },
  },
  {
    story: 'no owner',
    engine: metadataOf('Service', () => ({ ownerReferences: undefined })),
    found: { [rules.owners]: 'Service toy is not owned by the cluster' },
  },
  {
    story: 'a password that goes with the cluster',
    engine: metadataOf('Secret', () => ({
      ownerReferences: toy.resources(toyCluster())[0]?.object.metadata.ownerReferences,
    })),
    found: { [rules.owners]: 'Secret toy-auth has an owner' },
  },
  {
    story: 'a Service that leads to other clusters',
    engine: selecting({ 'app.kubernetes.io/instance': undefined }),
    found: { [rules.selectors]: 'Service toy selects pods of other clusters' },
  },
  {
    story: 'a Service that leads nowhere',
    engine: selecting({ 'app.kubernetes.io/component': 'other' }),
    found: { [rules.selectors]: 'Service toy selects none of the pods' },
  },
  {
    story: 'a Service that loses pods at an upgrade',
    engine: selecting({ 'app.kubernetes.io/version': '1.0' }),
    found: { [rules.selectors]: 'Service toy selects by app.kubernetes.io/version, which may change' },
  },
  {
    story: 'a StatefulSet that does not select its pods',
    engine: specOf('StatefulSet', ({ selector }) => ({
      selector: { matchLabels: { ...fieldsIn(fieldsIn(selector).matchLabels), 'clusterwright.dev/part': 'x' } },
    })),
    found: { [rules.selectors]: 'StatefulSet toy does not select its own pods' },
  },
  {
    story: 'pods that run as root',
    engine: podSpecOf({ securityContext: { runAsUser: 0, seccompProfile: { type: 'RuntimeDefault' } } }),
    found: { [rules.security]: 'StatefulSet toy: container toy may run as root' },
  },
  {
    story: 'a null, which the API server drops',
    engine: podSpecOf({ nodeSelector: null }),
    found: {
      [rules.defaults]: 'spec.template.spec.nodeSelector is undefined and should be null',
      [rules.settled]: 'it plans: apply StatefulSet toy',
    },
  },
  {
    story: 'a StatefulSet with volumes and a name of its own',
    engine: metadataOf('StatefulSet', () => ({ name: 'toy-data' })),
    found: {
      [rules.sets]: 'StatefulSet toy-data has volumes, and is not called CLUSTER or CLUSTER-NUMBER',
      [rules.claims]: 'claims of StatefulSet toy-data do not have the label clusterwright.dev/member: toy-data',
    },
  },
  {
    story: 'pods that restart by themselves',
    engine: specOf('StatefulSet', () => ({ updateStrategy: { type: 'RollingUpdate' } })),
    found: { [rules.onDelete]: 'StatefulSet toy does not have the update strategy OnDelete' },
  },
  {
    story: 'a claim template of another name',
    engine: claimOf(({ metadata }) => ({ metadata: { ...fieldsIn(metadata), name: 'disk' } })),
    found: { [rules.claims]: 'the claim template of StatefulSet toy is called disk instead of data' },
  },
  {
    story: 'claims without labels',
    engine: claimOf(() => ({ metadata: { name: 'data' } })),
    found: { [rules.claims]: 'claims of StatefulSet toy do not have the label app.kubernetes.io/instance: toy' },
  },
  {
    story: 'a size as people write it',
    engine: claimOf(({ spec }) => ({ spec: { ...fieldsIn(spec), resources: { requests: { storage: '1024Mi' } } } })),
    found: { [rules.claims]: 'claims of StatefulSet toy ask for 1024Mi; write it as 1Gi' },
  },
  {
    story: 'a plan that leaves one out',
    engine: planning((plan) => ({ ...plan, steps: plan.steps.slice(1) })),
    found: { [rules.offline]: 'Service toy is not created' },
  },
  {
    story: 'an action on nothing',
    engine: planning((plan, { children }) => ({
      ...plan,
      steps:
        children.pods.length > 0
          ? plan.steps
          : [{ type: 'act', action: { type: 'toy.wind' }, summary: 'wind it' }, ...plan.steps],
    })),
    found: { [rules.offline]: 'it plans: act wind it' },
  },
  {
    story: 'a plan that never ends',
    engine: planning((plan) => ({ ...plan, outcome: { state: 'wait', reason: 'Winding', message: 'it is wound up' } })),
    found: { [rules.settled]: 'the outcome is wait Winding: it is wound up\n- the condition Ready is False' },
  },
  {
    story: 'a phase that the conditions deny',
    engine: reporting((report) => ({ ...report, phase: 'Degraded' })),
    found: { [rules.status]: 'phase Degraded and Ready True', [rules.silence]: 'phase Degraded and Degraded False' },
  },
  {
    story: 'a size that nobody can read',
    engine: reporting(({ replicas: _, ...report }) => report),
    found: { [rules.status]: 'no `replicas`' },
  },
  {
    story: 'a selector for nobody',
    engine: reporting((report) => ({ ...report, selector: 'app=toy' })),
    found: { [rules.status]: '`selector` of the status selects no pod' },
  },
  {
    story: 'a password in the status',
    engine: reporting((report) => ({ ...report, members: [{ name: `toy:${password}`, role: 'toy', ready: true }] })),
    found: { [rules.secrets]: 'a secret is in: status' },
  },
  {
    story: 'another port than the operator may connect to',
    engine: {
      observe: async (cluster, children, io) => {
        await io.dial('10.0.0.1', 7001, io.signal).catch(() => undefined);
        return toy.observe(cluster, children, io);
      },
    },
    found: { [rules.dialled]: 'it connects to 7001' },
  },
  {
    story: 'readiness that is only believed',
    engine: { observe: async (_, { pods }) => pods.map(({ metadata }) => metadata.name) },
    found: { [rules.silence]: 'the condition Ready is True' },
  },
  {
    story: 'silence that is taken for death',
    engine: planning((plan, { children: { pods }, answering }) => {
      const [silent] = pods.filter(({ metadata }) => !answering.includes(metadata.name));
      if (silent === undefined) return plan;
      const { name, uid = '' } = silent.metadata;
      const ref = { resource: podResource, name, uid };
      return { ...plan, steps: [{ type: 'delete', ref, reason: 'it does not answer' }] };
    }),
    found: { [rules.silence]: 'it plans: delete Pod toy-' },
  },
];
