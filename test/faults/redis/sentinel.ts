/**
 * A simulated sentinel: rounds of pings and questions, and what follows from the answers.
 *
 * A round comes once a second while all is well, and ten times a second while somebody is silent or a failover is under
 * way. Sentinels ask data nodes and each other within this process, as far as the network lets them.
 */

import { type Client, type Server, serveStream } from './client.ts';
import { Connections } from './connections.ts';
import { contact, type Hello, hear } from './contact.ts';
import type { DataNode } from './data-node.ts';
import { startIfNeeded, stepFailover } from './failover.ts';
import { hexId } from './identity.ts';
import type { Host } from './processes.ts';
import { executeSentinel } from './sentinel-commands.ts';
import { type SentinelConf, writeSentinelFile } from './sentinel-file.ts';
import { Users } from './users.ts';
import { askPeers, isUnsettled, judge, judgeTogether } from './votes.ts';
import {
  type AnyInstance,
  currentPrimary,
  instancesOf,
  newPeer,
  newPrimary,
  newReplica,
  newWatch,
  period,
  resetWatch,
  type Watch,
  type WatchSettings,
} from './watch.ts';

const calmMs = 1000;
const alertMs = 100;
/** How far apart two rounds of different sentinels may drift. */
const jitterMs = 40;

/** Where the start script puts the sentinel's file. */
const fileVolume = '/run/redis';

export class Sentinel implements Server {
  readonly kind = 'sentinel';
  readonly port = 26_379;
  readonly host: Host;
  readonly version: string;
  readonly id: string;
  readonly announceIp: string;
  readonly runId: string;
  readonly users: Users;
  readonly #conf: SentinelConf;
  /** As whom it logs in to other sentinels. */
  peerUser: string;
  peerPassword: string;
  readonly watches = new Map<string, Watch>();
  readonly connections: Connections;
  currentEpoch: number;
  infoPeriod: number = period.info;
  hasEnded = false;
  #cancelRound: (() => void) | undefined;
  #roundAt = 0;
  #stopListening: (() => void) | undefined;
  #isTerminating = false;

  constructor(host: Host, version: string, conf: SentinelConf) {
    this.host = host;
    this.version = version;
    this.id = conf.id === '' ? hexId(host.random) : conf.id;
    this.runId = this.id;
    this.announceIp = conf.announceIp === '' ? host.ip : conf.announceIp;
    this.#conf = conf;
    this.peerUser = conf.peerUser;
    this.peerPassword = conf.peerPassword;
    this.users = new Users(conf.users, () => conf.password, conf.accepted);
    this.currentEpoch = conf.currentEpoch;
    this.connections = new Connections(host.time, (client, args) => executeSentinel(this, client, args));
    const now = host.time.monotonic();
    for (const stored of conf.watches) {
      const watch = newWatch(stored.name, newPrimary(stored.ip, stored.port, now), { ...stored.settings });
      watch.configEpoch = stored.configEpoch;
      watch.leaderEpoch = stored.leaderEpoch;
      for (const [ip, port] of stored.replicas) watch.replicas.set(`${ip}:${port}`, newReplica(ip, port, now));
      for (const [ip, port, id] of stored.peers) watch.peers.set(id, newPeer(ip, port, id, now));
      this.watches.set(stored.name, watch);
    }
  }

  get ip(): string {
    return this.host.ip;
  }

  get now(): number {
    return this.host.time.monotonic();
  }

  get isFrozen(): boolean {
    return this.connections.isFrozen;
  }

  start(): void {
    const { host } = this;
    host.processes.add(this);
    this.#stopListening = host.network.listen(host.ip, this.port, (stream, from) => serveStream(this, stream, from));
    this.changed();
    this.#schedule(alertMs * host.random());
  }

  // Rounds.

  #schedule(ms: number): void {
    this.#cancelRound?.();
    this.#roundAt = this.now + ms;
    this.#cancelRound = this.host.time.after(ms, () => this.#round());
  }

  /** Something has changed that should not wait for a second. */
  wake(): void {
    if (!this.hasEnded && this.#roundAt > this.now + alertMs + jitterMs) {
      this.#schedule(alertMs * (0.5 + 0.5 * this.host.random()));
    }
  }

  /** A server has closed its connection: it is called again in the next round. */
  missed(ip: string): void {
    if (!this.isFrozen && this.reaches(ip)) this.wake();
  }

  #round(): void {
    let isCalm = true;
    if (!this.isFrozen) {
      for (const watch of this.watches.values()) {
        this.#handle(watch);
        if (isUnsettled(watch)) isCalm = false;
      }
    }
    if (this.hasEnded) return;
    this.#schedule((isCalm ? calmMs : alertMs) - jitterMs * this.host.random());
  }

  #handle(watch: Watch): void {
    const primary = watch.primary;
    contact(this, watch, primary);
    if (watch.primary === primary) {
      judge(this, watch, primary);
      judgeTogether(this, watch);
      if (startIfNeeded(this, watch)) askPeers(this, watch, true);
      stepFailover(this, watch);
      askPeers(this, watch, false);
    }
    for (const instance of [...watch.replicas.values(), ...watch.peers.values()]) {
      contact(this, watch, instance);
      judge(this, watch, instance);
    }
    if (watch.failover !== 'update_config' || watch.promoted === undefined) return;
    this.switchTo(watch, watch.promoted.ip, watch.promoted.port);
    this.changed();
  }

  // Whom it can talk to.

  reaches(ip: string): boolean {
    return this.host.network.reaches(this.host.ip, ip);
  }

  nodeAt(ip: string, port: number): DataNode | undefined {
    return port === 6379 ? this.host.processes.data(ip) : undefined;
  }

  peerAt(ip: string): Sentinel | undefined {
    return this.host.processes.sentinel(ip);
  }

  mayTalkTo(watch: Watch, node: DataNode): boolean {
    return node.users.takes(watch.settings.user, watch.settings.password);
  }

  mayTalkToPeer(peer: Sentinel): boolean {
    return peer.users.takes(this.peerUser, this.peerPassword);
  }

  /** `refused` is an answer, but none that counts as life. */
  pingOf(watch: Watch, server: DataNode | Sentinel): 'alive' | 'refused' {
    if (server.kind === 'sentinel') return this.mayTalkToPeer(server) ? 'alive' : 'refused';
    return this.mayTalkTo(watch, server) && !server.isDiskFailing ? 'alive' : 'refused';
  }

  /** Whether it has subscribed to the greetings that pass through a data node. */
  listensAt(node: DataNode): boolean {
    if (this.isFrozen || !this.reaches(node.ip)) return false;
    for (const watch of this.watches.values()) {
      const instance = watch.primary.ip === node.ip ? watch.primary : watch.replicas.get(`${node.ip}:${node.port}`);
      if (instance !== undefined && !instance.isDisconnected && this.mayTalkTo(watch, node)) return true;
    }
    return false;
  }

  greet(watch: Watch, other: Sentinel): void {
    if (other.isFrozen) return;
    const hello: Hello = {
      ip: this.announceIp,
      id: this.id,
      currentEpoch: this.currentEpoch,
      name: watch.name,
      primary: currentPrimary(watch),
      configEpoch: watch.configEpoch,
    };
    hear(other, hello);
  }

  /** The next round greets everybody, without waiting for its time. */
  greetSoon(watch: Watch): void {
    for (const instance of instancesOf(watch)) instance.helloAt = 0;
    this.wake();
  }

  /** REPLICAOF, with all clients sent away; `source` undefined makes it primary. False where it cannot be told. */
  sendReplicaOf(
    watch: Watch,
    to: AnyInstance,
    source: { readonly ip: string; readonly port: number } | undefined,
  ): boolean {
    const node = this.nodeAt(to.ip, to.port);
    if (node === undefined || !this.reaches(to.ip) || to.isDisconnected) return false;
    if (node.isLoading || !this.mayTalkTo(watch, node)) return true;
    if (node.users.refusal(watch.settings.user, ['SLAVEOF']) !== undefined) return true;
    node.obeySentinel(source);
    return true;
  }

  // What it knows.

  heardEpoch(epoch: number): void {
    if (epoch <= this.currentEpoch) return;
    this.currentEpoch = epoch;
    this.publish('+new-epoch', String(epoch));
    this.changed();
  }

  nextEpoch(): number {
    this.heardEpoch(this.currentEpoch + 1);
    return this.currentEpoch;
  }

  monitor(name: string, ip: string, port: number, settings: WatchSettings): void {
    const watch = newWatch(name, newPrimary(ip, port, this.now), settings);
    this.watches.set(name, watch);
    this.tell('+monitor', watch, watch.primary);
    this.changed();
    this.wake();
  }

  /** Another primary: the former one and all others become its replicas. */
  switchTo(watch: Watch, ip: string, port: number): void {
    const { primary } = watch;
    this.publish('+switch-master', `${watch.name} ${primary.ip} ${primary.port} ${ip} ${port}`);
    const others = [...watch.replicas.values(), primary].filter((o) => o.ip !== ip || o.port !== port);
    resetWatch(watch, ip, port, this.now);
    for (const other of others) {
      const replica = newReplica(other.ip, other.port, this.now);
      watch.replicas.set(`${other.ip}:${other.port}`, replica);
      this.tell('+slave', watch, replica);
    }
    this.greetSoon(watch);
  }

  /** Writes down what it knows. */
  changed(): void {
    writeSentinelFile(this.host.volume(fileVolume), {
      id: this.id,
      announceIp: this.announceIp,
      password: this.#conf.password,
      peerUser: this.peerUser,
      peerPassword: this.peerPassword,
      users: this.users.all,
      accepted: this.users.accepted,
      currentEpoch: this.currentEpoch,
      watches: [...this.watches.values()].map((watch) => ({
        name: watch.name,
        ...(({ ip, port }) => ({ ip, port }))(currentPrimary(watch)),
        settings: { ...watch.settings },
        configEpoch: watch.configEpoch,
        leaderEpoch: watch.leaderEpoch,
        replicas: [...watch.replicas.values()].map(({ ip, port }) => [ip, port] as const),
        peers: [...watch.peers.values()].map(({ ip, port, runId }) => [ip, port, runId] as const),
      })),
    });
  }

  // What it tells.

  tell(event: string, watch: Watch, about: AnyInstance, more = ''): void {
    const { primary, name } = watch;
    const text =
      about.kind === 'master'
        ? `master ${name} ${primary.ip} ${primary.port}`
        : `${about.kind} ${about.kind === 'sentinel' ? about.runId : `${about.ip}:${about.port}`} ${about.ip} ${about.port} @ ${name} ${primary.ip} ${primary.port}`;
    this.publish(event, `${text}${more}`);
  }

  publish(channel: string, text: string): void {
    for (const client of this.connections.clients) {
      if (client.channels.has(channel)) client.send(['message', channel, text]);
    }
  }

  // Clients, faults, the end.

  connect(client: Client): void {
    client.isAuthenticated = this.users.isOpen;
    this.connections.add(client);
  }

  disconnect(client: Client): void {
    this.connections.delete(client);
  }

  receive(client: Client, args: readonly string[]): void {
    if (!this.hasEnded) this.connections.receive(client, args);
  }

  freeze(): void {
    this.connections.freeze();
  }

  thaw(): void {
    this.connections.thaw();
    if (this.#isTerminating) this.terminate();
    else this.wake();
  }

  terminate(): void {
    if (this.hasEnded) return;
    this.#isTerminating = true;
    if (this.isFrozen) return;
    this.end();
    this.host.exit(0);
  }

  end(): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    this.#cancelRound?.();
    this.#stopListening?.();
    this.host.processes.remove(this);
    this.connections.closeAll();
    for (const other of this.host.processes.sentinels) other.missed(this.ip);
  }
}
