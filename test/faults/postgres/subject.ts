/** PostgresCluster as the harness sees it: its members' own word on how whole it is, its clients, its accidents. */
import type { KubeObject } from '../../../src/api/object.ts';
import { postgresKind } from '../../../src/engines/postgres/kind/schema.ts';
import { holdsAnnotation } from '../../../src/engines/postgres/names.ts';
import { addressOf, podComplaints, podsOf, revisionOfSet, statusComplaints } from '../readiness.ts';
import type { ProcessFault, SimulatedWorld, Subject, SubjectKit } from '../subject.ts';
import { postgresDatabase } from './backup.ts';
import { simulatedPostgres } from './images.ts';
import { openSimulatedLedger } from './ledger.ts';
import { parametersIn } from './parameters.ts';
import type { Patroni } from './patroni.ts';
import type { Processes } from './processes.ts';
import type { Json } from './store.ts';
import { createWatch, type Watch } from './watch.ts';

const component = 'member';

export function postgresKit(): SubjectKit {
  const { images, processes, join } = simulatedPostgres();
  return { images, join, subject: subjectOf(processes, createWatch(processes)), database: postgresDatabase(processes) };
}

function subjectOf(processes: Processes, watch: Watch): Subject {
  const primaryOf = (world: SimulatedWorld): string | undefined =>
    [...podsOf(world, component)].find(([, pod]) => {
      const member = processes.at(addressOf(pod));
      return member?.isUp === true && member.hasLock && member.isPrimary;
    })?.[0];
  return {
    resource: postgresKind.resource,
    primary: primaryOf,
    contents() {
      const rows = watch.primary()?.data.contents.rows;
      return rows === undefined ? undefined : new Map(rows);
    },
    complaints: (world, cluster) => [...statusComplaints(cluster), ...ofMembers(world, cluster, processes)],
    openLedger: (world) => openSimulatedLedger(world, processes),
    guard: (world) => watch.guard(world),
    afflict(world, fault) {
      const name = fault.member === 'primary' ? primaryOf(world) : `${world.cluster}-${fault.member}-0`;
      const pod = name === undefined ? undefined : podsOf(world, component).get(name);
      if (pod !== undefined) afflict(world, processes.at(addressOf(pod)), pod, fault);
    },
  };
}

/** As many members as are wanted, one of them primary, every other one streaming from it, commits waiting for as many as is asked. */
function ofMembers(world: SimulatedWorld, cluster: KubeObject, processes: Processes): string[] {
  const { instances = 3, synchronous } = (cluster.spec ?? {}) as {
    readonly instances?: number;
    readonly synchronous?: { readonly count?: number };
  };
  const pods = podsOf(world, component);
  if (instances === 0) return podComplaints(pods, [], () => undefined);
  const members = [...pods].flatMap(([name, pod]): [string, Patroni | undefined][] => [
    [name, processes.at(addressOf(pod))],
  ]);
  const primaries = members.filter(([, member]) => member?.isPrimary === true && member.hasLock);
  const primary = primaries[0]?.[1]?.server;
  const waitsFor = primary?.synchronous.count ?? 0;
  const wanted = Math.min(synchronous?.count ?? 1, instances - 1);
  return [
    ...(pods.size === instances ? [] : [`${pods.size} members`]),
    ...(primaries.length === 1 ? [] : [`${primaries.length} primaries`]),
    ...(waitsFor === wanted ? [] : [`commits wait for ${waitsFor} standbys`]),
    ...podComplaints(pods, [...pods.keys()], (pod) => revisionOfSet(world, pod.replace(/-0$/, ''))),
    ...(primary?.data.contents.databases.has('app') === true ? [] : ['there is no database app']),
    ...members.flatMap(([name, member]) => ofMember(world, cluster, name, member)),
  ];
}

function ofMember(world: SimulatedWorld, { spec }: KubeObject, name: string, member: Patroni | undefined): string[] {
  const server = member?.server;
  if (member === undefined || server?.isUp !== true) return [`${name} does not run`];
  const role = world.kubernetes.objects().find(({ kind, metadata }) => kind === 'Pod' && metadata.name === name)
    ?.metadata.labels?.['clusterwright.dev/role'];
  const claim = world.kubernetes
    .objects()
    .find(({ kind, metadata }) => kind === 'PersistentVolumeClaim' && metadata.name === `data-${name}`);
  const { parameters = {}, version } = (spec ?? {}) as Json & { readonly parameters?: Json; readonly version?: string };
  const inForce = parametersIn(member.config);
  const isOther = ([setting, value]: [string, unknown]): boolean => inForce[setting] !== value;
  return [
    ...(String(server.data.major) === version ? [] : [`${name} has data of PostgreSQL ${server.data.major}`]),
    ...(server.role === 'primary' || server.isStreaming ? [] : [`${name} does not stream`]),
    ...(Object.keys(member.pending).length === 0 ? [] : [`${name} has to restart`]),
    ...(Object.entries(parameters).some(isOther) ? [`${name} has other settings`] : []),
    ...(role === (server.role === 'primary' ? 'primary' : 'replica') ? [] : [`${name} is labelled ${role}`]),
    ...(claim?.metadata.annotations?.[holdsAnnotation] === server.data.systemId
      ? []
      : [`${name}'s claim is not marked`]),
  ];
}

function afflict(world: SimulatedWorld, member: Patroni | undefined, pod: KubeObject, fault: ProcessFault): void {
  const { kubernetes, namespace, network, time } = world;
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
      return;
    default:
      fault.do satisfies never;
  }
}
