/**
 * Who is primary, as the database itself says. Sentinel decides, the node confirms; where the two do not agree yet, the
 * answer is "nobody", and nothing that depends on it is done. Where no sentinel can tell, or they name an address that no pod
 * has, the terms may object: an old primary that nobody has told yet must not win by being the only one that answers.
 */
import { answering, type DataNode, type RedisObserved, type SentinelNode, type SentinelView } from './observed.ts';

export type WatchingSentinel = SentinelNode & { readonly view: SentinelView };

export interface Topology {
  readonly primary?: DataNode;
  /** The primary's address in the newest sentinel view; undefined when no sentinel watches, or equally new views differ. */
  readonly named?: string;
  readonly watching: readonly WatchingSentinel[];
  readonly failingOver: boolean;
}

/**
 * Without the failovers that cannot end: Sentinel waits for the replica that it has promoted, for ever if need be, and
 * here all that it could have promoted are gone.
 */
export function withoutLostFailovers(observed: RedisObserved, podAddresses: ReadonlySet<string>): RedisObserved {
  const told = ({ failingOver, ...view }: SentinelView): SentinelView => ({
    ...view,
    failingOver: failingOver && view.replicas.some(({ address }) => podAddresses.has(address)),
  });
  return {
    ...observed,
    sentinels: observed.sentinels.map((sentinel) =>
      sentinel.state === 'silent' || sentinel.view === undefined
        ? sentinel
        : { ...sentinel, view: told(sentinel.view) },
    ),
  };
}

/** `isSuperseded`: somebody was primary after this node, as far as is recorded; `named`: by the sentinels, at an address that is gone. */
export function topologyOf(
  observed: RedisObserved,
  podAddresses: ReadonlySet<string>,
  isSuperseded: (node: DataNode, named?: string) => boolean,
): Topology {
  const watching = answering(observed.sentinels).filter((s): s is WatchingSentinel => s.view !== undefined);
  const failingOver = watching.some((sentinel) => sentinel.view.failingOver);
  const views = newestViews(watching);
  const claiming = answering(observed.data).filter((node) => node.role === 'primary');
  const named = onlyOne(views) ?? onlyLiving(views, claiming, podAddresses, isSuperseded);
  const primary =
    watching.length === 0
      ? onlyOne(claiming.filter((node) => !isSuperseded(node)))
      : watchedPrimary(answering(observed.data), claiming, named, podAddresses, isSuperseded);
  return {
    watching,
    failingOver,
    ...(named === undefined ? {} : { named }),
    ...(primary === undefined ? {} : { primary }),
  };
}

/** What most of the sentinels with the newest view name; several where as many name each. */
function newestViews(watching: readonly WatchingSentinel[]): readonly string[] {
  const epoch = Math.max(...watching.map((s) => s.view.epoch));
  const newest = watching.filter((s) => s.view.epoch === epoch);
  const votes = new Map<string, number>();
  for (const { view } of newest) votes.set(view.primary, (votes.get(view.primary) ?? 0) + 1);
  const most = Math.max(...votes.values());
  return [...votes].flatMap(([address, count]) => (count === most ? [address] : []));
}

/**
 * Of equally new views, the one that names a primary that takes writes, where no pod has the addresses of the others. A failover
 * makes a view newer, so they come from an operator that ended before it had told every sentinel of a primary's new address.
 */
function onlyLiving(
  views: readonly string[],
  claiming: readonly DataNode[],
  podAddresses: ReadonlySet<string>,
  isSuperseded: (node: DataNode) => boolean,
): string | undefined {
  const living = onlyOne(views.filter((address) => podAddresses.has(address)));
  const node = onlyOne(claiming);
  return node !== undefined && node.address === living && !isSuperseded(node) ? living : undefined;
}

function onlyOne<T>(all: readonly T[]): T | undefined {
  return all.length === 1 ? all[0] : undefined;
}

function watchedPrimary(
  nodes: readonly DataNode[],
  claiming: readonly DataNode[],
  named: string | undefined,
  podAddresses: ReadonlySet<string>,
  isSuperseded: (node: DataNode, named?: string) => boolean,
): DataNode | undefined {
  const confirmed = claiming.find((node) => node.address === named);
  if (confirmed !== undefined) return confirmed;
  const only = onlyOne(claiming);
  if (only === undefined || named === undefined) return undefined;
  // In a hand-over the old primary follows the new one before the sentinels have noticed; after a change of all
  // addresses they name one that nobody has. In both cases nobody but `only` can take writes. But the address that they name may
  // be that of a later primary, whose replicas they are about to choose from: one that was cut off before must not win by coming
  // back in that moment.
  const old = nodes.find((node) => node.address === named);
  if (old?.follows === only.address) return only;
  return !podAddresses.has(named) && !isSuperseded(only, named) ? only : undefined;
}
