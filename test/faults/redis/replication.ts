/**
 * One data node's part in replication: whom it follows and how far it is, and who follows it.
 *
 * Asynchronous as the real one: a write is acknowledged first and travels afterwards. A link behind a cut stays up for
 * both sides until one of them gives up (`repl-timeout`); a replica whose primary is gone asks again every second.
 */
import type { DataNode } from './data-node.ts';
import type { Snapshot } from './dataset.ts';

export type LinkState = 'wait_bgsave' | 'send_bulk' | 'online';

/** A replica's connection to its source, as both ends have it. */
export interface Link {
  readonly source: DataNode;
  readonly replica: DataNode;
  state: LinkState;
  /** What the source knows the replica to have. */
  ackOffset: number;
  /** When it last heard so. */
  ackAt: number;
  /** When the replica last heard anything. */
  heardAt: number;
  /** Bytes are on their way. */
  isFeeding: boolean;
}

/** Until the source has accepted a replica, and on the way of what it is fed. */
const handshakeMs = 1.5;
const travelMs = 0.4;
/** Bytes of the ping that a source sends its replicas, and of the question how far they are. */
const pingBytes = 14;
const getAckBytes = 37;

export class Replication {
  readonly #node: DataNode;
  /** Whom it follows; undefined on a primary. */
  source: { readonly host: string; readonly port: number } | undefined;
  /** The connection to it, from the moment the source has accepted. */
  link: Link | undefined;
  /** Undefined as long as no link was ever lost. */
  downSince: number | undefined;
  /** Whether it ever stood in a stream: before that, it reports an offset of its own. */
  hasPosition = false;
  readonly replicas = new Set<Link>();
  /** How often it was copied, and how often somebody went on where they stood. */
  readonly syncs = { full: 0, partial: 0 };
  #attempt = 0;
  #isConnecting = false;
  #sincePing = 0;

  constructor(node: DataNode) {
    this.#node = node;
  }

  get isPrimary(): boolean {
    return this.source === undefined;
  }

  get isUp(): boolean {
    return this.link?.state === 'online';
  }

  get state(): 'connect' | 'connecting' | 'sync' | 'connected' {
    if (this.link !== undefined) return this.isUp ? 'connected' : 'sync';
    return this.#isConnecting ? 'connecting' : 'connect';
  }

  /** Replicas that are in sync, as `min-replicas-to-write` counts them. */
  get goodReplicas(): number {
    const { settings, host } = this.#node;
    const limit = settings.number('min-replicas-max-lag');
    const now = host.time.monotonic();
    let good = 0;
    for (const link of this.replicas) if (link.state === 'online' && (now - link.ackAt) / 1000 < limit + 1) good++;
    return good;
  }

  become(): void {
    if (this.source === undefined) return;
    this.source = undefined;
    this.#leave();
    this.#node.dataset.depart();
    this.#node.applyAppendOnly();
    this.dropReplicas();
  }

  follow(host: string, port: number): void {
    if (this.source === undefined) this.hasPosition = true;
    this.source = { host, port };
    this.#leave();
    this.connect();
  }

  #leave(): void {
    this.#attempt++;
    this.#isConnecting = false;
    const { link } = this;
    this.link = undefined;
    if (link === undefined) return;
    this.downSince = this.#node.host.time.monotonic();
    // Where the source is cut off it hears nothing of this, and counts the replica until its patience is over.
    if (this.#reaches(link.source)) link.source.replication.replicas.delete(link);
  }

  connect(): void {
    if (this.source === undefined || this.#isConnecting || this.link !== undefined) return;
    const attempt = ++this.#attempt;
    this.#isConnecting = true;
    this.#after(handshakeMs, () => {
      if (attempt !== this.#attempt || this.#node.isFrozen) return;
      this.#isConnecting = false;
      this.#handshake();
    });
  }

  #handshake(): void {
    const node = this.#node;
    const source = this.source?.port === 6379 ? node.host.processes.data(this.source.host) : undefined;
    // Not there, cut off, or not willing: the next second's round tries again.
    if (source === undefined || !this.#reaches(source) || source.isFrozen || source.isLoading) return;
    if (!source.users.takes(node.settings.text('masteruser'), node.settings.text('masterauth'))) return;
    if (!source.replication.isPrimary && !source.replication.isUp) return;
    const { dataset } = node;
    const now = node.host.time.monotonic();
    const link: Link = {
      source,
      replica: node,
      state: 'online',
      ackOffset: dataset.offset,
      ackAt: now,
      heardAt: now,
      isFeeding: false,
    };
    if (this.hasPosition && source.dataset.canContinue(dataset.replid, dataset.offset)) {
      this.link = link;
      source.replication.replicas.add(link);
      source.replication.syncs.partial++;
      if (dataset.adopt(source.dataset)) this.dropReplicas();
      this.#feed(link);
      return;
    }
    this.#copy(source, link);
  }

  #copy(source: DataNode, link: Link): void {
    if (source.replication.isPrimary) source.dataset.openBacklog();
    link.state = 'wait_bgsave';
    link.ackOffset = 0;
    this.link = link;
    source.replication.replicas.add(link);
    source.replication.syncs.full++;
    this.dropReplicas();
    const snapshot = source.dataset.snapshot();
    const copied = (): void => {
      if (this.link !== link) return;
      if (source.hasEnded || this.#node.isFrozen || source.isFrozen || !this.#reaches(source)) {
        this.#after(1000, copied);
        return;
      }
      this.#install(link, snapshot);
    };
    this.#after(this.#node.host.pace.copyMs, copied);
  }

  #install(link: Link, snapshot: Snapshot): void {
    if (!link.source.canSendTo(this.#node)) {
      this.hasPosition = false;
      this.#node.loseDataset();
      link.source.replication.replicas.delete(link);
      this.link = undefined;
      return;
    }
    this.hasPosition = true;
    this.#node.replaceDataset(snapshot);
    this.#acknowledge(link);
    link.state = 'online';
    link.heardAt = this.#node.host.time.monotonic();
    this.#feed(link);
  }

  dropReplicas(): void {
    for (const link of [...this.replicas]) {
      this.replicas.delete(link);
      this.#tell(link.replica, () => link.replica.replication.lost(link));
    }
  }

  /** The source is gone, or does not want this replica any more. */
  lost(link: Link): void {
    if (this.link !== link) return;
    this.link = undefined;
    this.downSince = this.#node.host.time.monotonic();
    this.connect();
  }

  /** The node's process has ended: whoever can be reached notices at once. */
  end(): void {
    this.dropReplicas();
    const { link } = this;
    if (link !== undefined) this.#tell(link.source, () => link.source.replication.replicas.delete(link));
  }

  #tell(other: DataNode, call: () => void): void {
    const { host } = this.#node;
    host.time.after(travelMs, () => {
      if (!other.hasEnded && host.network.reaches(host.ip, other.host.ip)) call();
    });
  }

  /** Something was added to the stream: it sets out to everybody who is in sync. */
  spread(): void {
    for (const link of this.replicas) if (link.state === 'online') this.#feed(link);
  }

  #feed(link: Link): void {
    if (link.isFeeding) return;
    link.isFeeding = true;
    this.#node.host.time.after(travelMs, () => {
      link.isFeeding = false;
      const { source, replica } = link;
      if (replica.replication.link !== link || source.hasEnded || source.isFrozen || replica.isFrozen) return;
      if (!this.#reaches(link.source) || !this.#reaches(link.replica)) return;
      replica.takeWrites(source.dataset);
      link.heardAt = replica.host.time.monotonic();
      if (source.hasWaiting) source.replication.#acknowledge(link);
    });
  }

  #acknowledge(link: Link): void {
    link.ackOffset = link.replica.dataset.offset;
    link.ackAt = this.#node.host.time.monotonic();
    link.source.acknowledged();
  }

  /** WAIT asks the replicas where they are: a question in the stream. */
  askForAcknowledgement(): void {
    this.#node.dataset.note(getAckBytes);
    this.spread();
  }

  /** Once a second. */
  tick(): void {
    this.#tickAsReplica();
    if (this.replicas.size === 0) return;
    const { dataset, host, settings } = this.#node;
    const now = host.time.monotonic();
    if (this.isPrimary && ++this.#sincePing >= settings.number('repl-ping-replica-period')) {
      this.#sincePing = 0;
      dataset.note(pingBytes);
      this.spread();
    }
    for (const link of [...this.replicas]) {
      const { replica } = link;
      const isInTouch = this.#reaches(replica);
      if (isInTouch && (replica.hasEnded || replica.replication.link !== link)) this.replicas.delete(link);
      else if (now - link.ackAt > settings.number('repl-timeout') * 1000) this.replicas.delete(link);
      else if (isInTouch && !replica.isFrozen && link.state === 'online') {
        this.#acknowledge(link);
        if (replica.dataset.offset < dataset.offset) this.#feed(link);
      }
    }
    dataset.trimBacklog(settings.number('repl-backlog-size'));
  }

  #tickAsReplica(): void {
    const { link } = this;
    if (this.source === undefined) return;
    if (link === undefined) {
      this.#isConnecting = false;
      this.connect();
      return;
    }
    const { host, settings } = this.#node;
    const now = host.time.monotonic();
    const isInTouch = this.#reaches(link.source);
    const isGone = link.source.hasEnded || !link.source.replication.replicas.has(link);
    if (isInTouch && !isGone && !link.source.isFrozen) link.heardAt = now;
    const isOver = now - link.heardAt > settings.number('repl-timeout') * 1000;
    if (isOver || (isInTouch && isGone)) this.lost(link);
  }

  #reaches(other: DataNode): boolean {
    return this.#node.host.network.reaches(this.#node.host.ip, other.host.ip);
  }

  #after(ms: number, call: () => void): void {
    this.#node.host.time.after(ms, () => {
      if (!this.#node.hasEnded) call();
    });
  }
}
