/**
 * A watch over the members of a simulated PostgreSQL: what no rule of the operator may ever bring about.
 *
 * A commit is acknowledged by a server. From then on nobody may take writes without it, no older timeline may acknowledge another
 * one, and no second database may begin. What the operator does to pods, StatefulSets and volumes is judged by what really runs.
 */
import type { KubeObject } from '../../../src/api/object.ts';
import { roleLabel } from '../../../src/engines/postgres/names.ts';
import { memberLabel } from '../../../src/resources/metadata.ts';
import { isReady } from '../readiness.ts';
import type { Findings, SimulatedWorld } from '../subject.ts';
import type { Commit } from '../world/kubernetes.ts';
import { inForce } from './parameters.ts';
import type { Patroni } from './patroni.ts';
import type { Processes } from './processes.ts';
import type { Server } from './server.ts';
import { watchUpgrades } from './upgrade/watch.ts';
import { type Data, dataOn, type WalRecord } from './wal.ts';

const operator = 'clusterwright';
/** Rows: what came before is looked for from the end on. */
const lookedBack = 400;
/** In which the new primary, or the operator, takes the label from the old one. */
const labelMs = 15_000;

export interface Watch {
  guard(world: SimulatedWorld): () => Findings;
  /** Who takes writes, and has the newest timeline. */
  primary(): Server | undefined;
}

export function createWatch(processes: Processes): Watch {
  const membership = new Set<string>();
  const unsafe = new Set<string>();
  const untrue = new Set<string>();
  const labelledSince = new Map<string, number>();
  const databases = new Set<string>();
  const acknowledged: WalRecord[] = [];
  const upgrades = watchUpgrades(processes, { servers: () => servers(), unsafe });
  /** Version and timeline of the last acknowledged commit. */
  let served = { major: 0, timeline: 0 };
  let world: SimulatedWorld | undefined;

  const servers = (): Server[] => [...processes.all].flatMap(({ server }) => (server?.isUp === true ? [server] : []));

  const primary = (): Server | undefined =>
    servers()
      .filter(({ role }) => role === 'primary')
      .sort((a, b) => b.timeline - a.timeline)[0];

  processes.onFormed = (name, systemId) => {
    databases.add(systemId);
    if (databases.size > 1) membership.add(`${name} makes another database under the same name`);
  };

  processes.onPromoted = (server) => {
    const lost = lostIn(server.data);
    if (lost > 0 && isSynchronous()) membership.add(`${server.name} takes writes without ${lost} acknowledged commits`);
    const holder = object('ConfigMap', `${world?.cluster}-leader`)?.metadata.annotations?.leader;
    if (world !== undefined && holder !== server.name)
      membership.add(`${server.name} is promoted, and ${holder ?? 'nobody'} holds the lock`);
  };

  /** How many of the last acknowledged commits are not there. */
  function lostIn({ wal }: Data): number {
    const has = new Set(wal.slice(-lookedBack).map((record) => record.carried ?? record));
    return acknowledged.slice(-lookedBack / 2).filter((record) => !has.has(record.carried ?? record)).length;
  }

  processes.onStarted = (name, data) => {
    if (data.user !== undefined) membership.add(`${name} starts on data that ${data.user} runs on`);
    if (data.isSpoiled) membership.add(`${name} starts on data whose files another version has changed`);
    if (data.major < served.major)
      membership.add(`${name} starts on data of PostgreSQL ${data.major}, and clients have written to ${served.major}`);
    if (data.twin !== undefined) data.twin.isSpoiled = true;
  };

  processes.onMisuse = (words) => membership.add(words);
  processes.onUpgraded = (data) => {
    const lost = lostIn(data);
    if (lost > 0) membership.add(`the data of PostgreSQL ${data.major} lacks ${lost} acknowledged commits`);
    upgrades.done(data);
  };

  processes.onAcknowledged = (server, record) => {
    const { major } = server.data;
    const { timeline } = record;
    if (major < served.major) membership.add(`${server.name} acknowledges on ${major} after one on ${served.major}`);
    if (major === served.major && timeline < served.timeline)
      membership.add(`${server.name} acknowledges on timeline ${timeline} after one on ${served.timeline}`);
    served = { major, timeline };
    acknowledged.push(record);
  };

  const object = (kind: string, name: string): KubeObject | undefined =>
    world?.kubernetes.objects().find((one) => one.kind === kind && one.metadata.name === name);

  /** The custom resource, where it is not on its way out. */
  const owner = (): KubeObject | undefined =>
    world?.kubernetes
      .objects()
      .find(({ kind, metadata }) => kind === 'PostgresCluster' && metadata.deletionTimestamp === undefined);

  const spec = (): { readonly instances?: number; readonly synchronous?: { readonly count?: number } } =>
    owner()?.spec ?? {};
  const isSynchronous = (): boolean => (spec().synchronous?.count ?? 1) > 0 && (spec().instances ?? 3) > 1;

  function memberOf(pod: KubeObject): Patroni | undefined {
    return processes.at((pod.status as { readonly podIP?: string } | undefined)?.podIP ?? '');
  }

  function judge({ actor, before, after, verb, resource }: Commit): void {
    if (resource === 'configmaps') labelled();
    if (actor !== operator) return;
    if (after?.kind === 'PostgresCluster') told(after);
    if (world !== undefined) upgrades.judge(world, before, after);
    if (before === undefined && after?.kind === 'ConfigMap') formed(after);
    if (before === undefined) return;
    if (after?.kind === 'ConfigMap') formed(after);
    const isDeleted =
      before.metadata.deletionTimestamp === undefined &&
      (verb === 'delete' || after?.metadata.deletionTimestamp !== undefined);
    if (!isDeleted || owner() === undefined) return;
    if (before.kind === 'Pod') disrupted(before);
    if (before.kind === 'StatefulSet') stopped(before);
    if (before.kind === 'PersistentVolumeClaim') emptied(before);
  }

  /** Ready, for this very spec: every setting of it is in force. */
  function told({ metadata, spec: wanted, status }: KubeObject): void {
    const { observedGeneration, phase } = (status ?? {}) as {
      readonly observedGeneration?: number;
      readonly phase?: string;
    };
    if (phase !== 'Ready' || observedGeneration !== metadata.generation) return;
    const { parameters = {} } = (wanted ?? {}) as { readonly parameters?: Readonly<Record<string, string>> };
    for (const server of servers()) {
      const old = Object.keys(parameters).filter((setting) => inForce(server, setting) !== parameters[setting]);
      if (old.length > 0) untrue.add(`Ready is told, and ${server.name} runs with another ${old.join(', ')}`);
    }
  }

  /** Clients are led to whoever has the label: it may not stay where the lock has gone from. */
  function labelled(): void {
    const lock = primary();
    const holder = object('ConfigMap', `${world?.cluster}-leader`)?.metadata.annotations?.leader;
    const now = world?.time.monotonic() ?? 0;
    for (const { kind, metadata } of world?.kubernetes.objects() ?? []) {
      if (kind !== 'Pod' || !metadata.name.endsWith('-0')) continue;
      const isWrong = metadata.labels?.[roleLabel] === 'primary' && metadata.name !== holder && lock?.name === holder;
      if (!isWrong) labelledSince.delete(metadata.name);
      else if (!labelledSince.has(metadata.name)) labelledSince.set(metadata.name, now);
      if (now - (labelledSince.get(metadata.name) ?? now) > labelMs)
        unsafe.add(`${metadata.name} keeps the label of the primary, and ${holder} holds the lock`);
    }
  }

  /** Whoever forms makes a database: nobody may as long as there is one. */
  function formed({ metadata, data = {} }: KubeObject & { readonly data?: unknown }): void {
    if (metadata.name !== `${world?.cluster}-members`) return;
    const forming = Object.entries(data as Readonly<Record<string, string>>).filter(
      ([key, start]) => key.endsWith('.start') && start === 'form',
    );
    if (forming.length > 1) unsafe.add('two members are to make a database');
    const blank = forming.filter(([key]) => dataOn(volumeOf(key.replace(/\.start$/, ''))) === undefined);
    if (blank.length > 0 && databases.size > 0) unsafe.add('a blank member is to make a database, and there is one');
  }

  function volumeOf(member: string) {
    return world?.kubernetes.volumeOf(world.namespace, `data-${member}-0`);
  }

  function disrupted(pod: KubeObject): void {
    const member = memberOf(pod);
    if (member?.server?.isUp !== true || !isReady(pod)) return;
    const others = (world?.kubernetes.objects() ?? []).filter(
      ({ kind, metadata }) =>
        kind === 'Pod' &&
        metadata.name !== pod.metadata.name &&
        metadata.labels?.[memberLabel] !== undefined &&
        metadata.name.endsWith('-0'),
    );
    if (member.isPrimary && member.hasLock && others.length > 0)
      unsafe.add(`${pod.metadata.name} is deleted while it is the primary`);
    const away = others.filter((other) => other.metadata.deletionTimestamp !== undefined || !isReady(other));
    if (away.length > 0)
      unsafe.add(
        `${pod.metadata.name} is deleted while ${away.map(({ metadata }) => metadata.name).join(', ')} is not ready`,
      );
  }

  function stopped(set: KubeObject): void {
    const pod = object('Pod', `${set.metadata.name}-0`);
    const member = pod === undefined ? undefined : memberOf(pod);
    if (member?.isPrimary === true && member.hasLock) unsafe.add(`${set.metadata.name} is removed while it is primary`);
  }

  function emptied(claim: KubeObject): void {
    const data = dataOn(world?.kubernetes.volumeOf(world.namespace, claim.metadata.name));
    const others = servers().filter(({ role, name }) => role === 'primary' && claim.metadata.name !== `data-${name}`);
    if (data !== undefined && others.length === 0)
      unsafe.add(`${claim.metadata.name} is deleted while nobody else is primary`);
  }

  return {
    primary,
    guard(of) {
      world = of;
      unsafe.clear();
      membership.clear();
      untrue.clear();
      of.kubernetes.onCommit(judge);
      return () => ({ membership: [...membership], unsafe: [...unsafe], untrue: [...untrue] });
    },
  };
}
