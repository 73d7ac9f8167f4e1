/**
 * One process of Patroni with its PostgreSQL: it looks at the store every few seconds, renews or takes the lock, promotes, demotes,
 * follows, copies and rewinds. The rules are those of Patroni 4.0 with ConfigMaps, quorum commits and fail-safe mode.
 *
 * What is not there: a pause, tags, scheduled actions, cascading, slots, standby clusters, archives, a watchdog.
 */
import type { Random } from '../../../src/system/clock.ts';
import type { Network } from '../world/network.ts';
import type { VirtualTime } from '../world/time.ts';
import type { Volume } from '../world/workload.ts';
import { clusterTimeline, isSyncActive, mayBeElected, type Told } from './election.ts';
import { parametersIn, pendingIn } from './parameters.ts';
import type { Processes } from './processes.ts';
import { nextTransition } from './quorum.ts';
import { Server } from './server.ts';
import { type Json, type Store, StoreAway, type View } from './store.ts';
import { common, copyOf, type Data, dataOn, historyOf, keep, newDatabase, rewind, timelineOf } from './wal.ts';

const startMs = 300;
const initMs = 1_500;
const copyMs = 800;
const promoteMs = 250;
const rewindMs = 500;
/** Patroni's own wait after a reload. */
const reloadMs = 1_000;
/** From a change in the store until a member has heard of it. */
const noticeMs = 15;

export interface PatroniHost {
  readonly name: string;
  readonly ip: string;
  /** As `170012`. */
  readonly serverVersion: number;
  readonly time: VirtualTime;
  readonly network: Network;
  readonly random: Random;
  readonly store: Store;
  readonly processes: Processes;
  volume(): Volume | undefined;
  /** What the configuration says of a new cluster; undefined where it says nothing. */
  bootstrap(): Json | undefined;
  exit(code: number, lastWords?: string): void;
}

export type State =
  | 'stopped'
  | 'starting'
  | 'running'
  | 'stopping'
  | 'restarting'
  | 'crashed'
  | 'creating replica'
  | 'initializing new cluster';

export class Patroni {
  readonly host: PatroniHost;
  server: Server | undefined;
  state: State = 'stopped';
  view: View | undefined;
  /** What runs beside the loop. */
  busy: string | undefined;
  isFrozen = false;
  hasEnded = false;
  isFailsafe = false;
  pending: ReturnType<typeof pendingIn> = {};
  #config: Json = {};
  #lock: { readonly record: string; readonly at: number } = { record: '', at: Number.NEGATIVE_INFINITY };
  /** Settings that PostgreSQL was last told of. */
  #reloaded = '';
  #hasLed = false;
  #isTerminating = false;
  #wake: () => void = () => undefined;
  #released: (() => void)[] = [];
  /** When the loop last went round. */
  beatAt: number;

  constructor(host: PatroniHost) {
    this.host = host;
    this.beatAt = host.time.monotonic();
    void this.#run();
  }

  get name(): string {
    return this.host.name;
  }

  get ip(): string {
    return this.host.ip;
  }

  get data(): Data | undefined {
    return dataOn(this.host.volume());
  }

  get isPrimary(): boolean {
    return this.server?.role === 'primary' && !this.server.hasEnded;
  }

  get isUp(): boolean {
    return !this.isFrozen && !this.hasEnded;
  }

  get config(): Json {
    return this.#config;
  }

  get #now(): number {
    return this.host.time.monotonic();
  }

  get #ttlMs(): number {
    return Number(this.view?.lock.ttl ?? this.#config.ttl ?? 30) * 1000;
  }

  get #roundMs(): number {
    return Number(this.#config.loop_wait ?? 10) * 1000;
  }

  /** Never resolves once the process has ended, and not while it stands still. */
  pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.host.time.after(ms, () => {
        if (this.hasEnded) return;
        if (this.isFrozen) this.#released.push(resolve);
        else resolve();
      });
    });
  }

  freeze(): void {
    this.isFrozen = true;
    if (this.server !== undefined) this.server.isFrozen = true;
  }

  thaw(): void {
    this.isFrozen = false;
    if (this.server !== undefined) this.server.isFrozen = false;
    for (const go of this.#released.splice(0)) go();
  }

  /** SIGKILL. */
  end(): void {
    this.hasEnded = true;
    this.server?.end();
    this.host.processes.remove(this);
  }

  wakeUp(): void {
    this.#wake();
  }

  /** One of the ConfigMaps has changed. */
  noticed(): void {
    this.host.time.after(noticeMs, () => this.#wake());
  }

  async #run(): Promise<void> {
    await this.pause(this.host.random() * 300);
    while (!this.hasEnded && !this.#isTerminating) {
      await this.#cycle();
      this.beatAt = this.#now;
      await Promise.race([
        this.pause(this.#roundMs + (this.hasLock ? 0 : 500)),
        new Promise<void>((resolve) => {
          this.#wake = resolve;
        }),
      ]);
      // Woken up while it stands still.
      await this.pause(0);
    }
  }

  get isUnlocked(): boolean {
    const { view } = this;
    return view?.holder === undefined || this.#now > this.#lock.at + this.#ttlMs;
  }

  get hasLock(): boolean {
    return this.view?.holder === this.name && !this.isUnlocked;
  }

  #look(): View {
    const view = this.host.store.view();
    const { leader, acquireTime, renewTime, transitions, ttl } = view.lock;
    const record = [leader, acquireTime, renewTime, transitions, ttl].join();
    if (record !== this.#lock.record) this.#lock = { record, at: this.#now };
    this.view = view;
    if (view.config !== undefined) this.#config = view.config;
    return view;
  }

  async #cycle(): Promise<void> {
    try {
      await this.#round(this.#look());
      if (this.hasLock) this.isFailsafe = false;
      await this.touch();
    } catch (error) {
      if (!(error instanceof StoreAway)) throw error;
      await this.#withoutStore();
    }
  }

  async #round(view: View): Promise<void> {
    const { store } = this.host;
    const { data } = this;
    if (!view.members.some(({ name }) => name === this.name)) await this.touch();
    if (this.hasLock && data !== undefined && !isSystemId(view.initialize))
      await store.write('config', { initialize: data.systemId });
    if (this.hasLock && view.config === undefined)
      await store.write('config', { config: JSON.stringify(this.#config) });
    if (this.busy !== undefined) {
      if (this.#hasLed && this.hasLock) await this.#renew(view);
      return;
    }
    if (data === undefined) return this.#withoutData(view);
    if (isSystemId(view.initialize)) {
      if (view.initialize !== data.systemId) return this.#exit('system ID mismatch');
    } else if (this.isUnlocked) {
      if (this.server?.role === 'replica' && !this.server.hasEnded)
        return this.#exit('No initialize key in DCS and PostgreSQL is running as replica, aborting start');
      await store.write('config', { initialize: data.systemId });
    }
    if (this.server === undefined || this.server.hasEnded) return this.#recover(view, data);
    await this.#reload(this.server);
    await (this.isUnlocked ? this.#elect(view, this.server) : this.#follow(view, this.server));
  }

  /** PostgreSQL is told of other settings, and asked a moment later which of them count from a start on. */
  async #reload(server: Server): Promise<void> {
    const wanted = parametersIn(this.#config);
    const text = JSON.stringify(wanted);
    if (text === this.#reloaded) return;
    this.#reloaded = text;
    await this.pause(reloadMs);
    this.pending = pendingIn(server.parameters, wanted);
  }

  #exit(words: string): void {
    this.host.exit(1, words);
  }

  async #withoutStore(): Promise<void> {
    const { server } = this;
    if (server === undefined || server.hasEnded || server.role !== 'primary') return;
    if (this.#config.failsafe_mode === true && this.#mayGoOn()) {
      this.isFailsafe = true;
      return;
    }
    this.isFailsafe = false;
    await this.#demote(server, { mayRelease: false });
  }

  /** Every member that the lock named last answers, and knows of no other leader. */
  #mayGoOn(): boolean {
    const { failsafe } = this.view ?? {};
    if (failsafe?.[this.name] === undefined) return false;
    return Object.entries(failsafe).every(([name, ip]) => {
      const member = this.host.processes.at(ip);
      return name === this.name || (member?.isUp === true && this.host.network.reaches(this.ip, ip) && !member.hasLock);
    });
  }

  async #withoutData(view: View): Promise<void> {
    if (this.hasLock) await this.release();
    const bootstrap = this.host.bootstrap();
    if (this.isUnlocked && view.initialize === undefined && bootstrap !== undefined) {
      if (await this.host.store.write('config', { initialize: '' }, view.versions.config)) {
        this.#config = bootstrap;
        this.#aside('bootstrap', () => this.#form());
      }
      return;
    }
    const leader = this.#leaderIn(view);
    if (!this.isUnlocked && leader !== undefined) this.#aside('bootstrap from leader', () => this.#copy(leader));
  }

  /** Starts something that takes time. */
  #aside(what: string, work: () => Promise<void>): void {
    this.busy = what;
    void work().finally(() => {
      this.busy = undefined;
      this.#wake();
    });
  }

  async #form(): Promise<void> {
    const { processes, random, store } = this.host;
    this.state = 'initializing new cluster';
    await this.pause(initMs);
    const volume = this.host.volume();
    if (volume === undefined) return;
    const systemId = String(7_500_000_000_000_000_000n + BigInt(Math.floor(random() * 2 ** 52)));
    const data = newDatabase(systemId);
    keep(volume, data);
    processes.onFormed(this.name, systemId);
    this.#start(data, 'primary');
    await this.server?.commit({ what: 'role', name: 'clusterwright' });
    this.state = 'running';
    await store.write('config', { initialize: systemId, config: JSON.stringify(this.#config) });
    if (await this.#take(this.#look())) this.#called();
  }

  async #copy(leader: string): Promise<void> {
    const { processes, network } = this.host;
    this.state = 'creating replica';
    await this.pause(copyMs);
    const source = processes.at(leader)?.server;
    const volume = this.host.volume();
    const isThere = source?.isUp === true && network.reaches(this.ip, leader) && source.role === 'primary';
    if (!isThere || volume === undefined) {
      this.state = 'stopped';
      await this.pause(1_000);
      return;
    }
    const data = copyOf(source.data);
    keep(volume, data);
    processes.onCopied(this.name, data);
    await this.#startStandby(data);
  }

  #start(data: Data, role: 'primary' | 'replica'): void {
    const { processes, time, network } = this.host;
    const host = {
      ...{ name: this.name, ip: this.ip, time, network },
      serverAt: (ip: string) => processes.at(ip)?.server,
      onAcknowledged: processes.onAcknowledged,
    };
    this.server = new Server(host, data, role, parametersIn(this.#config));
    this.#reloaded = JSON.stringify(parametersIn(this.#config));
    // A standby keeps what its primary has: that is pending, too.
    this.pending = pendingIn(this.server.parameters, parametersIn(this.#config));
    this.server.isFrozen = this.isFrozen;
  }

  async #startStandby(data: Data): Promise<void> {
    this.state = 'starting';
    await this.pause(startMs);
    this.#start(data, 'replica');
    this.state = 'running';
    this.server?.follow(this.#leaderIn(this.view));
  }

  /** The address of whoever holds the lock, where it is somebody else. */
  #leaderIn(view: View | undefined): string | undefined {
    if (view?.holder === undefined || view.holder === this.name) return undefined;
    return view.members.find(({ name }) => name === view.holder)?.ip;
  }

  async #recover(view: View, data: Data): Promise<void> {
    if (this.state === 'running') this.state = 'crashed';
    if (this.hasLock && (await this.#renew(view))) {
      const isAtOnce = Number(this.#config.primary_start_timeout ?? 300) === 0;
      const wasPrimary = data.wasPrimary && this.server !== undefined;
      if (isAtOnce && this.#isFailoverPossible(view)) {
        await this.release();
        await this.pause(2_000);
        return;
      }
      if (!isAtOnce && wasPrimary) {
        this.#aside('starting primary after failure', async () => {
          await this.pause(startMs);
          this.#start(data, 'primary');
          this.state = 'running';
        });
        return;
      }
      this.#aside('starting as readonly because i had the session lock', () => this.#startStandby(data));
      return;
    }
    const leader = this.#primaryAt(this.#leaderIn(this.#look()));
    this.#aside('starting as a secondary', async () => {
      if (leader !== undefined) await this.#rewind(data, leader);
      await this.#startStandby(data);
    });
  }

  #primaryAt(ip: string | undefined): Server | undefined {
    const server = ip === undefined ? undefined : this.host.processes.at(ip)?.server;
    const isThere = server?.isUp === true && this.host.network.reaches(this.ip, server.ip);
    return isThere && server.role === 'primary' ? server : undefined;
  }

  async #rewind(data: Data, leader: Server): Promise<void> {
    const same = common(data, leader.data);
    if (same === data.wal.length || same === leader.data.wal.length) return;
    await this.pause(rewindMs);
    if (leader.isUp && this.host.network.reaches(this.ip, leader.ip)) rewind(data, common(data, leader.data));
  }

  /** What the others say of themselves when they are asked now. */
  #ask(view: View): Told[] {
    const known = new Map(view.members.map(({ name, ip }) => [name, ip]));
    for (const [name, ip] of Object.entries(view.failsafe ?? {})) if (!known.has(name)) known.set(name, ip);
    return [...known].flatMap(([name, ip]): Told[] => {
      const member = this.host.processes.at(ip);
      const server = member?.server;
      if (name === this.name || member?.isUp !== true || !this.host.network.reaches(this.ip, ip)) return [];
      if (server?.isUp !== true || member.state !== 'running') return [];
      return [{ name, isInRecovery: server.role === 'replica', lsn: server.lsn, timeline: server.timeline }];
    });
  }

  #isFailoverPossible(view: View, only?: string): boolean {
    const told = this.#ask(view).filter(({ name }) => only === undefined || name === only);
    const able = told.filter(({ timeline }) => timeline >= clusterTimeline(view));
    if (only !== undefined || !isSyncActive(view)) return able.length > 0;
    return able.filter(({ name }) => view.sync.voters.includes(name)).length - 1 >= view.sync.quorum;
  }

  async #elect(view: View, server: Server): Promise<void> {
    const own = { name: this.name, isPrimary: server.role === 'primary', timeline: server.timeline, lsn: server.lsn };
    if (!mayBeElected(view, own, this.#ask(view))) {
      if (view.failover !== undefined) await this.pause(2_000);
      return server.role === 'primary' ? this.#demote(server, { mayRelease: false }) : server.follow(undefined);
    }
    if (!(await this.#take(view))) {
      return server.role === 'primary' ? this.#demote(server, { mayRelease: false }) : undefined;
    }
    if (view.failover !== undefined) await this.#clearFailover();
    await this.#lead(this.#look(), server);
  }

  async #clearFailover(): Promise<void> {
    await this.host.store.write('failover', { leader: null, member: null, scheduled_at: null });
  }

  async #take(view: View): Promise<boolean> {
    const version = view.versions.leader;
    // A lock that is not there would have to be made, which the Role does not allow.
    if (version === undefined) return false;
    const now = new Date(this.host.time.now()).toISOString();
    const transitions = Number(view.lock.transitions ?? 0) + (view.holder === this.name ? 0 : 1);
    const isTaken = await this.host.store.write(
      'leader',
      {
        ...{ leader: this.name, ttl: String(this.#config.ttl ?? 30), renewTime: now, acquireTime: now },
        transitions: String(transitions),
      },
      version,
    );
    if (isTaken) {
      this.#hasLed = true;
      this.#look();
    }
    return isTaken;
  }

  async #renew(view: View): Promise<boolean> {
    if (view.versions.leader === undefined) return false;
    const failsafe = Object.fromEntries(view.members.map(({ name, ip }) => [name, ip]));
    const isRenewed = await this.host.store.write(
      'leader',
      {
        ...{ leader: this.name, ttl: String(this.#config.ttl ?? 30) },
        renewTime: new Date(this.host.time.now()).toISOString(),
        optime: String(this.server?.lsn ?? view.optime),
        failsafe: this.#config.failsafe_mode === true ? JSON.stringify(failsafe) : null,
      },
      view.versions.leader,
    );
    if (isRenewed) this.#look();
    return isRenewed || this.#look().holder === this.name;
  }

  /** Gives up the lock. */
  async release(): Promise<void> {
    const view = this.#look();
    if (view.holder === this.name) await this.host.store.write('leader', { leader: null }, view.versions.leader);
    this.#hasLed = false;
  }

  async #follow(view: View, server: Server): Promise<void> {
    if (this.hasLock) {
      if (!(await this.#renew(view))) {
        return server.role === 'primary' ? this.#demote(server, { mayRelease: false }) : undefined;
      }
      if (await this.#handsOver(view, server)) return;
      return this.#lead(this.#look(), server);
    }
    if (server.role === 'primary') return this.#demote(server, { mayRelease: false });
    const address = this.#leaderIn(view);
    server.follow(address);
    const leader = this.#primaryAt(address);
    const { data } = server;
    if (leader === undefined || server.isStreaming) return;
    const same = common(data, leader.data);
    if (same === data.wal.length || same === leader.data.wal.length) return;
    this.#aside('rewind', async () => {
      await server.stop();
      await this.#rewind(data, leader);
      await this.#startStandby(data);
    });
  }

  /** A switchover that somebody has asked for: true where it has begun. */
  async #handsOver(view: View, server: Server): Promise<boolean> {
    const { failover } = view;
    if (failover === undefined || server.role !== 'primary') return false;
    const { leader, candidate } = failover;
    const isForUs = (leader === '' || leader === this.name) && candidate !== this.name;
    if (isForUs && this.#isFailoverPossible(view, candidate === '' ? undefined : candidate)) {
      this.#aside('switchover: demote', () => this.#demote(server, { mayRelease: true }));
      return true;
    }
    await this.#clearFailover();
    return false;
  }

  async #lead(view: View, server: Server): Promise<void> {
    if (server.role === 'primary') {
      await this.#synchronize(view, server);
      const history = JSON.stringify(historyOf(server.data));
      if (history !== JSON.stringify(view.history)) await this.host.store.write('config', { history });
      return;
    }
    this.#waitAsBefore(view, server);
    this.#aside('promote', async () => {
      await this.pause(promoteMs);
      // Whoever has lost the lock meanwhile finds out in the next round.
      if (server.hasEnded || server.role === 'primary') return;
      server.promote();
      this.host.processes.onPromoted(server);
      this.#called();
    });
  }

  /** Commits of the new primary wait for those that an election would ask. */
  #waitAsBefore(view: View, server: Server): void {
    if (!isSyncActive(view)) {
      server.setSynchronous([], 0);
      return;
    }
    const members = [...new Set([view.sync.leader, ...view.sync.voters])];
    const others = members.filter((name) => name !== this.name);
    const count = members.length - view.sync.quorum - (members.includes(this.name) ? 1 : 0);
    server.setSynchronous(others, Math.max(0, count));
  }

  async #synchronize(view: View, server: Server): Promise<void> {
    const { store } = this.host;
    if (this.#config.synchronous_mode !== 'quorum') {
      if (view.sync.leader !== '') await store.write('sync', { leader: null, sync_standby: null, quorum: null });
      return server.setSynchronous([], 0);
    }
    const began = this.#now;
    const wanted = Number(this.#config.synchronous_node_count ?? 1);
    const isStrict = this.#config.synchronous_mode_strict === true;
    let now = view;
    if (now.sync.leader === '') {
      await store.write('sync', { leader: this.name, sync_standby: '', quorum: '0' }, now.versions.sync);
      now = this.#look();
    }
    while (this.#now - began < this.#roundMs && server.isUp && !this.#isTerminating) {
      const names = [...server.synchronous.names];
      const known = new Set(now.members.map(({ name }) => name));
      const active = server.followers.filter((name) => known.has(name));
      const waiting = { names, count: server.synchronous.count };
      const isCaughtUp = server.caughtUp(names) >= waiting.count;
      const step = nextTransition(this.name, now.sync, waiting, active, wanted, isCaughtUp);
      if (step === undefined) {
        if (isCaughtUp || names.length === 0) return;
        await this.pause(1_000);
      } else if (step.change === 'server') {
        if (isStrict && step.count === 0) {
          // Nobody has this name: commits wait.
          server.setSynchronous(['*'], 1);
          return;
        }
        if (step.names.length === 0 && names.length === 0) return;
        server.setSynchronous(step.names, step.count);
        if (names.length === 0) await this.pause(1_000);
      } else {
        const isWritten = await store.write(
          'sync',
          { leader: this.name, sync_standby: step.voters.join(','), quorum: String(step.quorum) },
          now.versions.sync,
        );
        if (!isWritten) return;
        // Right after a promotion nobody is connected yet.
        if (now.sync.leader !== this.name && !active.some((name) => names.includes(name))) return;
      }
      now = this.#look();
    }
  }

  async #demote(server: Server, { mayRelease }: { readonly mayRelease: boolean }): Promise<void> {
    const { data } = server;
    this.state = 'stopping';
    if (mayRelease) {
      await server.stop();
      await this.pause(1_000);
      await this.release();
      await this.pause(2_000);
    } else {
      server.end();
      this.#hasLed = false;
      await this.pause(100);
    }
    let leader: Server | undefined;
    try {
      leader = this.#primaryAt(this.#leaderIn(this.#look()));
    } catch (error) {
      if (!(error instanceof StoreAway)) throw error;
    }
    if (leader !== undefined) await this.#rewind(data, leader);
    await this.#startStandby(data);
  }

  /** PostgreSQL starts again. Resolves with whether it was. */
  async restart(): Promise<boolean> {
    const { server } = this;
    if (server === undefined || server.hasEnded || this.busy !== undefined) return false;
    return new Promise((resolve) => {
      this.#aside('restart', async () => {
        const { role, data, synchronous } = server;
        this.state = 'restarting';
        await server.stop();
        await this.pause(startMs);
        this.#start(data, role);
        this.server?.setSynchronous(synchronous.names, synchronous.count);
        this.server?.follow(this.#leaderIn(this.view));
        this.state = 'running';
        resolve(true);
      });
    });
  }

  /** What it says of itself on its pod. */
  async touch(): Promise<void> {
    const { store } = this.host;
    const view = this.#look();
    const isLeader = view.holder === this.name && !this.isUnlocked;
    const isStandby = this.state === 'running' && this.server?.role === 'replica';
    const label = isLeader ? 'primary' : isStandby ? 'replica' : undefined;
    const own = view.members.find(({ name }) => name === this.name);
    const timeline = this.data === undefined ? 0 : timelineOf(this.data);
    const role = this.isPrimary ? 'primary' : 'replica';
    const pending = Object.keys(this.pending).length > 0;
    const isSame =
      own?.state === this.state &&
      own.role === role &&
      own.timeline === timeline &&
      own.ip === this.ip &&
      own.pending === pending;
    if (isSame && own.label === label) return;
    const status = {
      conn_url: `postgres://${this.ip}:5432/postgres`,
      api_url: `https://${this.ip}:8008/patroni`,
      ...{ state: this.state, role, timeline },
      ...(pending ? { pending_restart: true } : {}),
    };
    await store.label(this.name, {
      labels: { 'clusterwright.dev/role': label ?? null },
      annotations: { status: JSON.stringify(status) },
    });
  }

  /** The callback: takes the label from everybody else, as long as the lock is its own. */
  #called(): void {
    const { store } = this.host;
    void (async () => {
      for (let tries = 0; tries < 60; tries++) {
        try {
          const others = store.podsLabelled('primary').filter(({ metadata }) => metadata.name !== this.name);
          if (store.view().holder !== this.name || others.length === 0) return;
          for (const { metadata } of others) {
            const { name, resourceVersion } = metadata;
            await store.label(name, { resourceVersion, labels: { 'clusterwright.dev/role': null } });
          }
        } catch (error) {
          if (!(error instanceof StoreAway)) throw error;
        }
        await this.pause(500);
      }
    })();
  }

  /** SIGTERM. */
  async terminate(): Promise<void> {
    if (this.#isTerminating) return;
    this.#isTerminating = true;
    const { server } = this;
    this.state = 'stopping';
    if (server !== undefined && !server.hasEnded) await server.stop();
    this.state = 'stopped';
    try {
      if (this.view?.holder === this.name) await this.release();
      await this.touch();
    } catch (error) {
      if (!(error instanceof StoreAway)) throw error;
    }
    this.host.exit(0);
  }
}

function isSystemId(text: string | undefined): boolean {
  return text !== undefined && /^\d+$/.test(text);
}
