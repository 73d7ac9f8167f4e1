/** A simulated Kubernetes whose pods run the tiny program, and somebody with a client to it. */
import type { KubeObject } from '../../../src/api/object.ts';
import { createClient, type KubeClient } from '../../../src/runtime/client.ts';
import type { SimulatedKubernetes } from '../world/kubernetes.ts';
import type { Network } from '../world/network.ts';
import { seeded } from '../world/random.ts';
import { simulatedNetwork } from '../world/simulated-network.ts';
import { type VirtualTime, virtualTime } from '../world/time.ts';
import type { Program } from '../world/workload.ts';
import { definition } from './conformance/conformance-case.ts';
import { isReady, podIpOf } from './pod.ts';
import { type SimulatedKubernetesOptions, simulatedKubernetes } from './simulated-kubernetes.ts';
import { tinyProgram } from './tiny-program.ts';

export const namespace = 'test';

export interface TinyWorld {
  readonly time: VirtualTime;
  readonly network: Network;
  readonly kubernetes: SimulatedKubernetes;
  readonly client: KubeClient;
  /** Lets time pass until the work is done; throws after ten minutes of it. */
  run<T>(work: Promise<T>): Promise<T>;
  /** Lets time pass until it holds; throws after ten minutes of it. */
  until(holds: () => boolean): Promise<void>;
  find(kind: string, name: string): KubeObject | undefined;
  /** Address of a pod that is ready. */
  ready(pod: string): string | undefined;
}

/** `program` by the name of the image; default: the tiny one, whatever the image. */
export function tinyWorld(
  seed: number,
  program: (image: string) => Program | undefined = () => tinyProgram(),
  more: Pick<SimulatedKubernetesOptions, 'claimsGrow'> = {},
): TinyWorld {
  const time = virtualTime();
  const random = seeded(seed);
  const network = simulatedNetwork(time, random);
  const crds = [definition];
  const namespaces = [namespace];
  const kubernetes = simulatedKubernetes({ time, random, network, images: program, crds, namespaces, ...more });
  const client = createClient({ transport: kubernetes.transport('user'), clock: time, random });
  const patience = 600_000;

  const until = async (holds: () => boolean): Promise<void> => {
    if (!(await time.advanceUntil(holds, patience))) throw new Error(`not within ${patience / 1000} s: ${holds}`);
  };
  const find = (kind: string, name: string): KubeObject | undefined =>
    kubernetes.objects().find((object) => object.kind === kind && object.metadata.name === name);

  return {
    time,
    network,
    kubernetes,
    client,
    until,
    find,
    async run(work) {
      let settled = false;
      const done = (): void => {
        settled = true;
      };
      work.then(done, done);
      await until(() => settled);
      return work;
    },
    ready(name) {
      const pod = find('Pod', name);
      return pod !== undefined && isReady(pod) ? podIpOf(pod) : undefined;
    },
  };
}

/** Three pods `db-0` to `db-2` behind a headless Service, each with a volume at `/data` and a ConfigMap at `/config`. */
export async function makeSet(world: TinyWorld, podSpec: object = {}): Promise<void> {
  const { client, run, until, ready } = world;
  const labels = { app: 'db' };
  const metadata = { name: 'db', namespace, labels };
  await run(client.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { file: 'first' } }));
  const ports = [{ port: 6379 }];
  const service = { clusterIP: 'None', publishNotReadyAddresses: true, selector: labels, ports };
  await run(client.create({ apiVersion: 'v1', kind: 'Service', metadata, spec: service }));
  const container = {
    name: 'main',
    image: 'localhost/tiny:1',
    volumeMounts: [
      { name: 'data', mountPath: '/data' },
      { name: 'config', mountPath: '/config' },
      { name: 'scratch', mountPath: '/scratch' },
    ],
    startupProbe: { exec: { command: ['startup'] }, periodSeconds: 1 },
    readinessProbe: { exec: { command: ['ready'] }, periodSeconds: 5 },
  };
  const spec = {
    terminationGracePeriodSeconds: 10,
    containers: [container],
    volumes: [
      { name: 'config', configMap: { name: 'db' } },
      { name: 'scratch', emptyDir: {} },
    ],
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: 'kubernetes.io/hostname',
        whenUnsatisfiable: 'ScheduleAnyway',
        labelSelector: { matchLabels: labels },
      },
    ],
    ...podSpec,
  };
  const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
  await run(
    client.create({
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata,
      spec: {
        replicas: 3,
        serviceName: 'db',
        podManagementPolicy: 'Parallel',
        updateStrategy: { type: 'OnDelete' },
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec },
        volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: claim }],
      },
    }),
  );
  await until(() => ['db-0', 'db-1', 'db-2'].every((pod) => ready(pod) !== undefined));
}
