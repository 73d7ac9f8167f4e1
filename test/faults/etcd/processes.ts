/** Who runs where: how simulated members find each other, and how a harness finds one to freeze it. */
import type { Disk } from './disk.ts';
import type { Member } from './member.ts';

/** Something that no rule of the operator may ever bring about, found by a member itself. */
export type Told = (what: string) => void;

export class Processes {
  readonly #members = new Map<string, Member>();
  /** Called with every process that begins to work on its data. */
  onStart: (member: Member, origin: Origin) => void = () => undefined;
  /** Called when something that was agreed on is lost. */
  onLoss: Told = () => undefined;
  /** Called with every change that the members have agreed on, once each. */
  onAgreed: (disk: Disk, index: number) => void = () => undefined;

  at(ip: string): Member | undefined {
    return this.#members.get(ip);
  }

  get all(): Iterable<Member> {
    return this.#members.values();
  }

  add(member: Member): void {
    this.#members.set(member.ip, member);
  }

  remove(member: Member): void {
    if (this.at(member.ip) === member) this.#members.delete(member.ip);
  }
}

/** How a process came to its data. */
export type Origin = 'formed' | 'joined' | 'resumed' | 'alone';
