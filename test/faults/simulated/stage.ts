/** What a scenario can do in a simulated run: requests to the API server as a user, and accidents. */

import { apiVersionOf, type KubeObject, type Resource } from '../../../src/api/object.ts';
import { persistentVolumeClaims, resourceOf, secrets } from '../../../src/api/resource.ts';
import { createClient, type KubeClient } from '../../../src/runtime/client.ts';
import type { Random } from '../../../src/system/clock.ts';
import { handlers as engines } from '../../support/handlers.ts';
import { priorityClasses } from '../../support/resources.ts';
import type { Vault } from '../backup/vault.ts';
import { isCopy } from '../copies.ts';
import { claimsOf } from '../kubernetes/pod.ts';
import { isReady, podsOf } from '../readiness.ts';
import type { Stage } from '../scenarios/scenario.ts';
import type { SimulatedWorld, Subject } from '../subject.ts';
import { findObject } from './drift.ts';
import type { Operators } from './operators.ts';

/** As anybody but the operator. */
export function clientOf({ time, kubernetes }: SimulatedWorld, actor: string, random: Random): KubeClient {
  return createClient({
    transport: kubernetes.transport(actor),
    clock: time,
    random,
    resourceOf: (object) =>
      [...engines.map(({ kind }) => kind.resource), priorityClasses].find(({ kind }) => kind === object.kind) ??
      resourceOf(object),
  });
}

/** For some keys. */
const fillMs = 3_000;

export function simulatedStage(options: {
  readonly world: SimulatedWorld;
  readonly subject: Subject;
  readonly client: KubeClient;
  readonly operators: Pick<Operators, 'restart' | 'goAway' | 'comeBack'>;
  readonly vault: Pick<Vault, 'away'>;
}): Stage {
  const { world, subject, client, operators, vault } = options;
  const { kubernetes, namespace, cluster } = world;
  const { resource } = subject;
  const ref = { resource, namespace, name: cluster };

  const primary = (): string => {
    const pod = subject.primary(world);
    if (pod === undefined) throw new Error('the scenario needs a primary, and there is none');
    return pod;
  };
  /** Of the pods whose power was cut: by the time it is back they may be elsewhere. */
  const machines = new Map<string, string>();
  const nodesOf = (pods: readonly string[] | 'all'): ReadonlySet<string> =>
    new Set(pods === 'all' ? kubernetes.nodes : pods.flatMap((pod) => machines.get(pod) ?? []));
  return {
    pause: (ms) => pause(world, ms),
    async create(spec) {
      await client.create({
        apiVersion: apiVersionOf(resource),
        kind: resource.kind,
        metadata: { name: cluster, namespace },
        spec,
      });
    },
    async change(spec) {
      await client.mergePatch(ref, { spec });
    },
    async annotate(name, value) {
      await client.mergePatch(ref, { metadata: { annotations: { [name]: value } } });
    },
    said(of = { kind: resource.kind, name: cluster }) {
      const own = kubernetes.objects().find(({ kind, metadata }) => kind === of.kind && metadata.name === of.name);
      return JSON.stringify(own?.status ?? {});
    },
    has: (plural, name) => findObject(kubernetes, plural, name, namespace) !== undefined,
    async editSecret(name, key, value) {
      const secret = { resource: secrets, namespace, name };
      const { data } = (await client.get(secret)) as KubeObject & { readonly data?: Readonly<Record<string, string>> };
      await client.mergePatch(secret, { data: { [key]: Buffer.from(value).toString('base64') } });
      return Buffer.from(data?.[key] ?? '', 'base64').toString('utf8');
    },
    async remove() {
      const { uid = '' } = (await client.get(ref)).metadata;
      await client.remove({ ...ref, uid });
    },
    async make(object) {
      const place = object.kind === priorityClasses.kind ? {} : { namespace };
      await client.create({ ...object, metadata: { ...object.metadata, ...place } });
    },
    async amend(kind, name, spec) {
      const engine = engines.find((candidate) => candidate.kind.resource.kind === kind);
      if (engine === undefined) throw new Error(`nobody knows the kind ${kind}`);
      await client.mergePatch({ resource: engine.kind.resource, namespace, name }, { spec });
    },
    async edit(plural, name, change) {
      const object = findObject(kubernetes, plural, name, namespace);
      if (object === undefined) throw new Error(`there is no ${plural}/${name}`);
      await client.mergePatch({ resource: resourceOf(object), namespace, name }, change(object));
    },
    async discard(plural, name) {
      const object = findObject(kubernetes, plural, name, namespace);
      if (object === undefined) throw new Error(`there is no ${plural}/${name}`);
      await client.remove({ resource: resourceOf(object), namespace, name, uid: object.metadata.uid ?? '' });
    },
    async fill() {
      const ledger = subject.openLedger(world);
      await pause(world, fillMs);
      await ledger.close();
    },
    async empty() {
      if (subject.empty === undefined) throw new Error('nobody knows how to delete everything');
      await subject.empty(world);
    },
    async gone() {
      while (leftovers(world, resource, 'Retain').length > 0) await pause(world, 200);
    },
    deletePod: (pod) => kubernetes.deletePod(namespace, pod),
    killJob(job, isThen = () => true) {
      const pod = kubernetes.objects().find(({ kind, metadata, status }) => {
        const { phase } = (status ?? {}) as { readonly phase?: string };
        return kind === 'Pod' && metadata.labels?.['batch.kubernetes.io/job-name'] === job && phase === 'Running';
      });
      const [claim = ''] = pod === undefined ? [] : claimsOf(pod).values();
      const volume = kubernetes.volumeOf(namespace, claim) ?? new Map<string, unknown>();
      if (pod !== undefined && isThen(volume)) kubernetes.killContainer(namespace, pod.metadata.name);
    },
    primary,
    replica() {
      const own = primary();
      const other = dataPods(world).find((name) => name !== own);
      if (other === undefined) throw new Error('the scenario needs a replica, and there is none');
      return other;
    },
    versions() {
      const ready = [...podsOf(world, 'data')].filter(([, pod]) => isReady(pod));
      return new Map(ready.map(([name, { metadata }]) => [name, metadata.labels?.['app.kubernetes.io/version'] ?? '']));
    },
    async loseVolume(pod) {
      kubernetes.loseVolume(namespace, `data-${pod}`);
      kubernetes.killContainer(namespace, pod);
    },
    async loseClaim(pod) {
      const name = `data-${pod}`;
      const claim = kubernetes
        .objects()
        .find(({ kind, metadata }) => kind === 'PersistentVolumeClaim' && metadata.name === name);
      await client.remove({ resource: persistentVolumeClaims, namespace, name, uid: claim?.metadata.uid ?? '' });
      await kubernetes.deletePod(namespace, pod);
    },
    async spoil(pod) {
      subject.corruption?.spoil(world, pod);
    },
    async compare() {
      subject.corruption?.compare();
    },
    async powerOff(pods, ms) {
      await this.cutPower(pods);
      await pause(world, ms);
      await this.restorePower(pods);
    },
    async cutPower(pods) {
      for (const [pod, machine] of machinesOf(world, pods)) machines.set(pod, machine);
      for (const node of nodesOf(pods)) kubernetes.stopNode(node);
    },
    async cutPowerAtOnce(pods) {
      for (const pod of pods) subject.loseUnflushed?.(world, pod);
      await this.cutPower(pods);
    },
    async restorePower(pods) {
      for (const node of nodesOf(pods)) kubernetes.startNode(node);
    },
    async storeAway(ms) {
      vault.away(ms);
      await pause(world, ms);
    },
    restartOperator: () => operators.restart(),
    stopOperator: () => operators.goAway(),
    startOperator: () => operators.comeBack(),
    async makeOlder() {
      if (subject.makeOlder === undefined) throw new Error('nobody knows what an older operator left');
      await subject.makeOlder(world, client);
    },
  };
}

export function pause({ time }: SimulatedWorld, ms: number): Promise<void> {
  return new Promise((resolve) => {
    time.after(ms, resolve);
  });
}

function dataPods({ kubernetes, cluster }: SimulatedWorld): string[] {
  return kubernetes
    .objects()
    .filter(({ kind, metadata }) => kind === 'Pod' && new RegExp(`^${cluster}-\\d+(-0)?$`).test(metadata.name))
    .map(({ metadata }) => metadata.name);
}

/** A pod that is on none has none. */
function machinesOf(
  world: SimulatedWorld,
  pods: readonly string[] | 'all',
): (readonly [pod: string, machine: string])[] {
  const names = pods === 'all' ? dataPods(world) : pods;
  return names.map((pod) => [pod, nodeOf(world, pod)] as const).filter(([, machine]) => machine !== '');
}

function nodeOf({ kubernetes }: SimulatedWorld, pod: string): string {
  const found = kubernetes.objects().find(({ kind, metadata }) => kind === 'Pod' && metadata.name === pod);
  return (found?.spec as { readonly nodeName?: string } | undefined)?.nodeName ?? '';
}

/** Kinds that hold data, and stay unless the policy says otherwise. */
const dataKinds: readonly string[] = ['PersistentVolumeClaim', 'Secret'];
/** Kinds that tell of what was. */
const records: readonly string[] = ['Event', 'ControllerRevision'];

/** What is there of a cluster that is gone and should not be, or is not there and should be. */
export function leftovers({ kubernetes, cluster }: SimulatedWorld, resource: Resource, policy: string): string[] {
  const objects = kubernetes.objects().filter((object) => !isCopy(object));
  const ofCluster = objects.filter(
    ({ kind, metadata }) =>
      metadata.labels?.['app.kubernetes.io/instance'] === cluster && kind !== resource.kind && !records.includes(kind),
  );
  const isThere = objects.some(({ kind, metadata }) => kind === resource.kind && metadata.name === cluster);
  const wanted = keptKinds(resource, policy);
  const isPassword = (name: string): boolean => name === `${cluster}-root`;
  const kept = ofCluster.filter(
    ({ kind, metadata }) => wanted.includes(kind) && (policy !== 'Snapshot' || isPassword(metadata.name)),
  );
  return [
    ...(isThere ? [`${resource.kind} ${cluster} is there`] : []),
    ...ofCluster
      .filter((object) => !kept.includes(object))
      .map(({ kind, metadata }) => `${kind} ${metadata.name} is there`),
    ...wanted.filter((kind) => !kept.some((object) => object.kind === kind)).map((kind) => `no ${kind} was kept`),
  ];
}

/** Beside a last backup of etcd stays the password without which nobody could use it. */
function keptKinds({ kind }: Resource, policy: string): readonly string[] {
  if (policy === 'Snapshot') return kind === 'EtcdCluster' ? ['Secret'] : [];
  if (policy === 'Delete') return [];
  // What Patroni keeps in ConfigMaps belongs to the data.
  return kind === 'PostgresCluster' ? [...dataKinds, 'ConfigMap'] : dataKinds;
}

/** Those of other kinds that are not in the phase that they are to end in. */
export function unfinished({ kubernetes }: SimulatedWorld, phases: Readonly<Record<string, string>>): string[] {
  return Object.entries(phases).flatMap(([key, wanted]) => {
    const object = kubernetes.objects().find(({ kind, metadata }) => `${kind}/${metadata.name}` === key);
    const { phase } = (object?.status ?? {}) as { readonly phase?: string };
    return phase === wanted ? [] : [`${key} is ${phase ?? 'not there'}`];
  });
}

/** Nobody has said yet that a person has to decide. */
export function unblocked({ kubernetes }: SimulatedWorld, resource: Resource): string[] {
  const { phase } = (kubernetes.objects().find(({ kind }) => kind === resource.kind)?.status ?? {}) as {
    readonly phase?: string;
  };
  return phase === 'Blocked' ? [] : [`${resource.kind} is ${phase}, and not blocked`];
}
