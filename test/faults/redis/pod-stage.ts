/**
 * Pods of one cluster without a Kubernetes around them: each is its program with the files that the builders make, its
 * volumes, and a restart whenever a test says so.
 */
import type { RedisSpecInput } from '../../../src/engines/redis/kind/schema.ts';
import { redisResources } from '../../../src/engines/redis/resources/resources.ts';
import { redisCluster } from '../../support/redis-situation.ts';
import type { Network } from '../world/network.ts';
import { seeded } from '../world/random.ts';
import { simulatedNetwork } from '../world/simulated-network.ts';
import { type VirtualTime, virtualTime } from '../world/time.ts';
import type { RunningProgram, Volume } from '../world/workload.ts';
import { simulatedRedis } from './images.ts';
import type { Processes } from './processes.ts';

export interface PodStage {
  readonly time: VirtualTime;
  readonly network: Network;
  readonly processes: Processes;
  readonly cluster: ReturnType<typeof redisCluster>;
  /** Starts `db-0`, or `db-sentinel-0`, with the volumes that it had. A fresh pod has another address. */
  start(pod: string, options?: { readonly version?: string; readonly ip?: string }): RunningProgram;
  ip(pod: string): string;
  running(pod: string): RunningProgram;
  volume(pod: string, path: string): Volume;
  /** Codes with which programs ended by themselves, by pod. */
  readonly exits: ReadonlyMap<string, number>;
  /** Edits the Secret: the kubelet changes the file in every pod. */
  setPassword(text: string): void;
}

export const password = 'secret';
const passwordFile = '/etc/clusterwright/auth/password';

export function podStage(spec: RedisSpecInput = {}, seed = 1): PodStage {
  const time = virtualTime();
  const random = seeded(seed);
  const network = simulatedNetwork(time, random);
  const { images, processes } = simulatedRedis();
  const cluster = redisCluster({ replicas: 3, ...spec });
  const files = new Map(Object.entries(filesOf(cluster)));
  const ips = new Map<string, string>();
  const volumes = new Map<string, Volume>();
  const programs = new Map<string, RunningProgram>();
  const exits = new Map<string, number>();
  network.resolve = (host) => ips.get(host.split('.')[0] ?? '');

  const ip = (pod: string): string => {
    const [, sentinel, ordinal = ''] = /^db(-sentinel)?-(\d+)$/.exec(pod) ?? [];
    return ips.get(pod) ?? `10.0.${sentinel === undefined ? 0 : 1}.${Number(ordinal) + 1}`;
  };
  const volume = (pod: string, path: string): Volume => {
    const place = `${pod}:${path}`;
    const content = volumes.get(place) ?? new Map<string, unknown>();
    volumes.set(place, content);
    return content;
  };
  return {
    ...{ time, network, processes, cluster, exits, ip, volume },
    setPassword: (text) => files.set(passwordFile, `${text}\n`),
    start(pod, options = {}) {
      const address = options.ip ?? ip(pod);
      ips.set(pod, address);
      exits.delete(pod);
      const isSentinel = pod.includes('-sentinel-');
      const program = images(`docker.io/library/redis:${options.version ?? cluster.spec.version}`);
      if (program === undefined) throw new Error('the image cannot be pulled');
      const running = program({
        ...{ ip: address, network, time, random },
        pod: { apiVersion: 'v1', kind: 'Pod', metadata: { name: pod, namespace: 'apps' } },
        command: ['/bin/sh', `/etc/clusterwright/config/${isSentinel ? 'start-sentinel.sh' : 'start-data.sh'}`],
        env: {
          CLUSTER_NAME: cluster.metadata.name,
          CONFIG_DIR: '/etc/clusterwright/config',
          AUTH_FILE: '/etc/clusterwright/auth/password',
          POD_NAME: pod,
          POD_NAMESPACE: 'apps',
          POD_IP: address,
        },
        file: (path) => files.get(path),
        volume: (path) => volume(pod, path),
        leave: () => undefined,
        exit: (code) => exits.set(pod, code),
      });
      programs.set(pod, running);
      return running;
    },
    running(pod) {
      const program = programs.get(pod);
      if (program === undefined) throw new Error(`${pod} was never started`);
      return program;
    },
  };
}

function filesOf(cluster: ReturnType<typeof redisCluster>): Readonly<Record<string, string>> {
  const map = redisResources(cluster).find(({ object }) => object.kind === 'ConfigMap')?.object;
  const data = (map as { data?: Record<string, string> } | undefined)?.data ?? {};
  return {
    ...Object.fromEntries(Object.entries(data).map(([name, text]) => [`/etc/clusterwright/config/${name}`, text])),
    [passwordFile]: `${password}\n`,
  };
}
