/** Mistakes that the author of an engine may make in its kind, permissions and managed resources, one at a time. */
import { type Fields, fieldsIn } from '../../src/testing/fields.ts';
import {
  alsoPermitted,
  changed,
  claimOf,
  labelled,
  metadataOf,
  parts,
  permitted,
  podSpecOf,
  schemaOf,
  selecting,
  specOf,
  specSchemaOf,
  text,
  withField,
  withObject,
  withoutClaims,
  withoutVerb,
} from './changed-toy.ts';
import { type Mistake, rules } from './mistake.ts';
import { password, toy, toyCluster } from './toy-engine.ts';

let calls = 0;

export const mistakesInResources: readonly Mistake[] = [
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
  {
    story: 'a sample without a UID',
    sample: { cluster: { ...toyCluster(), metadata: { name: 'toy', namespace: 'nursery' } } },
    found: {
      [rules.samples]: 'defaults: metadata.uid is missing',
      [rules.owners]: 'StatefulSet toy is not owned by the cluster',
      [rules.settled]: 'it plans: apply StatefulSet toy',
    },
  },
  {
    story: 'no status',
    engine: schemaOf({ properties: { metadata: parts.metadata, spec: parts.spec } }),
    found: { [rules.shape]: 'the schema has no spec or no status' },
  },
  {
    story: 'a status without its default',
    engine: schemaOf({ properties: { ...parts, status: { ...parts.status, default: {} } } }),
    found: { [rules.unmarked]: 'status has no default {"observedGeneration":-1}' },
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
    engine: schemaOf({ 'x-kubernetes-validations': [{ rule: 'self.spec.replicas > 0', message: 'there is a pod' }] }),
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
  ...['get', 'create'].map((verb) => ({
    story: `no right to ${verb} Secrets`,
    engine: withoutVerb('secrets', verb),
    found: { [rules.verbs]: `no ${verb} on secrets (\`resources\` returns them)` },
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
    story: 'the owner is another cluster',
    engine: metadataOf('Service', ({ ownerReferences = [] }) => ({
      ownerReferences: ownerReferences.map((owner) => ({ ...owner, uid: 'uid-other' })),
    })),
    found: { [rules.owners]: 'Service toy is not owned by the cluster' },
  },
  {
    story: 'an owner that is not the controller',
    engine: metadataOf('Service', ({ ownerReferences = [] }) => ({
      ownerReferences: ownerReferences.map(({ controller: _, ...owner }) => owner),
    })),
    found: { [rules.owners]: 'Service toy is not owned by the cluster alone, as its controller' },
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
    story: 'a Service that selects by a label of somebody else',
    engine: selecting({ 'example.com/tier': 'cache' }),
    found: { [rules.selectors]: 'Service toy selects by example.com/tier, which may change' },
  },
  {
    story: 'a StatefulSet of one member with two pods',
    engine: metadataOf('StatefulSet', () => ({ name: 'toy-0' })),
    found: {
      [rules.sets]: 'StatefulSet toy-0 is of one member by its name, and has more than one pod',
      [rules.claims]: 'claims of StatefulSet toy-0 do not have the label clusterwright.dev/member: toy-0',
      [rules.settled]: 'not every pod answers',
    },
  },
  {
    story: 'no pods',
    engine: { resources: (cluster) => toy.resources(cluster).filter(({ object }) => object.kind !== 'StatefulSet') },
    found: {
      [rules.needless]: 'pods of the group "" are in no sample',
      [rules.ports]: 'no container has the port 7000',
      [rules.selectors]: 'Service toy selects none of the pods',
      [rules.security]: 'there is no StatefulSet',
      [rules.settled]: 'not every pod answers',
      [rules.status]: 'selects no pod',
    },
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
    story: 'rights on claims that it does not have',
    engine: withoutClaims,
    found: { [rules.needless]: 'persistentvolumeclaims of the group "" are in no sample' },
  },
  {
    story: 'a StatefulSet without volumes and with a name that is no word',
    engine: changed('StatefulSet', ({ metadata, spec }) => ({
      metadata: { ...metadata, name: 'toy-v2' },
      spec: { ...fieldsIn(spec), volumeClaimTemplates: undefined },
    })),
    found: {
      [rules.needless]: 'persistentvolumeclaims of the group "" are in no sample',
      [rules.sets]: 'StatefulSet toy-v2 is not called CLUSTER, CLUSTER-WORD or CLUSTER-WORD-N',
      [rules.selectors]: 'Service toy selects none of the pods',
      [rules.settled]: 'not every pod answers',
      [rules.status]: '`selector` of the status selects no pod',
    },
  },
  {
    story: 'three volumes in a pod',
    engine: specOf('StatefulSet', ({ volumeClaimTemplates }) => ({
      volumeClaimTemplates: [
        ...(volumeClaimTemplates as readonly Fields[]),
        { metadata: { name: 'wal' } },
        { metadata: { name: 'log' } },
      ],
    })),
    found: { [rules.claims]: 'StatefulSet toy has more than two claim templates' },
  },
  {
    story: 'a claim template of another name',
    engine: claimOf(({ metadata }) => ({ metadata: { ...fieldsIn(metadata), name: 'disk' } })),
    found: { [rules.claims]: 'a claim template of StatefulSet toy is called disk instead of data' },
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
];
