/**
 * A simulated redis-server: its dataset, what of it is on the volume, its clients, its life.
 *
 * With an append-only file every acknowledged write is on the volume when the acknowledgement leaves. Three things are
 * not, as with the real one: the first write after the disk is full, a copied dataset until the file is rewritten, and
 * anything at all without such a file.
 */
import type { Reply } from '../../../src/engines/redis/client/resp.ts';
import { type Client, errorReply, type Server, serveStream } from './client.ts';
import { Connections, later, type Outcome } from './connections.ts';
import { executeData } from './data-commands.ts';
import { receivedAt, unfinished } from './data-volume.ts';
import { Dataset, type Keys, type Snapshot } from './dataset.ts';
import { type Conf, Settings } from './directives.ts';
import { hexId } from './identity.ts';
import type { Host } from './processes.ts';
import { Replication } from './replication.ts';
import { Users } from './users.ts';

/** What a volume holds: the keys, and the newest format that they are written in. */
export interface Stored {
  keys: Keys;
  readonly format: number;
}

export const appendOnly = 'appendonlydir';
const snapshotFile = 'dump.rdb';

/** The format of snapshots; a server reads its own and older ones. */
export function formatOf(version: string): number {
  const number = Number(version);
  return number < 7.2 ? 10 : number < 7.4 ? 11 : 12;
}

interface Waiting {
  readonly client: Client;
  readonly offset: number;
  readonly count: number;
  readonly cancel: () => void;
}

interface Postponed {
  readonly client: Client;
  readonly args: readonly string[];
}

export class DataNode implements Server {
  readonly kind = 'data';
  readonly port = 6379;
  readonly host: Host;
  /** `7.0` */
  readonly version: string;
  readonly settings: Settings;
  readonly users: Users;
  readonly runId: string;
  readonly startedAt: number;
  readonly replication: Replication;
  readonly connections: Connections;
  dataset: Dataset;
  isLoading = true;
  hasEnded = false;
  #stored: Stored | undefined;
  /** So many keys were there when the append-only file was flushed last: clients add keys, and change none. */
  #flushed = 0;
  #isDiskFull = false;
  /** A write was not taken by the disk. */
  isDiskFailing = false;
  /** Until it is over, the append-only file is that from before the last copy. */
  isRewriting = false;
  /** False where the file is switched off, by hand or since a copy could not be loaded. */
  isAppending = false;
  #waiting: Waiting[] = [];
  #postponed: Postponed[] = [];
  #pausedUntil = 0;
  #cancelPause: (() => void) | undefined;
  #cancelTick: (() => void) | undefined;
  #stopListening: (() => void) | undefined;
  #isShuttingDown = false;
  /** What was sent to it, and waits to be read. */
  #uponThaw: (() => void)[] = [];

  constructor(host: Host, version: string, conf: Conf) {
    this.host = host;
    this.version = version;
    this.settings = new Settings(conf, version);
    const dismiss = (name: string): void => this.connections.closeAll(({ user }) => user === name);
    this.users = new Users(conf.users, () => this.settings.text('requirepass'), conf.accepted, dismiss);
    this.runId = hexId(host.random);
    this.startedAt = host.time.monotonic();
    this.replication = new Replication(this);
    this.replication.source = conf.follows;
    this.connections = new Connections(host.time, (client, args) => this.#execute(client, args));
    this.dataset = new Dataset(new Map(), host.random);
  }

  get ip(): string {
    return this.host.ip;
  }

  get isFrozen(): boolean {
    return this.connections.isFrozen;
  }

  /** False where the volume holds what this version cannot read: the server does not start. */
  start(): boolean {
    const { host } = this;
    const volume = host.volume('/data');
    const hasLog = this.settings.flag('appendonly');
    const stored = volume?.get(hasLog ? appendOnly : snapshotFile) as Stored | undefined;
    if (stored !== undefined && stored.format > formatOf(this.version)) return false;
    this.dataset.keys = hasLog ? (stored?.keys ?? new Map()) : new Map(stored?.keys);
    this.isAppending = hasLog;
    if (hasLog) this.#storeLog();
    host.processes.add(this);
    this.#stopListening = host.network.listen(host.ip, this.port, (stream, from) => serveStream(this, stream, from));
    host.time.after(host.pace.loadMs, () => {
      if (this.hasEnded) return;
      this.isLoading = false;
      this.replication.connect();
    });
    // Each process has its own second.
    this.#cancelTick = host.time.after(1000 * host.random(), () => this.#tick());
    return true;
  }

  #storeLog(): void {
    this.#stored = { keys: this.dataset.keys, format: formatOf(this.version) };
    this.host.volume('/data')?.set(appendOnly, this.#stored);
  }

  /** Its machine is about to lose its power: what was not flushed, of the last second, is not on the disk. */
  loseUnflushed(): void {
    if (this.#stored !== undefined) this.#stored.keys = new Map([...this.#stored.keys].slice(0, this.#flushed));
  }

  /** SAVE. */
  save(): void {
    this.host.volume('/data')?.set(snapshotFile, { keys: new Map(this.dataset.keys), format: formatOf(this.version) });
  }

  /** An older server cannot read a newer one's snapshot. */
  canSendTo(replica: DataNode): boolean {
    return formatOf(this.version) <= formatOf(replica.version);
  }

  #tick(): void {
    this.#cancelTick = this.host.time.after(1000, () => this.#tick());
    this.#flushed = this.dataset.keys.size;
    if (!this.isFrozen && !this.isLoading) this.replication.tick();
  }

  connect(client: Client): void {
    client.isAuthenticated = this.users.isOpen;
    this.connections.add(client);
  }

  disconnect(client: Client): void {
    this.connections.delete(client);
    this.#waiting = this.#waiting.filter((waiting) => waiting.client !== client);
  }

  receive(client: Client, args: readonly string[]): void {
    if (!this.hasEnded) this.connections.receive(client, args);
  }

  #execute(client: Client, args: readonly string[]): Outcome {
    return executeData(this, client, args);
  }

  /** A write of a client, already admitted. */
  write(client: Client, args: readonly string[]): void {
    if (this.#isDiskFull) this.isDiskFailing = true;
    this.dataset.write(args);
    client.offset = this.dataset.offset;
    this.replication.spread();
  }

  /** What the source sent. A replica that cannot write it down gives up altogether. */
  takeWrites(source: Dataset): void {
    const writes = this.dataset.follow(source);
    if (writes.length > 0 && this.#isDiskFull) {
      if (this.isDiskFailing) {
        this.end();
        this.host.exit(134);
        return;
      }
      this.isDiskFailing = true;
    }
    this.replication.spread();
  }

  replaceDataset(snapshot: Snapshot): void {
    const keys = new Map(snapshot.keys);
    this.dataset.become({ ...snapshot, keys });
    this.#received();
    if (this.settings.flag('appendonly')) this.#beginLog();
  }

  /** The copy was received, the keys of before are gone, and what has come cannot be read. */
  loseDataset(): void {
    this.#received();
    this.dataset.keys = new Map();
    this.isAppending = false;
  }

  #received(): void {
    this.host.volume('/data')?.set(receivedAt, this.host.time.monotonic());
  }

  /** After CONFIG SET, and when it is made primary: the append-only file is switched on or off. */
  applyAppendOnly(): void {
    const isWanted = this.settings.flag('appendonly');
    if (isWanted && !this.isAppending) this.#beginLog();
    if (isWanted || !this.isAppending) return;
    this.isAppending = false;
    if (this.#stored !== undefined && !this.isRewriting) this.#stored.keys = new Map(this.dataset.keys);
  }

  #beginLog(): void {
    const { keys } = this.dataset;
    this.isAppending = true;
    this.isRewriting = true;
    this.host.volume('/data')?.set(unfinished, true);
    const slowedMs = (keys.size * this.settings.number('rdb-key-save-delay')) / 1000;
    const write = (ms: number): void => {
      this.host.time.after(ms, () => {
        if (this.hasEnded || this.dataset.keys !== keys || !this.isAppending) return;
        // Without room it begins anew, until there is.
        if (this.#isDiskFull) return write(this.host.pace.rewriteMs);
        this.isRewriting = false;
        this.host.volume('/data')?.delete(unfinished);
        this.#storeLog();
      });
    };
    write(Math.max(this.host.pace.rewriteMs, slowedMs));
  }

  // Waiting clients.

  get hasWaiting(): boolean {
    return this.#waiting.length > 0 || this.#isShuttingDown;
  }

  wait(client: Client, count: number, timeoutMs: number): Outcome {
    const acknowledged = this.#acknowledgedBy(client.offset);
    if (acknowledged >= count) return acknowledged;
    const timer = timeoutMs > 0 ? this.host.time.after(timeoutMs, () => this.#endWait(waiting)) : () => undefined;
    const waiting: Waiting = { client, offset: client.offset, count, cancel: timer };
    this.#waiting.push(waiting);
    this.replication.askForAcknowledgement();
    return later;
  }

  #acknowledgedBy(offset: number): number {
    let count = 0;
    for (const link of this.replication.replicas) if (link.state === 'online' && link.ackOffset >= offset) count++;
    return count;
  }

  #endWait(waiting: Waiting): void {
    waiting.cancel();
    this.#waiting = this.#waiting.filter((other) => other !== waiting);
    this.connections.unblock(waiting.client, this.#acknowledgedBy(waiting.offset));
  }

  /** A replica said how far it is. */
  acknowledged(): void {
    for (const waiting of this.#waiting) {
      if (this.#acknowledgedBy(waiting.offset) >= waiting.count) this.#endWait(waiting);
    }
    if (this.#isShuttingDown && !this.#isAnyReplicaBehind()) this.#stop();
  }

  /** Those who wait for replicas cannot be answered by one. */
  disconnectWaiting(): void {
    for (const { client, cancel } of this.#waiting.splice(0)) {
      cancel();
      const why = 'UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)';
      client.send(errorReply(why));
      this.connections.delete(client);
      client.close();
    }
  }

  // Paused writes.

  get isPaused(): boolean {
    return this.#isShuttingDown || this.host.time.monotonic() < this.#pausedUntil;
  }

  pause(ms: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, this.host.time.monotonic() + ms);
    this.#cancelPause?.();
    this.#cancelPause = this.host.time.after(this.#pausedUntil - this.host.time.monotonic(), () => this.resume());
  }

  resume(): void {
    this.#cancelPause?.();
    this.#pausedUntil = 0;
    if (this.hasEnded || this.isPaused) return;
    for (const { client, args } of this.#postponed.splice(0)) this.connections.retry(client, args);
  }

  postpone(client: Client, args: readonly string[]): Outcome {
    this.#postponed.push({ client, args });
    return later;
  }

  /** What Sentinel sends as one transaction: another role, and every client sent away. */
  obeySentinel(source: { readonly ip: string; readonly port: number } | undefined): void {
    if (this.isFrozen) {
      this.#uponThaw.push(() => this.obeySentinel(source));
      return;
    }
    const { replication } = this;
    if (source === undefined) replication.become();
    else if (replication.source?.host !== source.ip || replication.source.port !== source.port) {
      this.disconnectWaiting();
      replication.follow(source.ip, source.port);
    }
    this.connections.closeAll();
  }

  // Faults.

  freeze(): void {
    this.connections.freeze();
  }

  thaw(): void {
    this.connections.thaw();
    for (const call of this.#uponThaw.splice(0)) call();
    this.replication.connect();
  }

  /** While it is full, what comes next stays in memory only, and is lost with the process. */
  set isDiskFull(isFull: boolean) {
    if (isFull === this.#isDiskFull) return;
    this.#isDiskFull = isFull;
    if (!isFull) this.isDiskFailing = false;
    if (this.#stored === undefined || this.isRewriting || !this.isAppending) return;
    this.#stored.keys = isFull ? new Map(this.dataset.keys) : this.dataset.keys;
  }

  // The end.

  #isAnyReplicaBehind(): boolean {
    for (const link of this.replication.replicas) {
      if (link.state === 'online' && link.ackOffset < this.dataset.offset) return true;
    }
    return false;
  }

  /** SIGTERM: waits for its replicas, without taking writes, no longer than `shutdown-timeout`. */
  terminate(): void {
    if (this.isFrozen) {
      this.#uponThaw.push(() => this.terminate());
      return;
    }
    if (this.hasEnded || this.#isShuttingDown) return;
    if (!this.isLoading && this.replication.isPrimary && this.#isAnyReplicaBehind()) {
      this.#isShuttingDown = true;
      this.replication.askForAcknowledgement();
      this.host.time.after(this.settings.number('shutdown-timeout') * 1000, () => this.#stop());
      return;
    }
    this.#stop();
  }

  /** Refused while a copied dataset is written for the first time, and then forgotten. */
  #stop(): void {
    if (this.hasEnded) return;
    if (this.isRewriting) {
      this.#isShuttingDown = false;
      return;
    }
    if (this.settings.text('save') !== '') this.save();
    this.end();
    this.host.exit(0);
  }

  /** The process is no more. Everybody who can be reached finds the connection closed. */
  end(): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    this.#cancelTick?.();
    this.#cancelPause?.();
    for (const { cancel } of this.#waiting.splice(0)) cancel();
    this.#stopListening?.();
    this.host.processes.remove(this);
    this.connections.closeAll();
    this.replication.end();
    for (const sentinel of this.host.processes.sentinels) sentinel.missed(this.ip);
  }

  /** For a harness: what a client would read. */
  get(key: string): Reply {
    return this.dataset.keys.get(key) ?? null;
  }
}
