/** Who runs where: how simulated members find each other, and how a harness finds one to freeze it. */
import type { SimulatedWorld } from '../subject.ts';
import type { ArchivedLog } from './archive.ts';
import type { Participant } from './participant.ts';
import type { Patroni } from './patroni.ts';
import type { Server } from './server.ts';
import type { Data, WalRecord } from './wal.ts';

export class Processes {
  /** Of the only cluster. */
  readonly archived: ArchivedLog = { stored: undefined, hasBase: false, storedAt: 0 };
  readonly #members = new Map<string, Patroni>();
  /** Set when the world is there, before any pod is. */
  world: SimulatedWorld | undefined;
  /** A new database has been made, and is finished. */
  onFormed: (name: string, systemId: string) => void = () => undefined;
  /** A standby takes writes from now on. */
  onPromoted: (server: Server) => void = () => undefined;
  onAcknowledged: (server: Server, record: WalRecord) => void = () => undefined;
  /** A server is about to run on this data. */
  onStarted: (name: string, data: Data) => void = () => undefined;
  /** A copy of the data has been upgraded. */
  onRehearsed: (from: number, to: number) => void = () => undefined;
  /** The data of a volume has become this. */
  onUpgraded: (data: Data) => void = () => undefined;
  /** What no process may be made to do. */
  onMisuse: (words: string) => void = () => undefined;
  /** A member copies what is on no volume of its own. */
  onCopied: (name: string, data: Data) => void = () => undefined;

  at(ip: string): Patroni | undefined {
    return this.#members.get(ip);
  }

  get all(): Iterable<Patroni> {
    return this.#members.values();
  }

  add(member: Patroni): void {
    this.#members.set(member.ip, member);
  }

  remove(member: Participant): void {
    if (this.at(member.ip) === member) this.#members.delete(member.ip);
  }
}
