/** EtcdCluster as the harness sees it: its members' own word on how whole it is, its clients, its accidents. */

import type { KubeObject } from '../../../src/api/object.ts';
import { etcdKind } from '../../../src/engines/etcd/kind/schema.ts';
import { holdsAnnotation } from '../../../src/engines/etcd/names.ts';
import { addressOf, podComplaints, podsOf, revisionOfSet, statusComplaints } from '../readiness.ts';
import type { ProcessFault, SimulatedWorld, Subject, SubjectKit } from '../subject.ts';
import { etcdDatabase } from './backup.ts';
import { simulatedEtcd } from './images.ts';
import { openSimulatedLedger } from './ledger.ts';
import { rootPasswords } from './passwords.ts';
import type { Processes } from './processes.ts';
import type { StateMachine } from './state-machine.ts';
import { createWatch, nameIn, type Watch } from './watch.ts';

const component = 'member';

export function etcdKit(): SubjectKit {
  const { images, processes } = simulatedEtcd();
  const subject = subjectOf(processes, createWatch(processes));
  return { images, subject, database: etcdDatabase(processes) };
}

function subjectOf(processes: Processes, watch: Watch): Subject {
  const leaderOf = (world: SimulatedWorld): string | undefined => {
    const leading = [...podsOf(world, component)].filter(
      ([, pod]) => processes.at(addressOf(pod))?.isCurrent === true && processes.at(addressOf(pod))?.role === 'leader',
    );
    return leading[0]?.[0];
  };
  return {
    resource: etcdKind.resource,
    primary: leaderOf,
    contents() {
      const pairs = watch.latest()?.pairs;
      return pairs === undefined ? undefined : new Map([...pairs].map(([key, { value }]) => [key, value]));
    },
    complaints: (world, cluster) => [...statusComplaints(cluster), ...ofMembers(world, cluster, processes, watch)],
    openLedger: (world) => openSimulatedLedger(world),
    guard: (world) => watch.guard(world),
    corruption: {
      spoil(world, pod) {
        const member = processes.at(addressOf(podsOf(world, component).get(pod)));
        if (member === undefined) throw new Error(`${pod} does not run`);
        member.disk.flaw = pod;
      },
      /** Somebody drops the history, and the leader compares what is left. */
      compare() {
        const leader = [...processes.all].find(({ role, isCurrent }) => role === 'leader' && isCurrent);
        void leader?.propose({ type: 'compact', revision: leader.state.revision });
      },
    },
    afflict(world, fault) {
      const name = fault.member === 'primary' ? leaderOf(world) : `${world.cluster}-${fault.member}-0`;
      const pod = name === undefined ? undefined : podsOf(world, component).get(name);
      if (pod !== undefined) afflict(world, processes, pod, fault);
    },
  };
}

/** As many voters as are wanted, each with its pod, its mark, and everything that was agreed on. */
function ofMembers(world: SimulatedWorld, cluster: KubeObject, processes: Processes, watch: Watch): string[] {
  const { replicas = 3 } = (cluster.spec ?? {}) as { readonly replicas?: number };
  const pods = podsOf(world, component);
  if (replicas === 0) return podComplaints(pods, [], () => undefined);
  const state = watch.latest();
  const members = [...(state?.members.values() ?? [])];
  const learners = members.filter(({ isLearner }) => isLearner);
  const names = members.map((row) => `${nameIn(row)}-0`);
  const { members: told = [] } = (cluster.status ?? {}) as { readonly members?: readonly { readonly name: string }[] };
  const isTold = names.every((name) => told.some((member) => member.name === name)) && told.length === names.length;
  return [
    ...(isTold ? [] : ['the status lists other members']),
    ...(members.length === replicas ? [] : [`${members.length} members`]),
    ...strangers(world, cluster, state),
    ...(state?.downgradeTarget === undefined ? [] : ['a downgrade is under way']),
    ...learners.map((row) => `${nameIn(row)} has no vote`),
    ...podComplaints(pods, names, (pod) => revisionOfSet(world, pod.replace(/-0$/, ''))),
    ...members.flatMap((row) => {
      const member = processes.at(addressOf(pods.get(`${nameIn(row)}-0`)));
      if (member?.id !== row.id) return [`${nameIn(row)} does not run`];
      if (!member.isCurrent) return [`${nameIn(row)} knows no leader`];
      const mark = [member.disk.clusterId, row.id].map((id) => BigInt(id).toString(16)).join('/');
      const claim = world.kubernetes
        .objects()
        .find(({ kind, metadata }) => kind === 'PersistentVolumeClaim' && metadata.name === `data-${nameIn(row)}-0`);
      return claim?.metadata.annotations?.[holdsAnnotation] === mark ? [] : [`${nameIn(row)}'s claim is not marked`];
    }),
  ];
}

/** Whether etcd asks who is asking, and for the present password, as the spec says. */
function strangers(world: SimulatedWorld, { spec }: KubeObject, state: StateMachine | undefined): string[] {
  const { auth } = (spec ?? {}) as { readonly auth?: { readonly enabled?: boolean } };
  const wanted = auth?.enabled === true;
  if (state !== undefined && state.isAuthenticated !== wanted) return ['who asks is not what the spec says'];
  const [present] = rootPasswords(world);
  return wanted && state?.users.get('root')?.password !== present ? ['root has another password'] : [];
}

function afflict(world: SimulatedWorld, processes: Processes, pod: KubeObject, fault: ProcessFault): void {
  const { kubernetes, namespace, network, time } = world;
  const member = processes.at(addressOf(pod));
  const forMs = fault.forMs ?? 10_000;
  switch (fault.do) {
    case 'kill':
      if (member !== undefined) kubernetes.killContainer(namespace, pod.metadata.name);
      return;
    case 'freeze':
      member?.freeze();
      time.after(forMs, () => member?.thaw());
      return;
    case 'isolate':
      time.after(forMs, network.cut([addressOf(pod)], 'all'));
      return;
    case 'fillDisk':
      // A process whose disk is full ends, and ends again: see the head of `images.ts`.
      return;
    default:
      fault.do satisfies never;
  }
}
