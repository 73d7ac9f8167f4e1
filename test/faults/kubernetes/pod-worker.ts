/**
 * One pod on its node: its address, its volumes and its containers, and the status that tells of them. Containers that
 * come first run one after the other, each to its end; the others begin when the last of those has succeeded. A sidecar is one of the first that
 * goes on: the next begins when it runs, and it ends after all that are none.
 */
import type { KubeObject } from '../../../src/api/object.ts';
import type { Network } from '../world/network.ts';
import type { Images, ProgramContext, Volume } from '../world/workload.ts';
import type { ClusterState } from './cluster-state.ts';
import { type Container, createContainer, type Hooks } from './container.ts';
import { environmentOf, expanded } from './environment.ts';
import { type Fields, fieldsIn, itemsIn, numberIn } from './fields.ts';
import { type MountedFiles, mountedFiles } from './mounted-files.ts';
import { claimsOf, isTerminating, withCondition } from './pod.ts';
import { timestamp } from './registry.ts';
import type { Volumes } from './volumes.ts';

export interface PodParts {
  readonly state: ClusterState;
  readonly images: Images;
  readonly network: Network;
  readonly volumes: Volumes;
  readonly hostIp: string;
  /** A fresh address for a pod. */
  readonly newAddress: () => string;
  /** The volumes of the pod's own on this node's disk, by name. */
  readonly disk: Map<string, Volume>;
  /** The status has something new to say. */
  readonly changed: () => void;
}

export interface ResizePending {
  readonly reason: 'Deferred' | 'Infeasible';
  readonly message: string;
  readonly observedGeneration: number;
}

export interface PodWorker {
  readonly uid: string;
  readonly files: MountedFiles;
  readonly ip: string | undefined;
  /** Why its containers cannot be made: reason and message. Undefined when they can. */
  obstacle(): readonly [reason: string, message: string] | undefined;
  start(): void;
  readonly hasStarted: boolean;
  terminate(graceMs: number): void;
  readonly isTerminating: boolean;
  /** Every container has ended for good. */
  readonly hasEnded: boolean;
  container(name?: string): Container | undefined;
  /** The machine's power is gone. */
  cutOff(): void;
  /** What its containers run with from now on. */
  resize(pod: KubeObject): void;
  /** Why they do not run with what their pod asks for; undefined where they do. */
  refuse(why: ResizePending | undefined): void;
  statusOf(pod: KubeObject, waiting: string): Fields;
}

export function createPodWorker(pod: KubeObject, parts: PodParts): PodWorker {
  const { state, images, network, volumes, disk } = parts;
  const { store, time, random } = state;
  const spec = fieldsIn(pod.spec);
  const files = mountedFiles(pod, store);
  const claims = claimsOf(pod);
  let containers: readonly Container[] = [];
  /** Those that come first. */
  let first: readonly Container[] = [];
  const begun = new Set<Container>();
  const sidecars = new Set<Container>();
  let isInitialized = false;
  let ip: string | undefined;
  let isEnding = false;
  let resources = resourcesOf(pod);
  let pending: ResizePending | undefined;

  const claimObject = (name: string): KubeObject | undefined =>
    store.get('persistentvolumeclaims', pod.metadata.namespace, name);

  function volumeAt(container: Fields, mountPath: string): Volume | undefined {
    const mount = itemsIn(container.volumeMounts).find((one) => one.mountPath === mountPath);
    if (mount === undefined) return undefined;
    const name = String(mount.name);
    const claimName = claims.get(name);
    if (claimName !== undefined) {
      const claim = claimObject(claimName);
      return claim === undefined ? undefined : volumes.of(claim);
    }
    const volume = itemsIn(spec.volumes).find((one) => one.name === name);
    // An ephemeral one lives as long as its pod, too. Its claim is left out.
    if (volume?.emptyDir === undefined && volume?.ephemeral === undefined) return undefined;
    const content = disk.get(name) ?? new Map<string, unknown>();
    disk.set(name, content);
    return content;
  }

  function contextOf(container: Fields, address: string, hooks: Hooks): ProgramContext | undefined {
    const env = environmentOf(container, pod, address, store);
    if (env === undefined) return undefined;
    return {
      pod: store.byUid(pod.metadata.uid ?? '') ?? pod,
      ip: address,
      command: [...list(container.command), ...list(container.args)].map((word) => expanded(word, env)),
      env,
      file: (path) => files.read(container, path, time.monotonic()),
      volume: (mountPath) => volumeAt(container, mountPath),
      network,
      time,
      random,
      ...hooks,
    };
  }

  const restartPolicy = (spec.restartPolicy ?? 'Always') as 'Always' | 'OnFailure' | 'Never';

  function makeContainers(of: 'containers' | 'initContainers', address: string): Container[] {
    const before = itemsIn(fieldsIn(pod.status)[statusesOf[of]]);
    const once = of === 'initContainers' && restartPolicy === 'Always' ? 'OnFailure' : restartPolicy;
    return itemsIn(spec[of]).flatMap((container) => {
      const restarts = container.restartPolicy === 'Always' ? 'Always' : once;
      const program = images(String(container.image));
      if (program === undefined) return [];
      const earlier = before.find((status) => status.name === container.name);
      const made = createContainer(state, {
        spec: container,
        program,
        launch: (run, hooks) => {
          files.refresh();
          const context = contextOf(container, address, hooks);
          return context === undefined ? undefined : run(context);
        },
        restarts,
        graceSeconds: numberIn(spec.terminationGracePeriodSeconds, 30),
        restartCount: earlier === undefined ? 0 : numberIn(earlier.restartCount, 0) + 1,
        changed() {
          proceed();
          if (isEnding && containers.every(({ finalCode }) => finalCode !== undefined)) endSidecars();
          parts.changed();
        },
      });
      if (container.restartPolicy === 'Always') sidecars.add(made);
      return made;
    });
  }

  let endSidecars = (): void => undefined;

  /** Starts what is next. */
  function proceed(): void {
    if (isEnding || isInitialized) return;
    const next = first.find((one) => (sidecars.has(one) ? !one.hasStarted : one.finalCode !== 0));
    if (next === undefined) {
      isInitialized = true;
      for (const container of containers) container.start();
    } else if (!begun.has(next)) {
      begun.add(next);
      next.start();
    }
  }

  const hasFailedFirst = (): boolean =>
    first.some((one) => !sidecars.has(one) && one.finalCode !== undefined && one.finalCode !== 0);
  const hasEnded = (): boolean =>
    (!isEnding && hasFailedFirst()) ||
    [...first.filter((container) => begun.has(container)), ...containers].every(
      (container) => container.finalCode !== undefined,
    );

  function phase(): string {
    if (hasFailedFirst()) return 'Failed';
    if (!containers.every((container) => container.hasStarted) || containers.length === 0) return 'Pending';
    if (!hasEnded()) return 'Running';
    return containers.every((container) => container.finalCode === 0) ? 'Succeeded' : 'Failed';
  }

  return {
    uid: pod.metadata.uid ?? '',
    files,
    get ip() {
      return ip;
    },
    get hasStarted() {
      return ip !== undefined;
    },
    get isTerminating() {
      return isEnding;
    },
    get hasEnded() {
      return hasEnded();
    },
    obstacle() {
      const missing = files.missing();
      if (missing !== undefined) return ['ContainerCreating', `MountVolume.SetUp failed: ${missing} not found`];
      for (const name of claims.values()) {
        if (claimObject(name) === undefined) return ['ContainerCreating', `persistentvolumeclaim "${name}" not found`];
      }
      for (const { image } of [...itemsIn(spec.initContainers), ...itemsIn(spec.containers)]) {
        if (images(String(image)) === undefined) return ['ErrImagePull', `failed to pull image "${image}"`];
      }
      return undefined;
    },
    start() {
      ip = parts.newAddress();
      first = makeContainers('initContainers', ip);
      containers = makeContainers('containers', ip);
      proceed();
    },
    terminate(graceMs) {
      isEnding = true;
      endSidecars = () => {
        endSidecars = () => undefined;
        for (const sidecar of sidecars) sidecar.terminate(graceMs);
      };
      for (const container of [...begun, ...containers]) if (!sidecars.has(container)) container.terminate(graceMs);
      if (containers.every(({ finalCode }) => finalCode !== undefined)) endSidecars();
    },
    container: (name) =>
      name === undefined
        ? (first.find((one) => one.isRunning && !sidecars.has(one)) ?? containers[0])
        : [...first, ...containers].find((container) => container.name === name),
    cutOff() {
      for (const container of [...begun, ...containers]) container.cutOff();
    },
    resize(live) {
      resources = resourcesOf(live);
      pending = undefined;
      parts.changed();
    },
    refuse(why) {
      pending = why;
      parts.changed();
    },
    statusOf(live, waiting) {
      const now = timestamp(time.now());
      const ready = containers.length > 0 && [...containers, ...sidecars].every((container) => container.isReady);
      const hasStarted = ip !== undefined;
      const isFirst = itemsIn(spec.initContainers).length > 0;
      const flag = (value: boolean): 'True' | 'False' => (value ? 'True' : 'False');
      const why = ready ? {} : { reason: 'ContainersNotReady', message: 'containers with unready status' };
      let conditions = itemsIn(fieldsIn(live.status).conditions);
      conditions = withCondition(conditions, 'PodReadyToStartContainers', flag(hasStarted && !hasEnded()), now);
      conditions = withCondition(conditions, 'Initialized', flag(isInitialized || !isFirst), now);
      conditions = withCondition(conditions, 'Ready', flag(ready), now, why);
      conditions = withCondition(conditions, 'ContainersReady', flag(ready), now, why);
      if (pending !== undefined) conditions = withCondition(conditions, pendingType, 'True', now, { ...pending });
      else conditions = conditions.filter(({ type }) => type !== pendingType);
      const withResources = (status: Fields): Fields => ({ ...status, resources: resources.get(String(status.name)) });
      const statuses = (of: 'containers' | 'initContainers', started: readonly Container[]): readonly Fields[] =>
        itemsIn(spec[of]).map(({ name, image }) => {
          const found = started.find((container) => container.name === name);
          if (found !== undefined) return withResources(found.status);
          const isNext = hasStarted || (isFirst && (of === 'containers' || waiting === 'ContainerCreating'));
          return waitingStatus(name, image, isNext ? 'PodInitializing' : waiting);
        });
      return {
        phase: phase(),
        conditions,
        hostIP: parts.hostIp,
        hostIPs: [{ ip: parts.hostIp }],
        ...(ip === undefined ? {} : { podIP: ip, podIPs: [{ ip }] }),
        startTime: fieldsIn(live.status).startTime ?? now,
        ...(isTerminating(live) ? {} : { observedGeneration: live.metadata.generation }),
        ...(spec.initContainers === undefined ? {} : { initContainerStatuses: statuses('initContainers', [...begun]) }),
        containerStatuses: statuses('containers', isInitialized || isEnding ? containers : []),
      };
    },
  };
}

const pendingType = 'PodResizePending';

/** By container. */
function resourcesOf({ spec }: KubeObject): ReadonlyMap<string, Fields> {
  const containers = [...itemsIn(fieldsIn(spec).initContainers), ...itemsIn(fieldsIn(spec).containers)];
  return new Map(containers.map(({ name, resources }) => [String(name), fieldsIn(resources)]));
}

const statusesOf = { containers: 'containerStatuses', initContainers: 'initContainerStatuses' } as const;

function waitingStatus(name: unknown, image: unknown, reason: string): Fields {
  return {
    ...{ name, image, imageID: '', ready: false, started: false, restartCount: 0 },
    state: { waiting: { reason } },
    lastState: {},
  };
}

const list = (value: unknown): readonly string[] => (Array.isArray(value) ? value : []);
