/**
 * A stand-in for Kubernetes that runs real etcd: it stores what a plan writes, makes a claim and a pod for each
 * StatefulSet, and starts the pod's process with the environment that its template and the ConfigMaps say, each member
 * on a loopback address of its own. Ended processes are started again, as by a kubelet.
 *
 * Names of pods are no names that this machine can resolve, so they become addresses on the way to a process and names
 * again on the way back.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KubeObject } from '../../src/api/object.ts';
import { digestOf } from '../../src/certificates/facts.ts';
import { issued, sourceOf } from '../../src/certificates/issue.ts';
import type { EngineContext } from '../../src/engine/engine-context.ts';
import type { ObjectStep } from '../../src/plan/plan.ts';
import { type Children, childrenOf } from '../../src/resources/children.ts';
import { engineIO } from '../../src/runtime/engine-context.ts';
import { exchangeOver } from '../../src/runtime/http-exchange.ts';
import { type Clock, systemClock } from '../../src/system/clock.ts';
import { dialTcp } from '../../src/system/dial.ts';
import { stored } from '../../src/testing/stored-object.ts';
import { blankAccounts, blankClaims } from './blank-claims.ts';
import { etcdBinaries } from './etcd-binary.ts';

/** Of every Secret that is generated. */
export const generatedPassword = 'correct-horse-battery-staple';

interface Variable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: {
    readonly configMapKeyRef: { readonly name: string; readonly key: string; readonly optional?: boolean };
  };
}

interface Template {
  readonly metadata: { readonly labels: Readonly<Record<string, string>> };
  readonly spec: {
    readonly containers: readonly [
      {
        readonly env: readonly Variable[];
        readonly image: string;
        readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
      },
    ];
    readonly volumes?: readonly { readonly name: string; readonly secret: { readonly secretName: string } }[];
  };
}

interface Process {
  readonly child: ChildProcess;
  readonly restarts: number;
  readonly lastWords: string;
}

export interface EtcdHost {
  readonly io: EngineContext;
  children(): Children;
  run(steps: readonly ObjectStep[]): void;
  /** Makes Kubernetes' own moves: claims, pods, processes, readiness. */
  turn(): Promise<void>;
  kill(pod: string): void;
  /** Directory of the pod's volume. */
  volume(pod: string): string;
  /** The pod goes, and its claim with everything on it. */
  loseVolume(pod: string): void;
  deletePod(pod: string): void;
  object(kind: string, name: string): KubeObject | undefined;
  remove(kind: string, name: string): void;
  /** Starts no process of these pods from now on; without any, lets all of them start. */
  hold(...pods: readonly string[]): void;
  /** A Secret as somebody else writes it. */
  provide(secret: string, values: Readonly<Record<string, string>>): void;
  /** Whether a changed Secret reaches only pods that start after it, as if the kubelets had yet to notice. */
  forgetMounts(late: boolean): void;
  /** Variables of every process that starts from now on, beside its own. */
  settings(variables: Readonly<Record<string, string>>): void;
  address(pod: string): string;
  log(pod: string): string;
  close(): Promise<void>;
}

/** Of the 127/8 network; the first free byte of the third place, so that hosts of several tests do not meet. */
export function etcdHost(network: number, clock: Clock = systemClock): EtcdHost {
  const directory = mkdtempSync(join(tmpdir(), 'etcd-host-'));
  const objects = new Map<string, KubeObject>();
  const processes = new Map<string, Process>();
  const stopping = new AbortController();
  let version = 1;
  let uids = 0;
  let held: readonly string[] = [];
  let extra: Readonly<Record<string, string>> = {};

  let areMountsLate = false;

  const mountOf = (pod: string, path: string): string => join(directory, 'mounts', pod, path.replace(/^.*\//, ''));
  /** Secrets into the files of a pod. A Secret that is not there leaves the files as they are. */
  function mount(pod: KubeObject): void {
    const { containers, volumes = [] } = (pod.template as Template).spec;
    for (const { name, mountPath } of containers[0].volumeMounts ?? []) {
      const secret = volumes.find((volume) => volume.name === name)?.secret.secretName;
      const values = (secret === undefined ? undefined : objects.get(keyOf('Secret', secret))?.data) as
        | Record<string, string>
        | undefined;
      if (values === undefined) continue;
      const files = mountOf(pod.metadata.name, mountPath);
      mkdirSync(files, { recursive: true });
      for (const [file, content] of Object.entries(values)) writeFileSync(join(files, file), content);
    }
  }

  const keyOf = (kind: string, name: string): string => `${kind}/${name}`;
  const put = (object: KubeObject): void => {
    version += 1;
    const live = objects.get(keyOf(object.kind, object.metadata.name));
    uids += 1;
    const uid = live?.metadata.uid ?? `uid-${uids}`;
    const metadata = { ...object.metadata, uid, resourceVersion: String(version) };
    objects.set(keyOf(object.kind, object.metadata.name), stored({ ...object, metadata }));
  };
  const address = (pod: string): string => {
    const index = Number(/-(\d+)-0$/.exec(pod)?.[1] ?? 0);
    return `127.${network}.0.${10 + index}`;
  };
  const toAddresses = (text: string): string =>
    text.replace(/([a-z0-9-]+-\d+-0)\.[a-z0-9.-]+?\.svc/g, (_, pod: string) => address(pod));
  const toNames = (text: string): string =>
    text.replace(
      new RegExp(`127\\.${network}\\.0\\.(\\d+)`, 'g'),
      (_, last: string) => `db-${Number(last) - 10}-0.db.apps.svc`,
    );

  const base = engineIO({
    claims: blankClaims,
    accounts: blankAccounts,
    namespace: 'apps',
    secrets: {
      read: async (_, name) => {
        const secret = objects.get(keyOf('Secret', name));
        return secret && { values: secret.data as Record<string, string>, isOurs: true };
      },
      learn: () => undefined,
      readNow: () => Promise.resolve(undefined),
      refuse: () => undefined,
      outdate: () => undefined,
      forget: () => undefined,
    },
    dial: dialTcp,
    clock,
    signal: stopping.signal,
  });
  const io: EngineContext = {
    ...base,
    async exchange(request) {
      const body = request.body === undefined ? {} : { body: toAddresses(request.body) };
      const answer = await exchangeOver(dialTcp, { ...request, ...body });
      return { ...answer, body: toNames(answer.body) };
    },
  };

  const templateOf = (set: KubeObject): Template => (set.spec as { readonly template: Template }).template;
  const revisionOf = (set: KubeObject): string =>
    createHash('sha256')
      .update(JSON.stringify(templateOf(set)))
      .digest('hex')
      .slice(0, 10);

  function start(pod: KubeObject): void {
    const { name } = pod.metadata;
    if (held.includes(name)) return;
    const template = pod.template as Template;
    const [container] = template.spec.containers;
    const env: Record<string, string> = {};
    for (const { name: variable, value, valueFrom } of container.env) {
      const ref = valueFrom?.configMapKeyRef;
      const found =
        ref === undefined
          ? value
          : (objects.get(keyOf('ConfigMap', ref.name))?.data as Record<string, string> | undefined)?.[ref.key];
      // As a kubelet does: it waits until the key is there.
      if (found === undefined && ref?.optional === true) continue;
      if (found === undefined) return;
      env[variable] = toAddresses(found)
        .replace('/etc/etcd/tls/client', mountOf(name, 'client'))
        .replace('/etc/etcd/tls/peer', mountOf(name, 'peer'));
    }
    const home = join(directory, pod.volume as string);
    mkdirSync(home, { recursive: true });
    const own = address(name);
    const listening = Object.fromEntries(
      Object.entries(env).map(([variable, value]) => [variable, value.replaceAll('0.0.0.0', own)]),
    );
    const image = /:v?([^:]+)$/.exec(container.image)?.[1] ?? '';
    const binary = etcdBinaries.get(image);
    if (binary === undefined) throw new Error(`no etcd ${image} is compiled on this machine`);
    const before = processes.get(name);
    const child = spawn(binary, [], {
      // Processes are killed here, machines are not.
      env: {
        ...listening,
        ...extra,
        ETCD_DATA_DIR: join(home, 'data'),
        ETCD_LOG_LEVEL: 'warn',
        ETCD_UNSAFE_NO_FSYNC: 'true',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const logFile = join(directory, `${name}.log`);
    const log = (chunk: Buffer): void => {
      if (existsSync(directory)) appendFileSync(logFile, chunk);
    };
    child.stdout.on('data', log);
    child.stderr.on('data', log);
    processes.set(name, {
      child,
      restarts: before === undefined ? 0 : before.restarts + 1,
      lastWords: before === undefined ? '' : readFileSync(logFile, 'utf8').slice(-2048),
    });
  }

  function issue({ object, issue: wanted }: Extract<ObjectStep, { type: 'issue' }>): void {
    const valuesOf = (name: string | undefined): Record<string, string> | undefined =>
      objects.get(keyOf('Secret', name ?? ''))?.data as Record<string, string> | undefined;
    const own = valuesOf(object.metadata.name);
    if (digestOf(own) !== wanted.seen) throw new Error(`${object.metadata.name} is not as it was`);
    // Members are reached by addresses here.
    const addresses = Array.from({ length: 10 }, (_, i) => address(`db-${i}-0`));
    const made = wanted.what === 'leaf' ? { ...wanted, addresses } : wanted;
    put({ ...object, data: issued(made, { own, source: valuesOf(sourceOf(wanted)) }, clock.now()) });
  }

  const isRunning = ({ child }: Process): boolean => child.exitCode === null && child.signalCode === null;

  function end(pod: string, signal: NodeJS.Signals = 'SIGKILL'): void {
    processes.get(pod)?.child.kill(signal);
  }

  function removePod(name: string): void {
    end(name);
    processes.delete(name);
    objects.delete(keyOf('Pod', name));
  }

  async function isReady(pod: string): Promise<boolean> {
    try {
      const signal = AbortSignal.timeout(1000);
      const request = { host: address(pod), port: 2381, method: 'GET', path: '/readyz', signal } as const;
      return (await exchangeOver(dialTcp, request)).status === 200;
    } catch {
      return false;
    }
  }

  /** When it became ready, or ceased to be. */
  function since(pod: KubeObject, ready: boolean): string {
    const { conditions = [] } = (pod.status ?? {}) as {
      readonly conditions?: readonly { readonly status: string; readonly lastTransitionTime: string }[];
    };
    const [before] = conditions;
    const isAsBefore = before?.status === (ready ? 'True' : 'False');
    return isAsBefore ? before.lastTransitionTime : new Date(clock.now()).toISOString();
  }

  function runSet(set: KubeObject): void {
    const { replicas } = set.spec as { readonly replicas: number };
    const name = `${set.metadata.name}-0`;
    const revision = revisionOf(set);
    put({ ...set, status: { observedGeneration: set.metadata.generation, replicas, updateRevision: revision } });
    if (replicas === 0) {
      removePod(name);
      return;
    }
    const template = templateOf(set);
    const claim = `data-${name}`;
    if (!objects.has(keyOf('PersistentVolumeClaim', claim))) {
      put({
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: { name: claim, namespace: 'apps', labels: template.metadata.labels },
        spec: { resources: { requests: { storage: '1Gi' } } },
        status: { phase: 'Bound' },
      });
    }
    if (objects.has(keyOf('Pod', name))) return;
    // Deleted: the next pod comes when its process has ended.
    const ending = processes.get(name);
    if (ending !== undefined && isRunning(ending)) return;
    const pod: KubeObject = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name,
        namespace: 'apps',
        labels: { ...template.metadata.labels, 'controller-revision-hash': revision },
      },
      template,
      volume: objects.get(keyOf('PersistentVolumeClaim', claim))?.metadata.uid,
      spec: { nodeName: 'node-1' },
      status: { phase: 'Pending' },
    };
    put(pod);
    mount(pod);
  }

  return {
    io,
    address,
    children: () => childrenOf([...objects.values()]),
    object: (kind, name) => objects.get(keyOf(kind, name)),
    remove: (kind, name) => void objects.delete(keyOf(kind, name)),
    provide(secret, values) {
      put({ apiVersion: 'v1', kind: 'Secret', metadata: { name: secret, namespace: 'apps' }, data: values });
    },
    forgetMounts(late) {
      areMountsLate = late;
    },
    hold(...pods) {
      held = pods;
    },
    settings(variables) {
      extra = variables;
    },
    run(steps) {
      for (const step of steps) {
        switch (step.type) {
          case 'create': {
            const { generate = [], object } = step;
            const data = Object.fromEntries(generate.map(({ key }) => [key, generatedPassword]));
            put(generate.length === 0 ? object : { ...object, data });
            break;
          }
          case 'apply':
            put(step.object);
            break;
          case 'issue':
            issue(step);
            break;
          case 'patch': {
            const live = objects.get(keyOf(step.ref.resource.kind, step.ref.name));
            const { annotations } = (step.patch.metadata ?? {}) as { annotations?: Record<string, string> };
            if (live === undefined || live.metadata.uid !== step.ref.uid) throw new Error(`no ${step.ref.name}`);
            put({
              ...live,
              metadata: { ...live.metadata, annotations: { ...live.metadata.annotations, ...annotations } },
            });
            break;
          }
          case 'resize':
            throw new Error(`${step.ref.name} has no kubelet that resizes it`);
          case 'delete':
            if (objects.get(keyOf(step.ref.resource.kind, step.ref.name))?.metadata.uid !== step.ref.uid) break;
            if (step.ref.resource.kind === 'Pod') {
              end(step.ref.name, 'SIGTERM');
              objects.delete(keyOf('Pod', step.ref.name));
            } else objects.delete(keyOf(step.ref.resource.kind, step.ref.name));
            break;
          default:
            step satisfies never;
        }
      }
    },
    async turn() {
      const sets = [...objects.values()].filter(({ kind }) => kind === 'StatefulSet');
      for (const pod of [...objects.values()].filter(({ kind }) => kind === 'Pod')) {
        if (!sets.some(({ metadata }) => `${metadata.name}-0` === pod.metadata.name)) removePod(pod.metadata.name);
      }
      for (const set of sets) runSet(set);
      await Promise.all(
        [...objects.values()]
          .filter(({ kind }) => kind === 'Pod')
          .map(async (pod) => {
            const { name } = pod.metadata;
            if (!areMountsLate) mount(pod);
            const running = processes.get(name);
            if (running === undefined || !isRunning(running)) start(pod);
            const ready = await isReady(name);
            const process = processes.get(name);
            put({
              ...pod,
              status: {
                phase: process === undefined ? 'Pending' : 'Running',
                podIP: address(name),
                conditions: [
                  { type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime: since(pod, ready) },
                ],
                containerStatuses: [
                  {
                    name: 'etcd',
                    restartCount: process?.restarts ?? 0,
                    lastState: { terminated: { message: process?.lastWords ?? '' } },
                  },
                ],
              },
            });
          }),
      );
    },
    kill: (pod) => end(pod),
    deletePod: removePod,
    volume: (pod) => join(directory, String(objects.get(keyOf('Pod', pod))?.volume)),
    loseVolume(pod) {
      const claim = objects.get(keyOf('PersistentVolumeClaim', `data-${pod}`));
      removePod(pod);
      objects.delete(keyOf('PersistentVolumeClaim', `data-${pod}`));
      if (claim?.metadata.uid !== undefined)
        rmSync(join(directory, claim.metadata.uid), { recursive: true, force: true });
    },
    log: (pod) => readFileSync(join(directory, `${pod}.log`), 'utf8'),
    async close() {
      stopping.abort(new Error('the test is over'));
      const ended = [...processes.values()].map(
        ({ child }) =>
          new Promise<void>((resolve) => {
            if (child.exitCode !== null || child.signalCode !== null) return resolve();
            child.once('exit', () => resolve());
            child.kill('SIGKILL');
          }),
      );
      await Promise.all(ended);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
