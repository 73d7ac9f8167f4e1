/** What the views of the nodes say together: who serves which slots, whether they agree, and who is none of ours. */
import type { ClusterNode } from '../../client/cluster-nodes.ts';
import { ownersText } from '../../client/slot-owners.ts';
import { allSlots, areSameSlots, differenceOf, type SlotSet, unionOf } from '../../kind/slots.ts';
import { nodeAnnotation } from '../../names.ts';
import { placeOf } from '../../resources/shards/names.ts';
import type { ShardNode } from './observed.ts';
import type { ShardsSituation } from './situation.ts';

/** A node in a handshake has an id that is made up: it is nobody yet. */
export function knownIn({ view }: ShardNode): readonly ClusterNode[] {
  return view.filter(({ isHandshake }) => !isHandshake);
}

/** Every node that answers says the same of who owns which slots. */
export function doViewsAgree(nodes: readonly ShardNode[]): boolean {
  return new Set(nodes.map(({ view }) => ownersText(view))).size <= 1;
}

/** What no node that answers knows an owner of. */
export function unownedSlots(nodes: readonly ShardNode[]): SlotSet {
  // The first view mostly has all, and views together are as many lines as there are nodes, squared.
  let left = allSlots;
  for (const node of nodes) {
    for (const { slots } of knownIn(node)) if (slots.length > 0) left = differenceOf(left, slots);
    if (left.length === 0) break;
  }
  return left;
}

/** What nodes that answer serve. */
export function servedSlots(nodes: readonly ShardNode[]): SlotSet {
  return unionOf(...nodes.map(({ self }) => (self.role === 'primary' ? self.slots : [])));
}

export function areAllServed(nodes: readonly ShardNode[]): boolean {
  return areSameSlots(servedSlots(nodes), allSlots);
}

/** A node whom another one knows, and who does not answer. */
export interface AbsentNode {
  readonly id: string;
  /** By the DNS name that it has announced; undefined where that is none of this cluster. */
  readonly pod?: string;
  readonly slots: SlotSet;
  /** Everybody who knows it says so. */
  readonly isReplica: boolean;
  /** Nobody has a link to it. */
  readonly isUnlinked: boolean;
}

export function absentNodes(situation: ShardsSituation): AbsentNode[] {
  const { nodes, children } = situation;
  const present = new Set(nodes.map(({ id }) => id));
  const seen = new Map<string, AbsentNode>();
  for (const node of nodes) {
    for (const { id, hostname, slots, role, linkUp, isFailed } of knownIn(node)) {
      if (present.has(id)) continue;
      const before = seen.get(id);
      const pod = podAt(situation, hostname) ?? before?.pod ?? recordedPod(children, id);
      seen.set(id, {
        id,
        ...(pod === undefined ? {} : { pod }),
        slots: unionOf(before?.slots ?? [], slots),
        isReplica: (before?.isReplica ?? true) && role === 'replica',
        isUnlinked: (before?.isUnlinked ?? true) && (isFailed || !linkUp),
      });
    }
  }
  return [...seen.values()];
}

/** The pod that a DNS name is of; undefined where it is not of this cluster, in this namespace. */
function podAt({ cluster }: ShardsSituation, hostname: string | undefined): string | undefined {
  const [pod = '', service, namespace] = hostname?.split('.') ?? [];
  const { name, namespace: own } = cluster.metadata;
  return service === name && namespace === own && placeOf(name, pod) !== undefined ? pod : undefined;
}

function recordedPod({ claims }: ShardsSituation['children'], id: string): string | undefined {
  const claim = claims.find(({ metadata }) => metadata.annotations?.[nodeAnnotation] === id);
  return claim?.metadata.name.replace(/^data-/, '');
}

/** It knows nobody, and has neither slots nor keys: it has never been anything. */
export function isBlank({ self, empty, view }: ShardNode): boolean {
  return self.role === 'primary' && self.slots.length === 0 && empty && view.length === 1;
}

/** Views do not change, and each is searched for every other node. */
const indexes = new WeakMap<readonly ClusterNode[], ReadonlyMap<string, ClusterNode>>();

/** What a node says of another one. */
function seenBy({ view }: ShardNode, id: string): ClusterNode | undefined {
  const index = indexes.get(view) ?? new Map(view.map((node) => [node.id, node]));
  indexes.set(view, index);
  return index.get(id);
}

/** They have a link to each other, at the present address. */
export function isLinked(from: ShardNode, to: ShardNode): boolean {
  const seen = seenBy(from, to.id);
  return seen?.linkUp === true && seen.address === to.address && !seen.isNoaddr && !seen.isFailed;
}

/** Slots that move from or to a primary. A replica of Valkey that was away when a move ended may keep its mark; that means nothing there. */
export function openSlots({ role, migrating, importing }: ClusterNode): readonly number[] {
  return role === 'primary' ? [...migrating, ...importing].map(({ slot }) => slot) : [];
}
