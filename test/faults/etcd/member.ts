/**
 * One process of etcd: a member with its disk, which elects, leads, follows and agrees.
 *
 * Consensus is a model: no messages are simulated. A leader looks five times a second, and right after something was
 * proposed, whom of the others the network lets it reach, and what it then gives them is on their disks at once. Terms,
 * votes, logs and who may overwrite whom are raft's, with pre-votes and a leader that steps down without a majority.
 */
import { comparesAll } from './corruption.ts';
import { type Disk, isAsRecent, pendingChange, takeOver } from './disk.ts';
import { type Change, changesMembership, type Entry, type MemberRow, type Refusal, refusal } from './entry.ts';
import type { Host } from './host.ts';
import type { StateMachine } from './state-machine.ts';
import { minorIn, reviewMs, reviewVersions } from './versions.ts';

const tickMs = 200;
/** From a proposal until it is on everybody's disk. */
const writeMs = 2;
/** Entries that a member that is far behind gets in one go. */
const catchUpEntries = 64;
/** etcd's own patience with a request: five seconds and two elections. */
const patienceMs = 7_000;
const retryMs = 25;
/** From when it learns that it has been removed until it ends. */
const removedMs = 1_000;

export type Role = 'follower' | 'leader';

export class Member {
  readonly disk: Disk;
  readonly #host: Host;
  readonly #waiting = new Map<string, (outcome: Refusal | undefined) => void>();
  /** Since when it has been connected to the others, without a break. */
  readonly #activeSince = new Map<string, number>();
  readonly #matches = new Map<string, number>();
  readonly tokens = new Map<string, string>();
  role: Role = 'follower';
  leaderId: string | undefined;
  /** Listens to its peers. */
  servesPeers = false;
  /** SIGSTOP. */
  isFrozen = false;
  /** Called when it goes on. */
  released: () => void = () => undefined;
  hasEnded = false;
  #heardAt: number;
  #patience: number;
  #flushes = false;
  #requests = 0;
  #reviewedAt: number;
  /** Revision of the compaction after which it has compared its data with the others'. */
  #comparedAt = 0;

  constructor(host: Host, disk: Disk) {
    this.#host = host;
    this.disk = disk;
    this.#heardAt = host.time.monotonic();
    this.#reviewedAt = this.#heardAt;
    this.#patience = this.#electionMs * (1 + host.random());
  }

  get ip(): string {
    return this.#host.ip;
  }

  get id(): string {
    return this.disk.memberId;
  }

  get version(): string {
    return this.#host.version;
  }

  get minor(): number {
    return minorIn(this.version);
  }

  /** 3.5. */
  get isOld(): boolean {
    return this.minor === 5;
  }

  get state(): StateMachine {
    return this.disk.state;
  }

  get own(): MemberRow | undefined {
    return this.state.members.get(this.id);
  }

  get quotaBytes(): number {
    return Number(this.#host.env.ETCD_QUOTA_BACKEND_BYTES ?? 2 ** 31);
  }

  get #electionMs(): number {
    return Number(this.#host.env.ETCD_ELECTION_TIMEOUT ?? 1000);
  }

  get #maxLearners(): number {
    // 3.5 knows a setting, and goes by one all the same.
    return this.isOld ? 1 : Number(this.#host.env.ETCD_MAX_LEARNERS ?? 1);
  }

  get #now(): number {
    return this.#host.time.monotonic();
  }

  /** Begins to talk to its peers. */
  start(): void {
    this.servesPeers = true;
    if (this.isOld) this.disk.storageMinor = this.minor;
    this.#heardAt = this.#now;
    this.#apply();
    const soon = this.#host.random() * tickMs;
    this.#host.time.after(soon, () => this.#tick());
  }

  freeze(): void {
    this.isFrozen = true;
  }

  thaw(): void {
    this.isFrozen = false;
    this.released();
  }

  end(): void {
    this.hasEnded = true;
    this.servesPeers = false;
    this.#host.processes.remove(this);
  }

  /** The process of another member, where packets get there and back, and it is who it is said to be. */
  peer(row: MemberRow): Member | undefined {
    for (const url of row.peerUrls) {
      const found = this.#host.reachable(url);
      const isIt = found !== undefined && found.id === row.id && found.disk.clusterId === this.disk.clusterId;
      if (isIt && !found.isFrozen) return found;
    }
    return undefined;
  }

  get #peers(): Member[] {
    return [...this.state.members.values()].flatMap((row) => (row.id === this.id ? [] : (this.peer(row) ?? [])));
  }

  get leader(): Member | undefined {
    if (this.leaderId === this.id) return this.role === 'leader' ? this : undefined;
    const row = this.leaderId === undefined ? undefined : this.state.members.get(this.leaderId);
    const found = row === undefined ? undefined : this.peer(row);
    return found?.role === 'leader' ? found : undefined;
  }

  /** Milliseconds since which it has been connected to a member; undefined: it is not. */
  connectedMs(id: string): number | undefined {
    const since = this.#activeSince.get(id);
    return since === undefined ? undefined : this.#now - since;
  }

  /** Index up to which the leader knows a member's log to be its own. */
  matchOf(id: string): number {
    return this.#matches.get(id) ?? 0;
  }

  #tick(): void {
    if (this.hasEnded) return;
    this.#host.time.after(tickMs, () => this.#tick());
    if (this.isFrozen) return;
    const peers = this.#peers;
    for (const id of [...this.#activeSince.keys()]) {
      if (!peers.some((peer) => peer.id === id)) this.#activeSince.delete(id);
    }
    for (const { id } of peers) if (!this.#activeSince.has(id)) this.#activeSince.set(id, this.#now);
    if (this.state.removed.has(this.id)) this.#leave();
    // One that was away when it was removed is refused by the others; of 3.6 it may go on asking.
    else if (peers.some(({ state }) => state.removed.has(this.id))) this.#refused();
    else if (this.role === 'leader') {
      this.#replicate();
      if (this.role === 'leader' && this.#now - this.#heardAt > this.#electionMs) this.#follow(undefined);
    } else if (this.own?.isLearner === false && this.#now - this.#heardAt > this.#patience) {
      this.leaderId = undefined;
      this.#campaign(false);
    }
    this.#review();
  }

  #review(): void {
    if (this.#now - this.#reviewedAt < reviewMs) return;
    this.#reviewedAt = this.#now;
    reviewVersions(this);
    const { compacted } = this.state;
    if (this.role === 'leader' && compacted > this.#comparedAt && comparesAll(this)) this.#comparedAt = compacted;
  }

  #leave(): void {
    const { time } = this.#host;
    time.after(removedMs, () => this.#goAway(0));
  }

  #refused(): void {
    this.leaderId = undefined;
    if (this.isOld) this.#goAway(1);
  }

  #goAway(code: number): void {
    if (!this.hasEnded) this.#host.exit(code, 'the member has been permanently removed from the cluster');
  }

  #follow(leader: string | undefined): void {
    this.role = 'follower';
    this.leaderId = leader;
    this.#heardAt = this.#now;
    this.#patience = this.#electionMs * (1 + this.#host.random());
  }

  /** Whether it has heard of a leader just now: then it lets nobody else become one. */
  get #isLed(): boolean {
    return this.leaderId !== undefined && this.#now - this.#heardAt < this.#electionMs;
  }

  /** `isForced`: the leader itself has asked for it. */
  #campaign(isForced: boolean): void {
    this.#patience = this.#electionMs * (1 + this.#host.random());
    this.#heardAt = this.#now;
    const { disk } = this;
    const term = disk.term + 1;
    const voters = this.state.voters.filter(({ id }) => id !== this.id).flatMap((row) => this.peer(row) ?? []);
    const granting = voters.filter(
      (voter) =>
        !voter.state.removed.has(this.id) &&
        term > voter.disk.term &&
        isAsRecent(disk, voter.disk) &&
        (isForced || !voter.#isLed),
    );
    if (granting.length + 1 <= this.state.voters.length / 2) return;
    for (const voter of [this, ...granting]) {
      voter.disk.term = term;
      voter.disk.vote = this.id;
      if (voter !== this) voter.#follow(undefined);
    }
    this.role = 'leader';
    this.leaderId = this.id;
    this.#reviewedAt = Number.NEGATIVE_INFINITY;
    this.#heardAt = this.#now;
    this.#matches.clear();
    disk.log.push({ term, change: { type: 'none' } });
    this.#replicate();
  }

  /** Gives everybody whom it reaches what they lack, and finds out what a majority has. */
  #replicate(): void {
    if (this.role !== 'leader') return;
    const { disk } = this;
    const peers = this.#peers.filter(({ state }) => !state.removed.has(this.id));
    const newer = peers.find((peer) => peer.disk.term > disk.term);
    if (newer !== undefined) {
      disk.term = newer.disk.term;
      disk.vote = undefined;
      this.#follow(undefined);
      return;
    }
    for (const peer of peers) {
      const match = peer.#receive(this);
      this.#matches.set(peer.id, match);
      // What has become agreed on by this very round they learn with the next one.
      peer.disk.commit = Math.max(peer.disk.commit, Math.min(disk.commit, match));
      peer.#apply();
    }
    this.#matches.set(this.id, disk.log.length);
    const voters = this.state.voters;
    const heard = voters.filter(({ id }) => id === this.id || peers.some((peer) => peer.id === id)).length;
    if (heard <= voters.length / 2) return;
    this.#heardAt = this.#now;
    const ranked = voters.map(({ id }) => this.matchOf(id)).sort((a, b) => b - a);
    const agreed = ranked[Math.floor(voters.length / 2)] ?? 0;
    // Only an entry of its own term tells that the ones before it are agreed on, too.
    if (agreed <= disk.commit || disk.log[agreed - 1]?.term !== disk.term) return;
    disk.commit = agreed;
    this.#apply();
    // Whoever is removed by it is told, too.
    if (peers.length > 0) this.#host.time.after(writeMs, () => this.#tell(peers, agreed));
  }

  #tell(peers: readonly Member[], agreed: number): void {
    if (this.hasEnded || this.isFrozen || this.role !== 'leader') return;
    for (const peer of peers) {
      if (peer.hasEnded || peer.isFrozen || !this.#host.network.reaches(this.ip, peer.ip)) continue;
      if (peer.disk.term > this.disk.term) continue;
      peer.disk.commit = Math.max(peer.disk.commit, Math.min(agreed, this.matchOf(peer.id)));
      peer.#apply();
    }
  }

  #receive(leader: Member): number {
    if (leader.disk.term > this.disk.term) {
      this.disk.term = leader.disk.term;
      this.disk.vote = undefined;
    }
    this.#follow(leader.id);
    const { processes } = this.#host;
    // Who joins copies what the leader has, as it is.
    if (this.disk.log.length === 0 && leader.disk.flaw !== undefined) this.disk.flaw = leader.disk.flaw;
    return takeOver(this.disk, leader.disk.log, catchUpEntries, () => {
      processes.onLoss(`${this.id} gives up what was agreed on, for the log of ${leader.id}`);
    });
  }

  #apply(): void {
    const { disk } = this;
    while (disk.state.applied < disk.commit) {
      const entry = disk.log[disk.state.applied];
      if (entry === undefined) break;
      const outcome = disk.state.apply(entry, this.#maxLearners);
      this.#host.processes.onAgreed(disk, disk.state.applied);
      this.#remember(entry.change);
      this.#waiting.get(entry.request ?? '')?.(outcome);
      if (entry.change.type !== 'removeMember' || outcome !== undefined) continue;
      this.#activeSince.delete(entry.change.id);
      if (entry.change.id === this.id) {
        this.#follow(undefined);
        this.#leave();
      }
    }
    disk.fileBytes = Math.max(disk.fileBytes, disk.state.bytesInUse);
  }

  /** Another password ends what was opened with the one before. */
  #remember(change: Change): void {
    if (change.type === 'token') this.tokens.set(change.token, change.name);
    if (change.type !== 'setUser' || change.mustBeNew) return;
    for (const [token, name] of this.tokens) if (name === change.name) this.tokens.delete(token);
  }

  /** Resolves when this member has carried it out, or with why not. */
  propose(change: Change): Promise<Refusal | undefined> {
    const { time } = this.#host;
    const request = `${this.ip}/${this.#requests++}/${this.#now}`;
    return new Promise((resolve) => {
      const done = (outcome: Refusal | undefined): void => {
        cancel();
        this.#waiting.delete(request);
        resolve(outcome);
      };
      let isHeld = true;
      const late = (): Refusal =>
        isHeld ? { refused: 'context deadline exceeded', code: 4 } : refusal('request timed out', 14);
      const cancel = time.after(patienceMs, () => done(late()));
      this.#waiting.set(request, done);
      const attempt = (): void => {
        if (this.hasEnded || !this.#waiting.has(request)) return;
        const { leader } = this;
        // Without a leader nothing is proposed: it is held back, and given up when its time is over.
        if (leader === undefined || this.isFrozen) {
          time.after(retryMs, attempt);
          return;
        }
        isHeld = false;
        leader.#accept(change, request);
      };
      attempt();
    });
  }

  #accept(change: Change, request: string): void {
    const { disk } = this;
    // One change of the membership at a time: another one is dropped, and whoever asked hears nothing.
    const isTooEarly = changesMembership(change) && pendingChange(disk);
    const entry: Entry = isTooEarly
      ? { term: disk.term, change: { type: 'none' } }
      : { term: disk.term, change, request };
    disk.log.push(entry);
    this.#flush();
  }

  #flush(): void {
    if (this.#flushes) return;
    this.#flushes = true;
    this.#host.time.after(writeMs, () => {
      this.#flushes = false;
      if (!this.hasEnded && !this.isFrozen) this.#replicate();
    });
  }

  /** Whether it leads, and a majority of voters, itself among them, follows it this very moment. */
  get isConfirmed(): boolean {
    const { voters } = this.state;
    const following = voters.filter((row) => {
      if (row.id === this.id) return true;
      const peer = this.peer(row);
      return peer !== undefined && peer.disk.term <= this.disk.term && !peer.state.removed.has(this.id);
    });
    const isOfTerm = this.disk.log[this.disk.commit - 1]?.term === this.disk.term;
    return this.role === 'leader' && isOfTerm && following.length > voters.length / 2;
  }

  /** Whether it could answer a linearizable question now. */
  get isCurrent(): boolean {
    const { leader } = this;
    return leader?.isConfirmed === true && this.state.applied >= leader.disk.commit;
  }

  /** Resolves when it has everything that was agreed on when it was asked. */
  current(): Promise<Refusal | undefined> {
    const { time } = this.#host;
    const until = this.#now + patienceMs;
    let index: number | undefined;
    return new Promise((resolve) => {
      const look = (): void => {
        if (this.hasEnded) return;
        const { leader } = this;
        if (!this.isFrozen && index === undefined && leader?.isConfirmed === true) {
          index = leader.disk.commit;
        }
        if (index !== undefined && this.state.applied >= index) resolve(undefined);
        else if (this.#now >= until) resolve(refusal('request timed out', 14));
        else time.after(retryMs, look);
      };
      look();
    });
  }

  /** Has another one campaign in its place, if that one has everything. */
  handOver(to: Member): boolean {
    if (this.role !== 'leader' || to.disk.log.length < this.disk.log.length) return false;
    to.#campaign(true);
    return (to as { readonly role: Role }).role === 'leader';
  }

  /** SIGTERM: a leader hands over first, to whomever it has been connected to for longest. */
  terminate(): void {
    const heirs = this.state.voters
      .filter(({ id }) => id !== this.id)
      .sort((a, b) => (this.connectedMs(b.id) ?? 0) - (this.connectedMs(a.id) ?? 0))
      .flatMap((row) => this.peer(row) ?? []);
    if (this.role === 'leader') heirs.some((heir) => this.handOver(heir));
    this.#host.time.after(100, () => {
      if (!this.hasEnded) this.#host.exit(0);
    });
  }
}
