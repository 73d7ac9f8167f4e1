/** The smallest engine with volumes and a password: one that keeps every rule, to be broken in one place at a time. */
import { Duplex } from 'node:stream';
import type { Cluster } from '../../src/api/cluster.ts';
import type { KindDefinition } from '../../src/api/kind.ts';
import { metadataSchema } from '../../src/api/metadata.ts';
import type { StructuralSchema } from '../../src/api/schema.ts';
import { statusSchema } from '../../src/api/status-schema.ts';
import { storageRules, volumeSchema } from '../../src/api/storage.ts';
import { validateCluster } from '../../src/api/validate.ts';
import type { EngineFormat } from '../../src/backup/engine-data.ts';
import { membersSchema } from '../../src/backup/members.ts';
import { absolutePath } from '../../src/backup/place.ts';
import { type BackupSupport, restoredVolume } from '../../src/engine/backup-support.ts';
import { desiredConditions } from '../../src/engine/desired-conditions.ts';
import type { Engine } from '../../src/engine/engine.ts';
import type { EngineContext } from '../../src/engine/engine-context.ts';
import type { Desired } from '../../src/plan/objects.ts';
import { objectSteps } from '../../src/plan/objects.ts';
import { type EngineAction, type Plan, settled, wait } from '../../src/plan/plan.ts';
import type { Children } from '../../src/resources/children.ts';
import { ownedMetadata, selectorLabels, unownedMetadata } from '../../src/resources/metadata.ts';
import { containerSecurityContext, podSecurityContext } from '../../src/resources/podsecurity.ts';
import { generatedSecret } from '../../src/resources/secret.ts';
import { headlessService } from '../../src/resources/service.ts';
import { statefulSet } from '../../src/resources/statefulset.ts';
import type { EngineSample } from '../../src/testing/sample.ts';
import { silentContext } from '../../src/testing/silent-context.ts';

export interface ToySpec {
  readonly replicas: number;
  readonly storage: { readonly size: string };
}

export interface ToySituation {
  readonly cluster: Cluster<ToySpec>;
  readonly children: Children;
  /** Names of the pods that answer. */
  readonly answering: readonly string[];
}

export type Toy = Engine<ToySpec, readonly string[], ToySituation, EngineAction>;

export const password = 'correct-horse-battery-staple';
const port = 7000;
const part = { engine: 'toy', component: 'data', version: '1.0' };

const spec = {
  type: 'object',
  description: 'What the toy is to be.',
  properties: {
    replicas: { type: 'integer', description: 'Number of pods.', minimum: 1, maximum: 9, default: 2 },
    storage: volumeSchema,
    deletionPolicy: { type: 'string', description: 'What a deletion keeps.', enum: ['Retain', 'Delete'] },
  },
} as const satisfies StructuralSchema;

export const toyKind: KindDefinition = {
  resource: { group: 'toys.example.com', version: 'v1', kind: 'ToyCluster', plural: 'toyclusters', namespaced: true },
  singular: 'toycluster',
  shortNames: [],
  description: 'A toy.',
  schema: {
    type: 'object',
    description: 'A toy.',
    required: ['spec'],
    properties: { metadata: metadataSchema, spec, status: statusSchema },
    'x-kubernetes-validations': storageRules,
  },
  printerColumns: [],
  scale: {
    specReplicasPath: '.spec.replicas',
    statusReplicasPath: '.status.replicas',
    labelSelectorPath: '.status.selector',
  },
};

function resources(cluster: Cluster<ToySpec>): readonly Desired[] {
  const { name } = cluster.metadata;
  const selector = selectorLabels(cluster, part);
  const metadata = ownedMetadata(cluster, name, part);
  const securityContext = containerSecurityContext;
  const ports = [{ name: 'toy', containerPort: port, protocol: 'TCP' }] as const;
  const resources = { requests: { cpu: '10m', memory: '16Mi' }, limits: { memory: '16Mi' } };
  return [
    {
      object: headlessService({
        metadata,
        selector,
        ports: [{ name: 'toy', port, targetPort: port, protocol: 'TCP' }],
      }),
    },
    {
      object: generatedSecret(unownedMetadata(cluster, `${name}-auth`, part)),
      generate: [{ key: 'password', length: 20 }],
    },
    {
      object: statefulSet({
        metadata,
        selector,
        serviceName: name,
        replicas: cluster.spec.replicas,
        podSpec: {
          automountServiceAccountToken: false,
          enableServiceLinks: false,
          securityContext: podSecurityContext,
          containers: [
            {
              name: 'toy',
              image: 'toy:1',
              imagePullPolicy: 'IfNotPresent',
              ports: [...ports],
              resources,
              securityContext,
            },
          ],
        },
        claims: [{ name: 'data', labels: selector, size: cluster.spec.storage.size }],
      }),
    },
  ];
}

const full = ['get', 'list', 'watch', 'create', 'patch', 'delete'];

/** Whatever is changed, its plan creates what its own `resources` return. */
export function toyEngine(change: Partial<Toy> = {}): Toy {
  const engine: Toy = { ...toy, plan: (situation) => planned(engine, situation), ...change };
  return engine;
}

function planned(engine: Toy, { cluster, children, answering }: ToySituation): Plan {
  const steps = objectSteps(engine.resources(cluster), children);
  const isWhole = answering.length >= cluster.spec.replicas;
  return { steps, outcome: isWhole ? settled : wait('PodsNotReady', 'not every pod answers', 1_000) };
}

export const toy: Toy = {
  definition: { name: 'toy', kind: toyKind, endpoints: () => ({}), sample: { name: 'toy' } },
  permissions: [
    { apiGroups: [''], resources: ['services'], verbs: full },
    { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch', 'delete'] },
    { apiGroups: [''], resources: ['persistentvolumeclaims'], verbs: ['get', 'list', 'watch', 'patch', 'delete'] },
    { apiGroups: [''], resources: ['secrets'], verbs: ['get', 'create', 'delete'] },
    { apiGroups: ['apps'], resources: ['statefulsets'], verbs: full },
  ],
  ports: [port],
  resources,
  async observe(_, { pods }, io) {
    const answers = pods.map(async ({ metadata: { name }, status: { podIP = '' } = {} }) =>
      io.dial(podIP, port, io.signal).then(
        () => [name],
        () => [],
      ),
    );
    return (await Promise.all(answers)).flat();
  },
  situation: (cluster, children, answering) => ({ cluster, children, answering }),
  plan: (situation) => planned(toy, situation),
  act: () => Promise.reject(new Error('toys have no actions')),
  status({ cluster, answering }, { outcome }) {
    const isReady = outcome.state === 'settled';
    const [reason, message] = isReady ? ['Ready', 'every pod answers'] : [outcome.reason, outcome.message];
    return {
      phase: isReady ? 'Ready' : 'Creating',
      conditions: desiredConditions(isReady ? 'True' : 'False', reason, message, { progressing: !isReady }),
      replicas: answering.length,
      selector: Object.entries(selectorLabels(cluster, part))
        .map((pair) => pair.join('='))
        .join(','),
    };
  },
  offlineObservation: [],
};

/** What the toy says of its backups, were there any. */
export const toyBackup: BackupSupport<ToySpec> = {
  source: () => ({ source: { engine: 'toy', members: [{ host: 'toy-0.toy', port }] }, secrets: [], topology: 'a toy' }),
  restoreTemplate: ({ metadata }) => ({
    set: metadata.name,
    destination: { engine: 'toy', directory: '/data' },
    fetchMounts: [{ name: restoredVolume, mountPath: '/data' }],
    volumes: [],
    containers: [],
    annotations: {},
  }),
  drill: () => ({ replicas: 1 }),
  specVersion: (version) => version,
  contents: () => Promise.resolve({}),
  isSame: () => true,
};

/** As the agent would know it. */
export const toyFormat: EngineFormat = {
  engine: 'toy',
  kind: 'ToyCluster',
  schemas: {
    source: { type: 'object', required: ['members'], properties: { members: membersSchema } },
    destination: { type: 'object', required: ['directory'], properties: { directory: absolutePath } },
    state: () => ({ type: 'object' }),
  },
};

export function toyCluster(written: object = {}): Cluster<ToySpec> {
  const metadata = { name: 'toy', namespace: 'nursery', uid: 'uid-toy' };
  const object = { apiVersion: 'toys.example.com/v1', kind: 'ToyCluster', metadata, spec: written };
  const verdict = validateCluster(toyKind, object);
  if (!verdict.ok) throw new Error(JSON.stringify(verdict.violations));
  return verdict.cluster as Cluster<ToySpec>;
}

/** Every pod takes connections. */
export const answeringContext: EngineContext = silentContext({ dial: () => Promise.resolve(new Duplex()) });

export function toySample(children: Children, change: Partial<EngineSample> = {}): EngineSample {
  const cluster = toyCluster();
  return { story: 'defaults', cluster, whole: { children, io: answeringContext }, secrets: [password], ...change };
}
