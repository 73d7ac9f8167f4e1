/**
 * PostgreSQL, one process: a primary that writes its log and waits for standbys, or a standby that follows.
 *
 * Streaming is a model: no messages are simulated. What a primary has written is on the disk of a standby that is connected and
 * reachable a moment later, and the primary hears of it another moment later.
 */
import type { Network } from '../world/network.ts';
import type { VirtualTime } from '../world/time.ts';
import { append, type Change, common, type Data, lsnOf, timelineOf, type WalRecord } from './wal.ts';

/** From one member's memory to another's disk. */
const sendMs = 1;
/** `wal_receiver_timeout` and `wal_sender_timeout`. */
const silenceMs = 10_000;
/** How often a standby that is not connected tries. */
const connectMs = 1_000;

export type Parameters = Readonly<Record<string, string>>;

export interface ServerHost {
  readonly name: string;
  readonly ip: string;
  readonly time: VirtualTime;
  readonly network: Network;
  /** Size of the volume that its data and log are on. */
  readonly megabytes: number;
  /** The server at an address. */
  serverAt(ip: string): Server | undefined;
  onAcknowledged(server: Server, record: WalRecord): void;
  /** Before anything is written. */
  onStarted(data: Data): void;
}

interface Follower {
  readonly server: Server;
  heardAt: number;
  /** Records that it has told to have on its disk. */
  confirmed: number;
}

/** Of the log for each record: a client that writes all the time fills what is kept within minutes. */
const recordMegabytes = 0.5;

function recordsIn(megabytesText: string | undefined): number | undefined {
  const [, megabytes] = /^(\d+)MB$/.exec(megabytesText ?? '') ?? [];
  return megabytes === undefined ? undefined : Number(megabytes) / recordMegabytes;
}

/**
 * As many as `max_slot_wal_keep_size` lets a primary keep for somebody who is away. Without that setting: what a slot keeps, for ever.
 * Slots of members are left out then, since Patroni drops them after a while.
 */
function keptRecords({ wal, slots }: Data, files: Parameters): number {
  const most = recordsIn(files.max_slot_wal_keep_size);
  if (most !== undefined) return most;
  return Math.max(recordsIn(files.wal_keep_size) ?? 0, ...[...slots.values()].map((held) => wal.length - held));
}

export class Server {
  readonly #host: ServerHost;
  readonly data: Data;
  role: 'primary' | 'replica';
  /** In force since the start. */
  readonly parameters: Parameters;
  /** As its files had them when it read them last, and when that was. */
  files: Parameters;
  readAt: number;
  readonly startedAt: number;
  isFrozen = false;
  hasEnded = false;
  /** `synchronous_standby_names`. */
  synchronous: { readonly names: ReadonlySet<string>; readonly count: number } = { names: new Set(), count: 0 };
  readonly #followers = new Map<string, Follower>();
  readonly #waiting = new Set<{ readonly position: number; readonly done: (isKept: boolean) => void }>();
  /** Address of whom it follows. */
  #upstream: string | undefined;
  #isFlushing = false;
  #isStopping = false;

  constructor(host: ServerHost, data: Data, role: 'primary' | 'replica', parameters: Parameters) {
    this.#host = host;
    this.data = data;
    this.role = role;
    // A standby with less than its primary does not start: Patroni gives it what the primary had.
    const least = role === 'replica' ? data.contents.maxConnections : 0;
    const wanted = Number(parameters.max_connections ?? 100);
    this.parameters = { ...parameters, max_connections: String(Math.max(wanted, least)) };
    this.files = parameters;
    this.startedAt = host.time.monotonic();
    this.readAt = this.startedAt;
    host.onStarted(data);
    data.user = host.name;
    data.control = role === 'primary' ? 'in production' : 'in archive recovery';
    if (role === 'primary') this.#begin();
    host.time.after(0, () => this.#tick());
  }

  get name(): string {
    return this.#host.name;
  }

  get ip(): string {
    return this.#host.ip;
  }

  get isUp(): boolean {
    return !this.hasEnded && !this.isFrozen;
  }

  #begin(): void {
    this.data.wasPrimary = true;
    const maxConnections = Number(this.parameters.max_connections);
    const { timeline } = { timeline: timelineOf(this.data) };
    append(this.data, [{ timeline, change: { what: 'started', maxConnections } }]);
  }

  promote(): void {
    const timeline = timelineOf(this.data) + 1;
    append(this.data, [{ timeline, change: { what: 'promoted' } }]);
    this.role = 'primary';
    this.data.control = 'in production';
    this.#upstream = undefined;
    this.#begin();
  }

  follow(address: string | undefined): void {
    if (this.role === 'replica') this.#upstream = address === this.ip ? undefined : address;
  }

  /** Whether it is connected to a primary or another standby. */
  get isStreaming(): boolean {
    const upstream = this.#upstreamServer;
    return this.role === 'replica' && upstream?.hasFollower(this) === true;
  }

  get #upstreamServer(): Server | undefined {
    return this.#upstream === undefined ? undefined : this.#host.serverAt(this.#upstream);
  }

  hasFollower(server: Server): boolean {
    return this.#followers.get(server.name)?.server === server;
  }

  /** Names of those that stream from it. */
  get followers(): readonly string[] {
    return [...this.#followers.keys()].sort();
  }

  addressOf(follower: string): string {
    return this.#followers.get(follower)?.server.ip ?? '';
  }

  /** How many of those have everything that was written until now, as far as it has heard. */
  caughtUp(names: Iterable<string>): number {
    return [...names].filter((name) => (this.#followers.get(name)?.confirmed ?? 0) >= this.data.wal.length - 1).length;
  }

  /** Reads its files anew: what does not count from a start on is in force. */
  reload(files: Parameters): void {
    this.files = files;
    this.readAt = this.now;
  }

  get now(): number {
    return this.#host.time.monotonic();
  }

  /** It is in the files: they are read for it. */
  setSynchronous(names: Iterable<string>, count: number): void {
    this.synchronous = { names: new Set(names), count };
    this.readAt = this.now;
    this.#release();
  }

  /** Resolves when the commit is acknowledged: true; false when the connection ends before that. */
  commit(change: Change): Promise<boolean> {
    if (this.role !== 'primary' || !this.isUp || this.#isStopping) return Promise.resolve(false);
    const record: WalRecord = { timeline: timelineOf(this.data), change };
    append(this.data, [record]);
    const position = this.data.wal.length;
    return new Promise((resolve) => {
      const waiting = {
        position,
        done: (isKept: boolean) => {
          this.#waiting.delete(waiting);
          if (isKept) this.#host.onAcknowledged(this, record);
          resolve(isKept);
        },
      };
      this.#waiting.add(waiting);
      this.#flush();
    });
  }

  #flush(): void {
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    this.#host.time.after(sendMs, () => {
      this.#isFlushing = false;
      if (!this.isUp) return;
      this.#send();
      // A commit that waits for nobody is acknowledged from its own disk.
      this.#release();
    });
  }

  /** Gives everybody whom it reaches what they lack. */
  #send(): void {
    const { network, time } = this.#host;
    for (const [name, follower] of this.#followers) {
      const { server } = follower;
      if (!server.isUp || !network.reaches(this.ip, server.ip)) continue;
      follower.heardAt = time.monotonic();
      if (!server.#receive(this)) {
        this.#followers.delete(name);
        continue;
      }
      const has = server.data.wal.length;
      time.after(sendMs, () => {
        if (!this.isUp || !network.reaches(this.ip, server.ip)) return;
        follower.confirmed = Math.max(follower.confirmed, has);
        this.#release();
      });
    }
  }

  /** False where its log is not a beginning of the other's. */
  #receive(from: Server): boolean {
    const same = common(this.data, from.data);
    if (same !== this.data.wal.length) return false;
    append(this.data, from.data.wal.slice(same));
    for (const [, { server }] of this.#followers) if (server.isUp) server.#receive(this);
    return true;
  }

  #release(): void {
    const { names, count } = this.synchronous;
    for (const { position, done } of [...this.#waiting]) {
      const having = [...names].filter((name) => (this.#followers.get(name)?.confirmed ?? 0) >= position);
      if (having.length >= count) done(true);
    }
  }

  #tick(): void {
    if (this.hasEnded) return;
    this.#host.time.after(connectMs, () => this.#tick());
    if (this.isFrozen) return;
    const { network, time } = this.#host;
    this.#removeOld();
    if (this.#isFull) {
      this.end();
      return;
    }
    for (const [name, { server, heardAt }] of this.#followers) {
      const isGone = server.hasEnded || server.#upstream !== this.ip;
      if (isGone || time.monotonic() - heardAt > silenceMs) this.#followers.delete(name);
    }
    this.#send();
    const upstream = this.#upstreamServer;
    if (upstream === undefined || this.isStreaming) return;
    if (upstream.isUp && network.reaches(this.ip, upstream.ip)) upstream.#accept(this);
  }

  /** Whoever lacks more than is kept finds a gap. Those that are connected have everything. */
  #removeOld(): void {
    const { data } = this;
    data.removed = Math.max(data.removed, data.wal.length - keptRecords(data, this.files));
  }

  /** It does not start on a full volume either. */
  get #isFull(): boolean {
    return (this.data.wal.length - this.data.removed) * recordMegabytes > this.#host.megabytes;
  }

  #accept(server: Server): void {
    const { systemId, removed } = this.data;
    if (server.data.wal.length < removed) return;
    if (server.data.systemId !== systemId || common(server.data, this.data) !== server.data.wal.length) return;
    this.#followers.set(server.name, { server, heardAt: this.#host.time.monotonic(), confirmed: 0 });
    this.#send();
  }

  /** Milliseconds until everybody who is connected has the end of the log, and it has ended. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    if (this.isUp) this.#send();
    await new Promise<void>((resolve) => this.#host.time.after(200, resolve));
    if (this.isUp) {
      if (this.role === 'primary') append(this.data, [{ timeline: this.timeline, change: { what: 'shutdown' } }]);
      this.#send();
      this.data.wasPrimary = false;
      this.data.control = this.role === 'primary' ? 'shut down' : 'shut down in recovery';
    }
    this.end();
  }

  /** As by SIGKILL: what is written is on the disk. */
  end(): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    if (this.data.user === this.name) this.data.user = undefined;
    for (const { done } of [...this.#waiting]) done(false);
  }

  get lsn(): number {
    return lsnOf(this.data);
  }

  get timeline(): number {
    return timelineOf(this.data);
  }
}
