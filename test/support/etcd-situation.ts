/**
 * Situations of an etcd cluster, for tables of stories.
 *
 * A story says in what the world differs from a cluster `db` that is whole: three members that vote, number 0 leads,
 * every child as the builders want it, every volume marked as its member's. Member i has the number i + 1 in etcd and
 * the address 10.0.0.i; the cluster's own number is 1000.
 */
import type { Cluster } from '../../src/api/cluster.ts';
import type { KubeObject, ObjectMeta } from '../../src/api/object.ts';
import type { ClusterStatus } from '../../src/api/status.ts';
import { validateCluster } from '../../src/api/validate.ts';
import { type EtcdSpec, type EtcdSpecInput, etcdKind } from '../../src/engines/etcd/kind/schema.ts';
import {
  claimName,
  etcdNames,
  holdsAnnotation,
  homeAnnotation,
  memberName,
  peerUrl,
  podName,
  recoverAnnotation,
  retiredAnnotation,
} from '../../src/engines/etcd/names.ts';
import type {
  Agreement,
  Alarm,
  EtcdObserved,
  ListedMember,
  LiveMember,
} from '../../src/engines/etcd/observe/observed.ts';
import { holds } from '../../src/engines/etcd/observe/situation.ts';
import { component, etcdChildren } from '../../src/engines/etcd/resources/resources.ts';
import { forming, joining, type Roster, resuming, type Start } from '../../src/engines/etcd/resources/roster.ts';
import { fingerprinted } from '../../src/plan/difference.ts';
import { type Children, childrenOf } from '../../src/resources/children.ts';
import { memberLabel, selectorLabels } from '../../src/resources/metadata.ts';
import { stored } from '../../src/testing/stored-object.ts';
import { discoveryFailed } from './etcd-last-line.ts';

/**
 * `silent`: the pod runs and does not answer. `gone`: there is no pod. `unstarted`: it is listed, without a vote, and has
 * never run. `expected`: one of those that form the cluster, and it has never run.
 * `copying`: it runs and has no vote. `leaderless`: it answers and knows no leader. `unlisted`: etcd knows it no more.
 */
export type MemberChange =
  | 'silent'
  | 'gone'
  | 'unstarted'
  | 'expected'
  | 'copying'
  | 'leaderless'
  | 'unlisted'
  | Partial<LiveMember>;
/** `blank`: it has no mark. `retired`: its member was removed. `going`: somebody has deleted it, and its pod is there. */
export type ClaimChange = 'none' | 'blank' | 'retired' | 'foreign' | 'going';
/** `started`: its process has begun, and the kubelet has seen it. */
export type PodChange = 'outdated' | 'unready' | 'started' | Plight;
export interface Plight {
  /** Beyond its grace. */
  readonly terminatingForMs?: number;
  readonly unschedulableForMs?: number;
  /** Why it cannot be scheduled. */
  readonly message?: string;
  readonly crashingForMs?: number;
  readonly restarts?: number;
  /** Of the last crash. */
  readonly reason?: string;
  /** The error that etcd names when it ends; `log`: the end of its log, as it is. */
  readonly lastWords?: string;
  readonly log?: string;
  /** The end of the log of a process that has ended after that one. */
  readonly since?: string;
  /** The process after that runs, as far as the kubelet has told. */
  readonly isRunning?: true;
}

type ByNumber<Change> = Readonly<Record<number, Change>> & { readonly all?: Change };

export interface Story {
  readonly spec?: EtcdSpecInput;
  /** The spec that the children are from, where it has changed since. */
  readonly before?: EtcdSpecInput;
  /** The record of whom members trust that the objects have. */
  readonly cas?: string;
  /** Bytes that the objects name, where it is not that of the spec. */
  readonly quota?: number;
  readonly metadata?: Partial<ObjectMeta>;
  readonly status?: ClusterStatus;
  /** Numbers of the members. By default as many as the spec that the children are from has. */
  readonly numbers?: readonly number[];
  /** Number of the leader, `nobody` where none is known. Default: the first. */
  readonly leader?: number | 'nobody';
  readonly members?: ByNumber<MemberChange>;
  readonly pods?: ByNumber<PodChange>;
  readonly claims?: ByNumber<ClaimChange>;
  /**
   * How each member is to start, as it is written down. By default it resumes. `chosen`: the request to go on with it is
   * being carried out; `alone`: it has been told.
   */
  readonly starts?: ByNumber<'forms' | 'joins' | 'chosen' | 'alone' | 'unwritten'>;
  readonly alarms?: readonly Alarm[];
  /** Last word on the children. */
  readonly children?: (objects: readonly KubeObject[]) => readonly KubeObject[];
  readonly observed?: Partial<EtcdObserved>;
  readonly agreed?: Partial<Agreement>;
  /** That the members' templates name. */
  readonly authorities?: string;
}

export interface World {
  readonly cluster: Cluster<EtcdSpec>;
  readonly children: Children;
  readonly observed: EtcdObserved;
}

export const now = Date.parse('2030-06-01T12:00:00Z');
export const clusterId = '1000';
export const memberAddress = (number: number): string => `10.0.0.${number}`;
export const memberId = (number: number): string => String(number + 1);

/** A valid, defaulted cluster `db`. Throws where the spec is not valid. */
export function etcdCluster(
  spec: EtcdSpecInput = {},
  metadata: Partial<ObjectMeta> = {},
  status?: ClusterStatus,
): Cluster<EtcdSpec> {
  const verdict = validateCluster(etcdKind, {
    apiVersion: 'clusterwright.dev/v1alpha1',
    kind: 'EtcdCluster',
    metadata: { name: 'db', namespace: 'apps', uid: 'uid-db', generation: 1, resourceVersion: '1', ...metadata },
    spec,
  });
  if (!verdict.ok) throw new Error(JSON.stringify(verdict.violations));
  return { ...(verdict.cluster as Cluster<EtcdSpec>), ...(status === undefined ? {} : { status }) };
}

export function etcdWorld(story: Story = {}): World {
  const initialized: ClusterStatus = { initialized: true };
  const cluster = etcdCluster(story.spec, story.metadata, story.status ?? initialized);
  const built = story.before === undefined ? cluster : etcdCluster(story.before);
  const numbers = story.numbers ?? Array.from({ length: built.spec.replicas }, (_, number) => number);
  const roster = rosterOf(story, built, numbers);
  const objects = [
    ...etcdChildren(
      built,
      roster,
      () => story.authorities,
      undefined,
      () => story.cas,
      story.quota,
    ).map(({ object }) => child(object)),
    ...numbers.flatMap((number) => podOf(story, built, number)),
    ...numbers.flatMap((number) => claimOf(story, built, number)),
  ];
  const live = numbers.flatMap((number) => liveOf(story, built, numbers, number));
  const agreed: Agreement = {
    clusterId,
    members: numbers.flatMap((number) => listed(story, built, number)),
    alarms: story.alarms ?? [],
    isAuthenticated: built.spec.auth.enabled,
    ...story.agreed,
  };
  const hasLeader = story.leader !== 'nobody';
  return {
    cluster,
    children: childrenOf(story.children?.(objects) ?? objects),
    observed: { members: live, at: now, ...(hasLeader ? { agreed } : {}), ...story.observed },
  };
}

function changeOf<Change>(changes: ByNumber<Change> | undefined, number: number): Change | undefined {
  return changes?.[number] ?? changes?.all;
}

function child(object: KubeObject): KubeObject {
  const made = stored(fingerprinted(object));
  return object.kind === 'StatefulSet'
    ? { ...made, status: { observedGeneration: 1, replicas: 1, readyReplicas: 1, updateRevision: 'new' } }
    : made;
}

function rosterOf(story: Story, cluster: Cluster<EtcdSpec>, numbers: readonly number[]): Roster {
  return new Map(
    numbers.flatMap((number): [number, Start][] => {
      const start = changeOf(story.starts, number);
      if (start === 'unwritten') return [];
      if (start === 'forms') return [[number, forming(cluster, numbers.length).get(number) as Start]];
      if (start === 'alone' || start === 'chosen') {
        const request = story.metadata?.annotations?.[recoverAnnotation];
        const alone = start === 'alone' ? ({ forceNewCluster: true } as const) : {};
        return [[number, { ...resuming(cluster, number), ...alone, ...(request === undefined ? {} : { request }) }]];
      }
      return [[number, start === 'joins' ? joining(cluster, numbers) : resuming(cluster, number)]];
    }),
  );
}

function stateOf({ isRunning, since }: Plight): object {
  if (since !== undefined) return { terminated: { reason: 'Error', exitCode: 137, message: since } };
  return isRunning === true ? { running: {} } : { waiting: { reason: 'CrashLoopBackOff' } };
}

function logOf({ lastWords, log = '' }: Plight): string {
  return lastWords === undefined ? log : discoveryFailed(lastWords);
}

function podOf(story: Story, cluster: Cluster<EtcdSpec>, number: number): KubeObject[] {
  if (changeOf(story.members, number) === 'gone' || changeOf(story.starts, number) === 'unwritten') return [];
  const change = changeOf(story.pods, number);
  const { name } = cluster.metadata;
  const ago = (ms: number): string => new Date(now - ms).toISOString();
  const condition = (type: string, isTrue: boolean, sinceMs = 3_600_000, message?: string): object => ({
    type,
    status: isTrue ? 'True' : 'False',
    lastTransitionTime: ago(sinceMs),
    ...(message === undefined ? {} : { message }),
  });
  const plight: Plight = typeof change === 'object' ? change : {};
  const { terminatingForMs, unschedulableForMs, crashingForMs, message = '0/3 nodes are available' } = plight;
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: podName(name, number),
      namespace: cluster.metadata.namespace,
      labels: {
        ...selectorLabels(cluster, { engine: 'etcd', component }),
        [memberLabel]: memberName(name, number),
        'app.kubernetes.io/version': cluster.spec.version,
        'controller-revision-hash': change === 'outdated' ? 'old' : 'new',
      },
      ownerReferences: [
        {
          apiVersion: 'apps/v1',
          kind: 'StatefulSet',
          name: memberName(name, number),
          uid: `uid-of-${memberName(name, number)}`,
          controller: true,
        },
      ],
      ...(terminatingForMs === undefined ? {} : { deletionTimestamp: ago(terminatingForMs) }),
    },
    spec: { nodeName: `node-${number}` },
    status:
      unschedulableForMs === undefined
        ? {
            phase: 'Running',
            podIP: memberAddress(number),
            conditions: [
              condition('PodScheduled', true),
              condition('Ready', change !== 'unready' && crashingForMs === undefined, crashingForMs),
            ],
            ...(change === 'started' ? { containerStatuses: [{ name: 'etcd', restartCount: 0, started: true }] } : {}),
            ...(crashingForMs === undefined
              ? {}
              : {
                  containerStatuses: [
                    {
                      name: 'etcd',
                      restartCount: plight.restarts ?? 9,
                      state: stateOf(plight),
                      lastState: {
                        terminated: { reason: plight.reason ?? 'Error', exitCode: 1, message: logOf(plight) },
                      },
                    },
                  ],
                }),
          }
        : {
            phase: 'Pending',
            conditions: [condition('PodScheduled', false, unschedulableForMs, message)],
          },
  };
  return [stored(pod)];
}

function claimOf(story: Story, cluster: Cluster<EtcdSpec>, number: number): KubeObject[] {
  const change = changeOf(story.claims, number);
  if (change === 'none') return [];
  const { name, namespace } = cluster.metadata;
  const mark = { [holdsAnnotation]: holds(change === 'foreign' ? '2000' : clusterId, memberId(number)) };
  const annotations = {
    ...(change === 'blank' ? {} : { ...mark, [homeAnnotation]: namespace ?? '' }),
    ...(change === 'retired' ? { [retiredAnnotation]: 'x' } : {}),
  };
  return [
    stored({
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: {
        name: claimName(name, number),
        namespace,
        labels: {
          ...selectorLabels(cluster, { engine: 'etcd', component }),
          [memberLabel]: memberName(name, number),
        },
        annotations,
        ...(change === 'going' ? { deletionTimestamp: new Date(now).toISOString() } : {}),
      },
      spec: { resources: { requests: { storage: cluster.spec.storage.size } } },
      status: { phase: 'Bound', capacity: { storage: cluster.spec.storage.size } },
    }),
  ];
}

const leaderOf = (story: Story, numbers: readonly number[]): number | undefined =>
  story.leader === 'nobody' ? undefined : (story.leader ?? numbers[0]);

function liveOf(
  story: Story,
  cluster: Cluster<EtcdSpec>,
  numbers: readonly number[],
  number: number,
): EtcdObserved['members'] {
  const change = changeOf(story.members, number);
  const pod = podName(cluster.metadata.name, number);
  if (change === 'gone' || changeOf(story.starts, number) === 'unwritten') return [];
  if (change === 'silent' || change === 'unstarted' || change === 'expected' || change === 'unlisted') {
    return [{ state: 'silent', pod, why: 'no answer' }];
  }
  const leader = leaderOf(story, numbers);
  const live: LiveMember = {
    state: 'answering',
    pod,
    address: memberAddress(number),
    memberId: memberId(number),
    clusterId,
    ...(leader === undefined || change === 'leaderless' ? {} : { leaderId: memberId(leader) }),
    isLearner: change === 'copying',
    version: cluster.spec.version,
    applied: 100,
    dbSize: 1024 ** 2,
    dbInUse: 1024 ** 2,
    revision: '100',
  };
  return [typeof change === 'object' ? { ...live, ...change } : live];
}

function listed(story: Story, cluster: Cluster<EtcdSpec>, number: number): ListedMember[] {
  const change = changeOf(story.members, number);
  if (change === 'unlisted') return [];
  const unwritten = changeOf(story.starts, number) === 'unwritten';
  return [
    {
      id: memberId(number),
      name: change === 'unstarted' ? '' : memberName(cluster.metadata.name, number),
      hasStarted: change !== 'unstarted' && change !== 'expected' && !(unwritten && change === undefined),
      peerUrls: [peerUrl(cluster, number)],
      isLearner:
        change === 'copying' || change === 'unstarted' || (typeof change === 'object' && change.isLearner === true),
    },
  ];
}

export const rosterName = etcdNames('db').roster;
