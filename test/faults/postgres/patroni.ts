import { mayBeElected } from './election.ts';
import { parametersIn, pendingIn } from './parameters.ts';
import { Participant, type PatroniHost } from './participant.ts';
import { Server } from './server.ts';
import { StoreAway, type View } from './store.ts';
import { synchronize, waitAsBefore } from './synchronize.ts';
import { common, copyOf, type Data, discard, historyOf, keep, newDatabase, rewind } from './wal.ts';

const startMs = 300;
const initMs = 1_500;
/** Until the roles of a new database are there. */
const rolesMs = 600;
const copyMs = 800;
const promoteMs = 250;
const rewindMs = 500;
/** Of the hook before the end of a pod, for Patroni's answer. */
const unansweredMs = 1_000;
/** Patroni's own wait after a reload. */
const reloadMs = 1_000;

/** PostgreSQL refuses data of another version. */
class Incompatible extends Error {
  override readonly name = 'Incompatible';

  constructor(data: number, server: number) {
    super(`the data is of PostgreSQL ${data}, and the server is ${server}`);
  }
}

export class Patroni extends Participant {
  constructor(host: PatroniHost) {
    super(host);
    void this.#run();
  }

  /** Of the programs that it starts. */
  get #major(): number {
    return Math.floor(this.host.serverVersion / 10_000);
  }

  async #run(): Promise<void> {
    await this.pause(this.host.random() * 300);
    while (!this.hasEnded && !this.isTerminating) {
      await this.#cycle();
      this.beatAt = this.now;
      await Promise.race([
        this.pause(this.roundMs + (this.hasLock ? 0 : 500)),
        new Promise<void>((resolve) => {
          this.wake = resolve;
        }),
      ]);
      // Woken up while it stands still.
      await this.pause(0);
    }
  }

  async #cycle(): Promise<void> {
    try {
      await this.#round(this.look());
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
      await store.write('config', { config: JSON.stringify(this.settings) });
    if (this.busy !== undefined) {
      if (this.hasLed && this.hasLock) await this.renew(view);
      return;
    }
    if (data === undefined) return this.#withoutData(view);
    // Without its control file it is nobody's.
    if (data.isControlAside) return;
    if (isSystemId(view.initialize)) {
      if (view.initialize !== data.systemId && !this.isPaused) return this.#exit('system ID mismatch');
      if (view.initialize !== data.systemId && this.hasLock) return this.release();
    } else if (this.isUnlocked && !this.isPaused) {
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
    const wanted = parametersIn(this.settings);
    const text = JSON.stringify(wanted);
    if (text === this.reloaded) return;
    this.reloaded = text;
    server.reload(wanted);
    await this.pause(reloadMs);
    this.pending = pendingIn(server.parameters, wanted);
  }

  #exit(words: string): void {
    this.host.exit(1, words);
  }

  async #withoutStore(): Promise<void> {
    const { server } = this;
    if (server === undefined || server.hasEnded || server.role !== 'primary' || this.isPaused) return;
    if (this.settings.failsafe_mode === true && this.#mayGoOn()) {
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
    if (this.isPaused) return;
    const bootstrap = this.host.bootstrap();
    if (this.isUnlocked && view.initialize === undefined && bootstrap !== undefined) {
      if (await this.host.store.write('config', { initialize: '' }, view.versions.config)) {
        this.settings = bootstrap;
        this.#aside('bootstrap', () => this.#form());
      }
      return;
    }
    const leader = this.leaderIn(view);
    if (!this.isUnlocked && leader !== undefined) this.#aside('bootstrap from leader', () => this.#copy(leader));
  }

  /** Starts something that takes time. */
  #aside(what: string, work: () => Promise<void>): void {
    this.busy = what;
    void work()
      .catch((error: unknown) => {
        if (!(error instanceof Incompatible)) throw error;
        this.state = 'start failed';
      })
      .finally(() => {
        this.busy = undefined;
        this.wake();
      });
  }

  async #form(): Promise<void> {
    const { processes, random, store } = this.host;
    this.state = 'initializing new cluster';
    await this.pause(initMs);
    const volume = this.host.volume();
    if (volume === undefined) return;
    const systemId = String(7_500_000_000_000_000_000n + BigInt(Math.floor(random() * 2 ** 52)));
    const data = newDatabase(systemId, this.#major);
    keep(volume, data);
    this.#start(data, 'primary');
    this.state = 'running';
    await this.pause(rolesMs);
    await this.server?.commit({ what: 'role', name: 'clusterwright' });
    await store.write('config', { initialize: systemId, config: JSON.stringify(this.settings) });
    processes.onFormed(this.name, systemId);
    if (await this.take(this.look())) this.called();
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
    // `database files are incompatible with server`, or there is none of this version.
    if (data.major !== this.#major) throw new Incompatible(data.major, this.#major);
    const host = {
      ...{ name: this.name, ip: this.ip, time, network, megabytes: this.host.megabytes() },
      serverAt: (ip: string) => processes.at(ip)?.server,
      onAcknowledged: processes.onAcknowledged,
      onStarted: (on: Data) => processes.onStarted(this.name, on),
    };
    this.server = new Server(host, data, role, parametersIn(this.settings));
    this.reloaded = JSON.stringify(parametersIn(this.settings));
    // A standby keeps what its primary has: that is pending, too.
    this.pending = pendingIn(this.server.parameters, parametersIn(this.settings));
    this.server.isFrozen = this.isFrozen;
  }

  async #startStandby(data: Data): Promise<void> {
    this.state = 'starting';
    await this.pause(startMs);
    this.#start(data, 'replica');
    this.state = 'running';
    this.server?.follow(this.leaderIn(this.view));
  }

  async #recover(view: View, data: Data): Promise<void> {
    if (this.isPaused) {
      this.state = 'stopped';
      return this.hasLock ? this.release() : undefined;
    }
    if (this.state === 'running') this.state = 'crashed';
    if (this.hasLock && (await this.renew(view))) {
      const isAtOnce = Number(this.settings.primary_start_timeout ?? 300) === 0;
      const wasPrimary = data.wasPrimary && this.server !== undefined;
      if (isAtOnce && this.isFailoverPossible(view)) {
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
    const leader = this.primaryAt(this.leaderIn(this.look()));
    this.#aside('starting as a secondary', async () => {
      if (leader !== undefined) await this.#rewind(data, leader);
      await this.#startStandby(data);
    });
  }

  async #rewind(data: Data, leader: Server): Promise<void> {
    const same = common(data, leader.data);
    if (same === data.wal.length || same === leader.data.wal.length) return;
    await this.pause(rewindMs);
    if (leader.isUp && this.host.network.reaches(this.ip, leader.ip)) rewind(data, common(data, leader.data));
  }

  async #elect(view: View, server: Server): Promise<void> {
    if (this.isPaused) return this.#keepOn(view, server);
    const own = { name: this.name, isPrimary: server.role === 'primary', timeline: server.timeline, lsn: server.lsn };
    if (!mayBeElected(view, own, this.ask(view))) {
      if (view.failover !== undefined) await this.pause(2_000);
      return server.role === 'primary' ? this.#demote(server, { mayRelease: false }) : server.follow(undefined);
    }
    if (!(await this.take(view))) {
      return server.role === 'primary' ? this.#demote(server, { mayRelease: false }) : server.follow(undefined);
    }
    if (view.failover !== undefined) await this.clearFailover();
    await this.#lead(this.look(), server);
  }

  /** Paused, and nobody has the lock: nobody is elected, and a primary stays one. */
  async #keepOn(view: View, server: Server): Promise<void> {
    if (server.role === 'replica' || view.initialize !== server.data.systemId) return;
    if (await this.take(view)) await this.#lead(this.look(), server);
  }

  async #follow(view: View, server: Server): Promise<void> {
    if (this.hasLock && this.isPaused && server.role === 'replica') return this.release();
    if (this.hasLock) {
      if (!(await this.renew(view))) {
        return server.role === 'primary' ? this.#demote(server, { mayRelease: false }) : undefined;
      }
      if (await this.#handsOver(view, server)) return;
      return this.#lead(this.look(), server);
    }
    if (server.role === 'primary' && this.isPaused) return;
    if (server.role === 'primary') return this.#demote(server, { mayRelease: false });
    const address = this.leaderIn(view);
    server.follow(address);
    const leader = this.primaryAt(address);
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
    if (isForUs && this.isFailoverPossible(view, candidate === '' ? undefined : candidate)) {
      this.#aside('switchover: demote', () => this.#demote(server, { mayRelease: true }));
      return true;
    }
    await this.clearFailover();
    return false;
  }

  async #lead(view: View, server: Server): Promise<void> {
    if (server.role === 'primary') {
      await synchronize(this, view, server);
      const history = JSON.stringify(historyOf(server.data));
      if (history !== JSON.stringify(view.history)) await this.host.store.write('config', { history });
      return;
    }
    waitAsBefore(this.name, view, server);
    this.#aside('promote', async () => {
      await this.pause(promoteMs);
      // Whoever has lost the lock meanwhile finds out in the next round.
      if (server.hasEnded || server.role === 'primary') return;
      server.promote();
      this.host.processes.onPromoted(server);
      this.called();
    });
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
      this.hasLed = false;
      await this.pause(100);
    }
    let leader: Server | undefined;
    try {
      leader = this.primaryAt(this.leaderIn(this.look()));
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
        this.server?.follow(this.leaderIn(this.view));
        this.state = 'running';
        resolve(true);
      });
    });
  }

  /** As by SIGHUP: in the next round PostgreSQL reads its files, whether they have changed or not. */
  readAnew(): void {
    this.reloaded = '';
  }

  /** Deletes the data and copies the leader's. In words why not; undefined where it has begun. */
  reinitialize(): string | undefined {
    if (this.busy !== undefined) return `${this.busy} already in progress`;
    if (this.isUnlocked) return 'Cluster has no leader, can not reinitialize';
    if (this.hasLock) return 'I am the leader, can not reinitialize';
    const leader = this.leaderIn(this.view);
    const volume = this.host.volume();
    if (leader === undefined || volume === undefined) return 'reinitialize failed';
    this.#aside('reinitialize', async () => {
      this.state = 'stopping';
      await this.server?.stop();
      discard(volume);
      await this.#copy(leader);
    });
    return undefined;
  }

  /** As `pre-stop.py`: where Patroni is paused, or does not answer, PostgreSQL is stopped before it. */
  async stopWherePaused(): Promise<void> {
    if (this.isUp && !this.isPaused) return;
    await this.pause(this.isUp ? 50 : unansweredMs);
    if (this.server?.hasEnded === false) await this.server.stop();
  }

  /** SIGTERM. */
  async terminate(): Promise<void> {
    if (this.isTerminating) return;
    this.isTerminating = true;
    const { server } = this;
    // PostgreSQL runs on, and the kernel ends it with the container.
    if (this.isPaused) return this.host.exit(0);
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
