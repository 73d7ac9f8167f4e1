/**
 * What a node says of its cluster: the answer to `CLUSTER NODES`, a line for each node that it knows.
 *
 *     ID ADDRESS:PORT@BUSPORT[,HOSTNAME[,NAME=VALUE…]] FLAGS PRIMARY PING PONG EPOCH LINK [SLOTS…]
 *
 * Nothing of it is trusted. What does not read as this is refused as a whole: half a view of who owns the slots is none.
 * Open slots stand in the node's own line only, and only that node is told of its own.
 */
import { shortened } from '../../../api/bounds.ts';
import { isSlot, type SlotRange, type SlotSet, slotSet } from '../kind/slots.ts';
import { ProtocolError, type Reply } from './resp.ts';

export interface ClusterNode {
  /** Forty hexadecimal digits. */
  readonly id: string;
  /** Empty where it is not known: `isNoaddr`, or a node that has never been told its own. */
  readonly address: string;
  readonly port: number;
  readonly hostname?: string;
  /** The node that answers. */
  readonly isMyself: boolean;
  /** `unknown`: in a handshake. */
  readonly role: 'primary' | 'replica' | 'unknown';
  /** Of a replica: absent while it does not know it. */
  readonly primaryId?: string;
  /** Not a member yet. Its id is made up until it is. */
  readonly isHandshake: boolean;
  readonly isNoaddr: boolean;
  /** This node gets no answer from it. */
  readonly isSuspected: boolean;
  /** Most primaries get no answer from it. */
  readonly isFailed: boolean;
  /** `cluster-replica-no-failover`: it is not to be elected. */
  readonly isBarred: boolean;
  /** When this node has heard of it last, by its own clock: milliseconds. Of itself 0. */
  readonly pongAt: number;
  readonly epoch: number;
  readonly linkUp: boolean;
  readonly slots: SlotSet;
  readonly migrating: readonly { readonly slot: number; readonly to: string }[];
  readonly importing: readonly { readonly slot: number; readonly from: string }[];
}

/** More than anybody runs, and as many lines as one answer may have. */
const mostNodes = 1000;

/** A line takes up to about 300 bytes, one of a node with scattered slots much more. Nobody reads more, whatever a session lets in. */
export const longestViewBytes = 256 * 1024;

/** Each slot by itself, or open, and what comes before. */
const mostWords = 17_000;

const nodeId = /^[0-9a-f]{40}$/;

/** A name as servers take it for `cluster-announce-hostname`. */
const hostName = /^[A-Za-z0-9.-]{1,255}$/;

/** IPv4 or IPv6; the server may announce neither. */
const ip = /^[0-9A-Fa-f:.]{0,45}$/;

const openSlot = /^\[(\d{1,5})-([<>])-([0-9a-f]{40})\]$/;
const ownedSlots = /^(\d{1,5})(?:-(\d{1,5}))?$/;

export function isNodeId(text: string): boolean {
  return nodeId.test(text);
}

/** @throws ProtocolError where it is anything else than the view of one node */
export function clusterNodes(reply: Reply): readonly ClusterNode[] {
  if (typeof reply !== 'string') throw new ProtocolError('the answer to CLUSTER NODES is no text');
  if (reply.length > longestViewBytes) {
    throw new ProtocolError(`the answer to CLUSTER NODES has more than ${longestViewBytes} characters`);
  }
  const lines = reply.split('\n', mostNodes + 2).filter((line) => line !== '');
  if (lines.length > mostNodes) throw new ProtocolError(`the answer to CLUSTER NODES has more than ${mostNodes} lines`);
  const nodes = lines.map(nodeOf);
  if (nodes.filter(({ isMyself }) => isMyself).length !== 1) {
    throw new ProtocolError('the answer to CLUSTER NODES does not say of exactly one node that it answers');
  }
  if (new Set(nodes.map(({ id }) => id)).size < nodes.length) {
    throw new ProtocolError('the answer to CLUSTER NODES names a node twice');
  }
  return nodes;
}

/** The node that answered. */
export function myselfIn(nodes: readonly ClusterNode[]): ClusterNode {
  const myself = nodes.find(({ isMyself }) => isMyself);
  if (myself === undefined) throw new ProtocolError('no node of the view is the one that answered');
  return myself;
}

function nodeOf(line: string): ClusterNode {
  const words = line.trimEnd().split(' ', mostWords + 1);
  if (words.length > mostWords) throw unreadable(line);
  const [id = '', place = '', flagList = '', primary = '', , pong = '', epoch = '', link = '', ...slots] = words;
  const flags = flagList.split(',');
  const isRole = (role: string): boolean => flags.includes(role);
  if (!nodeId.test(id) || !/^\d{1,20}$/.test(epoch) || !/^\d{1,20}$/.test(pong) || !/^(dis)?connected$/.test(link))
    throw unreadable(line);
  if (primary !== '-' && !nodeId.test(primary)) throw unreadable(line);
  if (isRole('master') && isRole('slave')) throw unreadable(line);
  return {
    id,
    ...placeOf(place, line),
    isMyself: isRole('myself'),
    role: isRole('master') ? 'primary' : isRole('slave') ? 'replica' : 'unknown',
    ...(primary === '-' ? {} : { primaryId: primary }),
    isHandshake: isRole('handshake'),
    isNoaddr: isRole('noaddr'),
    isSuspected: isRole('fail?'),
    isFailed: isRole('fail'),
    isBarred: isRole('nofailover'),
    pongAt: Number(pong),
    epoch: Number(epoch),
    linkUp: link === 'connected',
    ...slotsIn(slots, line),
  };
}

function placeOf(text: string, line: string): Pick<ClusterNode, 'address' | 'port' | 'hostname'> {
  const [place = '', hostname = ''] = text.split(',', 2);
  const found = /^(.*):(\d{1,5})@\d{1,5}$/.exec(place);
  const [address = '', port = ''] = found?.slice(1) ?? [];
  if (found === null || !ip.test(address) || Number(port) > 65_535) throw unreadable(line);
  // Values of the server's own, as `shard-id=`, may stand in the place of a name that there is not.
  if (hostname === '' || hostname.includes('=')) return { address, port: Number(port) };
  if (!hostName.test(hostname)) throw unreadable(line);
  return { address, port: Number(port), hostname };
}

function slotsIn(words: readonly string[], line: string): Pick<ClusterNode, 'slots' | 'migrating' | 'importing'> {
  const ranges: SlotRange[] = [];
  const migrating: { slot: number; to: string }[] = [];
  const importing: { slot: number; from: string }[] = [];
  for (const word of words) {
    const [, open = '', direction, peer = ''] = openSlot.exec(word) ?? [];
    const [, first = '', last = first] = ownedSlots.exec(word) ?? [];
    const slot = Number(open === '' ? first : open);
    if ((open === '' && first === '') || !isSlot(slot)) throw unreadable(line);
    if (direction === '>') migrating.push({ slot, to: peer });
    else if (direction === '<') importing.push({ slot, from: peer });
    else if (isSlot(Number(last)) && slot <= Number(last)) ranges.push({ first: slot, last: Number(last) });
    else throw unreadable(line);
  }
  return { slots: slotSet(ranges), migrating, importing };
}

function unreadable(line: string): ProtocolError {
  return new ProtocolError(`the answer to CLUSTER NODES has a line that reads ${JSON.stringify(shortened(line, 200))}`);
}
