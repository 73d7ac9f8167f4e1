/**
 * What no step of a major upgrade may bring about: members that stop for an upgrade that was never rehearsed, a primary that stops while
 * others may be elected, pg_upgrade on data of which there is no equal copy, and another system identifier beside servers that run.
 */
import type { KubeObject } from '../../../../src/api/object.ts';
import { memberLabel } from '../../../../src/resources/metadata.ts';
import type { SimulatedWorld } from '../../subject.ts';
import type { Processes } from '../processes.ts';
import type { Server } from '../server.ts';
import { checkpointOf, type Data, dataOn } from '../wal.ts';

export interface UpgradeWatch {
  /** The data of a volume has become this. */
  done(data: Data): void;
  /** A write of the operator. */
  judge(world: SimulatedWorld, before: KubeObject | undefined, after: KubeObject | undefined): void;
}

export function watchUpgrades(
  processes: Processes,
  { servers, unsafe }: { readonly servers: () => readonly Server[]; readonly unsafe: Set<string> },
): UpgradeWatch {
  const upgraded = new Set<string>();
  let isRehearsed = false;
  processes.onRehearsed = () => {
    isRehearsed = true;
  };

  function parked(world: SimulatedWorld, before: KubeObject, after: KubeObject): void {
    const replicasOf = ({ spec }: KubeObject) => (spec as { readonly replicas?: number } | undefined)?.replicas;
    const { instances } = (ownerIn(world)?.spec ?? {}) as { readonly instances?: number };
    const isTold = replicasOf(before) !== 0 && replicasOf(after) === 0;
    if (!isTold || after.metadata.labels?.[memberLabel] === undefined || instances === 0) return;
    const { name } = after.metadata;
    if (!isRehearsed) unsafe.add(`${name} is stopped for another version, and that was never rehearsed`);
    const all = [...processes.all];
    const member = all.find((one) => one.name === `${name}-0`);
    const awake = all.filter((one) => one.isUp && !one.isPaused).map((one) => one.name);
    if (member?.isPrimary === true && member.hasLock && awake.length > 0)
      unsafe.add(`${name} is stopped while it is primary, and ${awake.join(', ')} may be elected`);
  }

  /** Until the data has been changed, an equal copy of it is the way back. */
  function begun(world: SimulatedWorld, job: KubeObject): void {
    const running = servers().map(({ name }) => name);
    if (running.length > 0) unsafe.add(`pg_upgrade is to run while ${running.join(', ')} runs`);
    const own = claimOf(job);
    const volumes = new Map(
      claimsIn(world).map((name) => [name, dataOn(world.kubernetes.volumeOf(world.namespace, name))]),
    );
    const data = volumes.get(own);
    if (data === undefined || data.isControlAside || data.twin !== undefined || upgraded.has(data.systemId)) return;
    if (data.control !== 'shut down')
      unsafe.add(`pg_upgrade is to run on data that was not shut down (${data.control})`);
    const others = [...volumes].filter(([name]) => name !== own);
    if (others.length > 0 && !others.some(([, other]) => other !== undefined && isEqual(other, data)))
      unsafe.add(`pg_upgrade is to run on ${own}, and no other volume has the same last checkpoint`);
  }

  function renamed(before: KubeObject, after: KubeObject): void {
    const [from, to] = [before, after].map(({ metadata }) => metadata.annotations?.initialize);
    if (from === undefined || from === to) return;
    const running = servers().map(({ name }) => name);
    if (running.length > 0) unsafe.add(`the system identifier is changed while ${running.join(', ')} runs`);
    if (to === undefined || !upgraded.has(to))
      unsafe.add(`the system identifier becomes ${to}, which no upgraded data has`);
  }

  return {
    done: ({ systemId }) => void upgraded.add(systemId),
    judge(world, before, after) {
      if (after === undefined) return;
      const { name } = after.metadata;
      if (before === undefined && after.kind === 'Job' && name === `${world.cluster}-upgrade`) begun(world, after);
      if (before === undefined) return;
      if (after.kind === 'StatefulSet') parked(world, before, after);
      if (after.kind === 'ConfigMap' && name === `${world.cluster}-config`) renamed(before, after);
    },
  };
}

function isEqual(one: Data, other: Data): boolean {
  return (
    one.control.startsWith('shut down') &&
    one.systemId === other.systemId &&
    checkpointOf(one) === checkpointOf(other) &&
    one.wal[checkpointOf(one) - 1] === other.wal[checkpointOf(other) - 1]
  );
}

function ownerIn({ kubernetes }: SimulatedWorld): KubeObject | undefined {
  return kubernetes.objects().find(({ kind }) => kind === 'PostgresCluster');
}

/** Of members: those that nobody has retired. */
function claimsIn({ kubernetes }: SimulatedWorld): readonly string[] {
  return kubernetes
    .objects()
    .filter(
      ({ kind, metadata }) =>
        kind === 'PersistentVolumeClaim' &&
        metadata.labels?.[memberLabel] !== undefined &&
        metadata.annotations?.['clusterwright.dev/retired'] === undefined,
    )
    .map(({ metadata }) => metadata.name);
}

function claimOf(job: KubeObject): string {
  const { template } = (job.spec ?? {}) as { readonly template?: { readonly spec?: PodSpec } };
  return (
    template?.spec?.volumes?.flatMap(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName ?? [])[0] ?? ''
  );
}

interface PodSpec {
  readonly volumes?: readonly { readonly persistentVolumeClaim?: { readonly claimName?: string } }[];
}
