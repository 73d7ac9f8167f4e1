/** What a spec may add to its pods. Nothing here reaches into what runs in them: no container, account, command or environment. */
import { labelName, labelValue } from './label-name.ts';
import type { StructuralSchema } from './schema.ts';

/** No passwd entry is needed; above 10000, so that it is no account of the node. */
export const defaultUid = 10_001;

/** What a spec says about its pods. */
export interface PodAdditions {
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly imagePullSecrets?: readonly { readonly name: string }[];
  readonly uid?: number;
  readonly serviceAccountName?: string;
}

/** Selectors and the operator's own records rest on labels and annotations with these prefixes. */
const reserved = '(.*[.])?(kubernetes[.]io|k8s[.]io|clusterwright[.]dev)/.*';

/** Of the pods of Jobs. Kubernetes refuses a Job whose template says otherwise, and a CronJob makes none then. */
const setByJobs = '^(job-name|controller-uid)$';

const keyRules = (field: string) => [
  { rule: `self.all(k, k.matches('${labelName}'))`, message: `keys of pods.${field} must be label names` },
  {
    rule: `self.all(k, !k.matches('^${reserved}$'))`,
    message: `keys of pods.${field} must not begin with kubernetes.io/, k8s.io/ or clusterwright.dev/, or a subdomain of these`,
  },
  {
    rule: `self.all(k, !k.matches('${setByJobs}'))`,
    message: `keys of pods.${field} must not be job-name or controller-uid: Kubernetes sets them on the pods of Jobs`,
  },
];

export const podsSchema = {
  type: 'object',
  description:
    'Additions to all pods of the cluster, also to those of its Jobs. After a change, the pods restart one at a time.',
  default: {},
  properties: {
    labels: {
      type: 'object',
      description: 'Labels of the pods.',
      additionalProperties: { type: 'string', description: 'Value of the label.', pattern: labelValue, maxLength: 63 },
      maxProperties: 16,
      'x-kubernetes-validations': keyRules('labels'),
    },
    annotations: {
      type: 'object',
      description: 'Annotations of the pods.',
      additionalProperties: { type: 'string', description: 'Value of the annotation.', maxLength: 4096 },
      maxProperties: 16,
      'x-kubernetes-validations': keyRules('annotations'),
    },
    imagePullSecrets: {
      type: 'array',
      description: 'Secrets for the registries of the images, in the namespace of the cluster.',
      maxItems: 8,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      items: {
        type: 'object',
        description: 'A Secret of type kubernetes.io/dockerconfigjson.',
        required: ['name'],
        properties: {
          name: {
            type: 'string',
            description: 'Name of the Secret.',
            pattern: '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$',
            maxLength: 253,
          },
        },
      },
    },
    uid: {
      type: 'integer',
      description:
        'User and group that the processes run as, and group of their volumes. On OpenShift, take a number of the range in the annotation openshift.io/sa.scc.uid-range of the namespace. Immutable, because the files in the volumes belong to it.',
      minimum: 1000,
      maximum: 2_147_483_647,
      default: defaultUid,
      'x-kubernetes-validations': [
        { rule: 'self == oldSelf', message: 'pods.uid is immutable: the files in the volumes belong to it' },
      ],
    },
  },
} as const satisfies StructuralSchema;

/** Of a kind whose pods ask nothing of Kubernetes. */
export const podsWithAccountSchema = {
  ...podsSchema,
  properties: {
    ...podsSchema.properties,
    serviceAccountName: {
      type: 'string',
      description:
        'ServiceAccount of the pods, in the namespace of the cluster, without those of its Jobs. No token of it is mounted. When absent, default.',
      pattern: '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$',
      maxLength: 253,
    },
  },
} as const satisfies StructuralSchema;
