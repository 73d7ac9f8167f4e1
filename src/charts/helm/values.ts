/** The values of the chart, once: `values.yaml`, its schema and the table of the README are made from them. */
import { imageRegistryPattern } from '../../api/image.ts';
import { labelSelectorMaxLength, labelSelectorPattern } from '../../api/label-selector.ts';
import { defaultRollouts, mostRollouts } from '../../api/rollout-limit.ts';
import { defaultApiServerPorts } from '../../constructs/operator.ts';
import { defaultResources } from '../../constructs/operator-deployment.ts';
import { operatorImage } from '../../constructs/operator-identity.ts';

export interface ChartValue {
  readonly path: readonly string[];
  readonly default: unknown;
  /** For readers. */
  readonly type: string;
  readonly schema: object;
  readonly description: string;
}

const text = { type: 'string' } as const;
const filled = { ...text, minLength: 1 } as const;
const flag = { type: 'boolean' } as const;
/** `--set resources.requests.cpu=1` is a number. */
const quantity = { type: ['string', 'number'], pattern: '^[0-9]+(\\.[0-9]+)?(m|k|Ki|M|Mi|G|Gi)?$' } as const;
const dnsLabel = { ...text, pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$', maxLength: 63 } as const;
const map = { type: 'object', additionalProperties: text } as const;
const labels = { ...map, properties: { 'app.kubernetes.io/managed-by': false } } as const;

const named = (names: readonly string[]) => ({
  type: 'object',
  additionalProperties: false,
  required: names,
  properties: Object.fromEntries(names.map((name) => [name, filled])),
});

const toleration = {
  type: 'object',
  additionalProperties: false,
  properties: {
    key: text,
    operator: { enum: ['Equal', 'Exists'] },
    value: text,
    effect: { enum: ['NoSchedule', 'PreferNoSchedule', 'NoExecute'] },
    tolerationSeconds: { type: 'integer' },
  },
} as const;

const list = (items: object) => ({ type: 'array', items });

const [repository] = operatorImage.split(':');

type Row = readonly [path: string, type: string, schema: object, fallback: unknown, description: string];

const rows: readonly Row[] = [
  [
    'imageRegistry',
    'string',
    { ...text, pattern: `${imageRegistryPattern}|^$`, maxLength: 200 },
    '',
    'Registry, with a path where it has one, of the image of the operator, if `image.repository` has its default, and of the images of databases, unless `spec.image` names one. Another one restarts the pods of databases. When empty, the registry that each image is released at.',
  ],
  [
    'image.repository',
    'string',
    filled,
    repository,
    'Repository of the image of the operator, with its registry. The image is not published: build it and push it to your registry. The Jobs of backups run the same image in the namespaces of the databases.',
  ],
  ['image.tag', 'string', text, '', 'Tag of the image. When empty, the appVersion of the chart.'],
  [
    'image.digest',
    'string',
    { ...text, pattern: '^(sha256:[a-f0-9]{64})?$' },
    '',
    'Digest of the image, such as `sha256:…`. When set, the tag is not used.',
  ],
  [
    'image.pullPolicy',
    'string',
    { enum: ['Always', 'IfNotPresent', 'Never'] },
    'IfNotPresent',
    'Pull policy of the pods of the operator.',
  ],
  [
    'imagePullSecrets',
    'list',
    list(named(['name'])),
    [],
    'Secrets in the namespace of the release, as in a pod spec: `[{ name: registry }]`. Only the pods of the operator use them. The Jobs of backups, in the namespaces of the databases, do not.',
  ],
  [
    'replicas',
    'integer',
    { type: 'integer', minimum: 1 },
    2,
    'Pods of the operator. One is the leader, the others are standbys.',
  ],
  [
    'watch.all',
    'boolean',
    flag,
    false,
    'Watch all namespaces. The operator then has its permissions in the whole Kubernetes cluster, by a ClusterRole.',
  ],
  [
    'watch.namespaces',
    'list of strings',
    { ...list(dnsLabel), uniqueItems: true },
    [],
    'Namespaces that the operator watches, with a Role in each. They must exist. When empty, the namespace of the release.',
  ],
  [
    'resourceSelector',
    'string',
    { ...text, pattern: `${labelSelectorPattern}|^$`, maxLength: labelSelectorMaxLength },
    '',
    'Label selector of the resources that the operator serves, such as `tier=blue`. It leaves others alone. No two operators may select the same resource. When empty, all resources.',
  ],
  [
    'extendUserRoles',
    'boolean',
    flag,
    true,
    'Add the kinds of clusterwright to the Kubernetes roles `view`, `edit` and `admin`. Creates two ClusterRoles.',
  ],
  [
    'maxConcurrentRollouts',
    'integer',
    { type: 'integer', minimum: 1, maximum: mostRollouts },
    defaultRollouts,
    'How many clusters may restart pods for changes at the same time. The others wait for their turn.',
  ],
  [
    'dryRuns',
    'boolean',
    flag,
    true,
    'Let the operator create pods, so that it can validate pods of new templates by a dry run.',
  ],
  [
    'apiServerPorts',
    'list of integers',
    list({ type: 'integer', minimum: 1, maximum: 65_535 }),
    defaultApiServerPorts,
    'Ports to the API server that the NetworkPolicy allows.',
  ],
  ['logLevel', 'string', { enum: ['debug', 'info', 'warn', 'error'] }, 'info', 'Minimum level of the log.'],
  [
    'resources.requests.cpu',
    'string',
    quantity,
    defaultResources.cpu,
    'CPU request of each pod of the operator. There is no CPU limit: a throttled operator can lose its lease.',
  ],
  [
    'resources.requests.memory',
    'string',
    quantity,
    defaultResources.memory,
    'Memory request of each pod of the operator.',
  ],
  [
    'resources.limits.memory',
    'string',
    quantity,
    defaultResources.memoryLimit,
    'Memory limit of each pod of the operator.',
  ],
  ['nodeSelector', 'map', map, {}, 'Labels that the nodes of the operator must have.'],
  ['tolerations', 'list', list(toleration), [], 'Tolerations of the pods of the operator.'],
  ['priorityClassName', 'string', text, '', 'PriorityClass of the pods of the operator.'],
  [
    'labels',
    'map',
    labels,
    {},
    'Labels for every object of the operator, and for its pods. A label that the operator sets itself keeps its value. The CRDs do not get them.',
  ],
  [
    'annotations',
    'map',
    map,
    {},
    'Annotations for every object of the operator, and for its pods. An annotation that the operator sets itself keeps its value. The CRDs do not get them.',
  ],
  [
    'clusterScopedName',
    'string',
    { ...text, pattern: '^([a-z0-9]([-a-z0-9]*[a-z0-9])?)?$' },
    '',
    'First part of the names of objects outside of the namespace of the release, so that two releases can be in one Kubernetes cluster. When empty, `clusterwright` in the namespace `clusterwright-system`, and `clusterwright-NAMESPACE` elsewhere.',
  ],
  [
    'crds.install',
    'boolean',
    flag,
    true,
    'Create and upgrade the CRDs. Helm never deletes them. Set it to false for a second release in the same Kubernetes cluster, or if something else applies the CRDs.',
  ],
];

export const chartValues: readonly ChartValue[] = rows.map(([path, type, schema, fallback, description]) => ({
  path: path.split('.'),
  type,
  schema,
  default: fallback,
  description,
}));
