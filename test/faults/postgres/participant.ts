/**
 * What a process of Patroni knows and does beside its loop: the store as it sees it, the lock, what it says on its pod, and what the
 * others answer.
 */
import type { Random } from '../../../src/system/clock.ts';
import type { Network } from '../world/network.ts';
import type { VirtualTime } from '../world/time.ts';
import type { Volume } from '../world/workload.ts';
import { clusterTimeline, isSyncActive, type Told } from './election.ts';
import type { pendingIn } from './parameters.ts';
import type { Processes } from './processes.ts';
import type { Server } from './server.ts';
import { type Json, type Store, StoreAway, type View } from './store.ts';
import { type Data, dataOn, timelineOf } from './wal.ts';

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
  /** Its size. */
  megabytes(): number;
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
  | 'start failed'
  | 'creating replica'
  | 'initializing new cluster';

export class Participant {
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
  settings: Json = {};
  lock: { readonly record: string; readonly at: number } = { record: '', at: Number.NEGATIVE_INFINITY };
  /** Settings that PostgreSQL was last told of. */
  reloaded = '';
  hasLed = false;
  isTerminating = false;
  wake: () => void = () => undefined;
  held: (() => void)[] = [];
  /** When the loop last went round. */
  beatAt: number;

  constructor(host: PatroniHost) {
    this.host = host;
    this.beatAt = host.time.monotonic();
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
    return this.settings;
  }

  get now(): number {
    return this.host.time.monotonic();
  }

  get ttlMs(): number {
    return Number(this.view?.lock.ttl ?? this.settings.ttl ?? 30) * 1000;
  }

  get isPaused(): boolean {
    return this.settings.pause === true;
  }

  get roundMs(): number {
    return Number(this.settings.loop_wait ?? 10) * 1000;
  }

  /** Never resolves once the process has ended, and not while it stands still. */
  pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.host.time.after(ms, () => {
        if (this.hasEnded) return;
        if (this.isFrozen) this.held.push(resolve);
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
    for (const go of this.held.splice(0)) go();
  }

  /** SIGKILL. */
  end(): void {
    this.hasEnded = true;
    this.server?.end();
    this.host.processes.remove(this);
  }

  wakeUp(): void {
    this.wake();
  }

  /** One of the ConfigMaps has changed. */
  noticed(): void {
    this.host.time.after(noticeMs, () => this.wake());
  }

  get isUnlocked(): boolean {
    const { view } = this;
    return view?.holder === undefined || this.now > this.lock.at + this.ttlMs;
  }

  get hasLock(): boolean {
    return this.view?.holder === this.name && !this.isUnlocked;
  }

  look(): View {
    const view = this.host.store.view();
    const { leader, acquireTime, renewTime, transitions, ttl } = view.lock;
    const record = [leader, acquireTime, renewTime, transitions, ttl].join();
    if (record !== this.lock.record) this.lock = { record, at: this.now };
    this.view = view;
    if (view.config !== undefined) this.settings = view.config;
    // Of a database that has been restored, nobody has written them yet.
    else if (Object.keys(this.settings).length === 0) this.settings = this.host.bootstrap() ?? {};
    return view;
  }

  async take(view: View): Promise<boolean> {
    const version = view.versions.leader;
    // A lock that is not there would have to be made, which the Role does not allow.
    if (version === undefined) return false;
    const now = new Date(this.host.time.now()).toISOString();
    const isOwn = view.holder === this.name;
    const { transitions: before } = view.lock;
    const transitions = before === undefined ? 0 : Number(before) + (isOwn ? 0 : 1);
    const isTaken = await this.host.store.write(
      'leader',
      {
        ...{ leader: this.name, ttl: String(this.settings.ttl ?? 30), renewTime: now },
        acquireTime: (isOwn ? view.lock.acquireTime : undefined) ?? now,
        transitions: String(transitions),
      },
      version,
    );
    if (isTaken) {
      this.hasLed = true;
      this.look();
    }
    return isTaken;
  }

  async renew(view: View): Promise<boolean> {
    if (view.versions.leader === undefined) return false;
    const failsafe = Object.fromEntries(view.members.map(({ name, ip }) => [name, ip]));
    const isRenewed = await this.host.store.write(
      'leader',
      {
        ...{ leader: this.name, ttl: String(this.settings.ttl ?? 30) },
        renewTime: new Date(this.host.time.now()).toISOString(),
        optime: String(this.server?.lsn ?? view.optime),
        failsafe: this.settings.failsafe_mode === true ? JSON.stringify(failsafe) : null,
      },
      view.versions.leader,
    );
    if (isRenewed) this.look();
    return isRenewed || this.look().holder === this.name;
  }

  /** Gives up the lock. */
  async release(): Promise<void> {
    const view = this.look();
    if (view.holder === this.name) await this.host.store.write('leader', { leader: null }, view.versions.leader);
    this.hasLed = false;
  }

  async clearFailover(): Promise<void> {
    await this.host.store.write('failover', { leader: null, member: null, scheduled_at: null });
  }

  /** The address of whoever holds the lock, where it is somebody else. */
  leaderIn(view: View | undefined): string | undefined {
    if (view?.holder === undefined || view.holder === this.name) return undefined;
    return view.members.find(({ name }) => name === view.holder)?.ip;
  }

  primaryAt(ip: string | undefined): Server | undefined {
    const server = ip === undefined ? undefined : this.host.processes.at(ip)?.server;
    const isThere = server?.isUp === true && this.host.network.reaches(this.ip, server.ip);
    return isThere && server.role === 'primary' ? server : undefined;
  }

  /** What the others say of themselves when they are asked now. */
  ask(view: View): Told[] {
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

  isFailoverPossible(view: View, only?: string): boolean {
    const told = this.ask(view).filter(({ name }) => only === undefined || name === only);
    const able = told.filter(({ timeline }) => timeline >= clusterTimeline(view));
    if (only !== undefined || !isSyncActive(view)) return able.length > 0;
    return able.filter(({ name }) => view.sync.voters.includes(name)).length - 1 >= view.sync.quorum;
  }

  /** What it says of itself on its pod. */
  async touch(): Promise<void> {
    const { store } = this.host;
    const view = this.look();
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
  called(): void {
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
}
