/**
 * Watches over the members of a simulated etcd, for what must never happen to them: that a second cluster is formed
 * under the same name, that one begins anew under its old number, that something agreed on is lost (O6); and that the
 * operator gives a vote to who has nothing yet, stops who is still listed, or takes the majority away (O4).
 */
import type { KubeObject } from '../../../src/api/object.ts';
import { holdsAnnotation, recoverAnnotation } from '../../../src/engines/etcd/names.ts';
import { isReady } from '../readiness.ts';
import type { Findings, SimulatedWorld } from '../subject.ts';
import type { Commit } from '../world/kubernetes.ts';
import { hashOf } from './calls.ts';
import type { Disk } from './disk.ts';
import type { Change, MemberRow } from './entry.ts';
import type { Member } from './member.ts';
import type { Origin, Processes } from './processes.ts';
import { forgotten } from './start.ts';
import type { StateMachine } from './state-machine.ts';

const operator = 'clusterwright';
const memberLabel = 'clusterwright.dev/member';
/** A process that has just ended may still have been there when it was decided. */
const underWayMs = 2_000;
/** Between the last look at the spec and the write that rests on it. */
const lookMs = 50;

/** `db-2` of `http://db-2-0.db.test.svc:2380`. */
export function nameIn({ peerUrls }: Pick<MemberRow, 'peerUrls'>): string {
  return /^https?:\/\/([^.]+)-0\./.exec(peerUrls[0] ?? '')?.[1] ?? '?';
}

export interface Watch {
  /** What the members of the cluster have agreed on, as far as any disk tells. */
  latest(): StateMachine | undefined;
  guard(world: SimulatedWorld): () => Findings;
}

export function createWatch(processes: Processes): Watch {
  const membership = new Set<string>();
  const unsafe = new Set<string>();
  const disks = new Set<Disk>();
  const clusters = new Set<string>();
  const begun = new Set<string>();
  const urls = new Map<string, string>();
  /** The entry that was agreed on, by cluster and index. */
  const agreed = new Map<string, object>();
  const seenAt = new Map<string, number>();
  let world: SimulatedWorld | undefined;
  /** When the spec was last seen to want no member. */
  let parkedAt = Number.NEGATIVE_INFINITY;

  const now = (): number => world?.time.monotonic() ?? 0;
  const newest = (): Disk | undefined => [...disks].sort((a, b) => b.term - a.term || b.commit - a.commit)[0];
  const latest = (): StateMachine | undefined => newest()?.state;

  function isUp(id: string): boolean {
    if ([...processes.all].some((member) => member.id === id && member.servesPeers && !member.isFrozen)) return true;
    return now() - (seenAt.get(id) ?? Number.NEGATIVE_INFINITY) < underWayMs;
  }

  processes.onStart = ({ disk, minor, version }: Member, origin: Origin): void => {
    disks.add(disk);
    const key = `${disk.clusterId}/${disk.memberId}`;
    const { storageMinor = minor } = disk;
    if (storageMinor > minor) membership.add(`${version} starts on data of ${key} in the form of 3.${storageMinor}`);
    if (origin === 'formed') clusters.add(disk.clusterId);
    if (clusters.size > 1) membership.add(`${clusters.size} clusters have been formed under one name`);
    const isNew = origin === 'formed' || origin === 'joined';
    if (isNew && begun.has(key)) membership.add(`${key} begins anew under its old number (${origin})`);
    begun.add(key);
  };

  processes.onLoss = (what) => membership.add(what);

  processes.onAgreed = (disk, index) => {
    seenAt.set(disk.memberId, now());
    const entry = disk.log[index - 1];
    if (entry === undefined) return;
    const key = `${disk.clusterId}/${index}`;
    const before = agreed.get(key);
    if (before === undefined) {
      agreed.set(key, entry);
      if (entry.request !== forgotten)
        consider(disk, entry.change, entry.term === 1 && index <= disk.state.members.size);
    } else if (before !== entry) membership.add(`two histories: entry ${index} is not the same for everybody`);
  };

  function consider({ clusterId, state }: Disk, change: Change, isFirst: boolean): void {
    if (change.type === 'addMember') {
      const { member } = change;
      for (const url of member.peerUrls) {
        const before = urls.get(`${clusterId} ${url}`);
        const isAgain = before !== undefined && before !== member.id;
        if (isAgain && hasTrace(nameIn(member))) unsafe.add(`the number of ${nameIn(member)} is given again`);
        urls.set(`${clusterId} ${url}`, member.id);
      }
      if (!isFirst && !member.isLearner) unsafe.add(`${nameIn(member)} is added with a vote at once`);
    }
    if (change.type === 'alarm' && !change.isOn && change.alarm === 'CORRUPT') ended(state);
    if (change.type !== 'removeMember' || state.voters.length === 0) return;
    removedFor(change.id, state);
    const up = state.voters.filter(({ id }) => isUp(id)).length;
    if (up <= state.voters.length / 2) unsafe.add(`a member is removed, which leaves ${up} of ${state.voters.length}`);
  }

  const flawOf = (id: string): string | undefined => [...disks].find(({ memberId }) => memberId === id)?.flaw;

  /** The alarm is what keeps writes away from data that has come apart. */
  function ended({ voters }: StateMachine): void {
    if (new Set(voters.map(({ id }) => flawOf(id) ?? '')).size > 1) unsafe.add('an alarm is ended while data differs');
  }

  function removedFor(id: string, { voters }: StateMachine): void {
    const flawed = voters.filter((row) => flawOf(row.id) !== undefined).map(nameIn);
    if (flawOf(id) === undefined && flawed.length > 0) {
      unsafe.add(`a member with good data is removed, and ${flawed.join(', ')} stays`);
    }
  }

  /** Something that the member of that number has left, and that another one would meet. */
  function hasTrace(name: string): boolean {
    const left = [`Pod/${name}-0`, `PersistentVolumeClaim/data-${name}-0`];
    return (world?.kubernetes.objects() ?? []).some(({ kind, metadata }) => left.includes(`${kind}/${metadata.name}`));
  }

  function judge(commit: Commit): void {
    const { actor, before, after, verb } = commit;
    if (before?.kind === 'EtcdCluster' && size(before) === 0) parkedAt = now();
    if (actor !== operator || before === undefined || isRecovering()) return;
    const isDeleted =
      before.metadata.deletionTimestamp === undefined &&
      (verb === 'delete' || after?.metadata.deletionTimestamp !== undefined);
    const row = rowOf(before);
    if (before.kind === 'StatefulSet') stopped(before, after, isDeleted, row);
    if (before.kind === 'PersistentVolumeClaim' && isDeleted && row !== undefined && owner() !== undefined) {
      unsafe.add(`${before.metadata.name} is deleted, and its member is listed`);
    }
    if (before.kind === 'PersistentVolumeClaim' && isDeleted && owner() !== undefined && isDoubtful(before)) {
      unsafe.add(`${before.metadata.name} is deleted, and its data may be what somebody needs`);
    }
    if (before.kind === 'Pod' && isDeleted) disrupted(before, row);
  }

  /** Its member was called corrupt, or one is that is still there. */
  function isDoubtful({ metadata }: KubeObject): boolean {
    const own = [...disks].filter(({ memberId }) =>
      metadata.annotations?.[holdsAnnotation]?.endsWith(`/${BigInt(memberId).toString(16)}`),
    );
    return (
      own.some(({ flaw }) => flaw !== undefined) || (latest()?.alarms ?? []).some(({ alarm }) => alarm === 'CORRUPT')
    );
  }

  function rowOf({ metadata }: KubeObject): MemberRow | undefined {
    const name = metadata.labels?.[memberLabel];
    return [...(latest()?.members.values() ?? [])].find((candidate) => nameIn(candidate) === name);
  }

  /** Somebody has asked for it to go on without a majority. */
  function isRecovering(): boolean {
    return owner()?.metadata.annotations?.[recoverAnnotation] !== undefined;
  }

  /** The custom resource, where it is not on its way out. */
  function owner(): KubeObject | undefined {
    return world?.kubernetes
      .objects()
      .find(({ kind, metadata }) => kind === 'EtcdCluster' && metadata.deletionTimestamp === undefined);
  }

  const size = (object: KubeObject | undefined): number =>
    (object?.spec as { readonly replicas?: number } | undefined)?.replicas ?? 1;

  function stopped(
    before: KubeObject,
    after: KubeObject | undefined,
    isDeleted: boolean,
    row: MemberRow | undefined,
  ): void {
    const isParked = size(owner()) === 0 || now() - parkedAt < lookMs;
    const stops = isDeleted || (size(after) === 0 && size(before) > 0);
    if (stops && row !== undefined && owner() !== undefined && !isParked) {
      unsafe.add(`${before.metadata.name} is stopped, and is still a member`);
    }
  }

  function disrupted(pod: KubeObject, row: MemberRow | undefined): void {
    const voters = latest()?.voters ?? [];
    if (row === undefined || row.isLearner || voters.length < 3 || !isUp(row.id)) return;
    const others = voters.filter(({ id }) => id !== row.id && isUp(id)).length;
    if (others <= voters.length / 2) {
      unsafe.add(`${pod.metadata.name} is deleted, which leaves ${others} of ${voters.length}`);
    }
    const away = voters.filter((voter) => voter.id !== row.id && !isPodReady(`${nameIn(voter)}-0`)).map(nameIn);
    if (away.length > 0 && isReady(pod)) {
      unsafe.add(`${pod.metadata.name} is deleted while ${away.join(', ')} is not ready`);
    }
    const leads = [...processes.all].some((member) => member.id === row.id && member.role === 'leader');
    if (leads) unsafe.add(`${pod.metadata.name} is deleted while it leads`);
  }

  function isPodReady(name: string): boolean {
    const pod = world?.kubernetes.objects().find(({ kind, metadata }) => kind === 'Pod' && metadata.name === name);
    return pod !== undefined && pod.metadata.deletionTimestamp === undefined && isReady(pod);
  }

  /** Everybody who has applied the same has the same. */
  function differing(): string[] {
    const held = [...processes.all].map((member) => [member.state.applied, hashOf(member)] as const);
    const differ = held.some(([applied, hash]) => held.some((other) => other[0] === applied && other[1] !== hash));
    return differ ? ['members that have applied the same do not hold the same'] : [];
  }

  return {
    latest,
    guard(of) {
      world = of;
      unsafe.clear();
      membership.clear();
      of.kubernetes.onCommit(judge);
      return () => ({ membership: [...membership, ...differing()], unsafe: [...unsafe] });
    },
  };
}
