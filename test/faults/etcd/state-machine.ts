/** What follows from the entries that are agreed on: who is a member, which keys there are, which alarms, who may ask. */
import { hashed } from './corruption.ts';
import { type AlarmType, type Entry, type MemberRow, type Refusal, refusal } from './entry.ts';

interface Pair {
  readonly value: string;
  readonly created: number;
  readonly changed: number;
  readonly version: number;
}

/** Of an empty database. */
const emptyBytes = 20_480;
/** Of a key beside its name and value. */
const perKeyBytes = 64;

const sizeOf = (key: string, value: string): number => key.length + value.length + perKeyBytes;

export class StateMachine {
  /** Index of the last entry that is in here. */
  applied = 0;
  readonly members = new Map<string, MemberRow>();
  readonly removed = new Set<string>();
  readonly pairs = new Map<string, Pair>();
  readonly alarms: { readonly id: string; readonly alarm: AlarmType }[] = [];
  readonly users = new Map<string, { password: string; readonly roles: Set<string> }>();
  isAuthenticated = false;
  /** Undefined until they have agreed on one. */
  clusterMinor: number | undefined;
  /** To which minor version they may go back. */
  downgradeTarget: number | undefined;
  revision = 1;
  /** Of all changes up to each revision, the first of which is that of an empty database. */
  readonly hashes: number[] = [0];
  /** Revision up to which the history is dropped. */
  compacted = 0;
  #live = 0;
  #history = 0;

  get bytesInUse(): number {
    return emptyBytes + this.#live + this.#history;
  }

  get voters(): MemberRow[] {
    return [...this.members.values()].filter(({ isLearner }) => !isLearner);
  }

  /** What the entry came to, where that is no. Each member counts by its own setting how many learners may be. */
  apply({ change }: Entry, maxLearners: number): Refusal | undefined {
    this.applied++;
    switch (change.type) {
      case 'none':
      case 'token':
        return undefined;
      case 'addMember':
        return this.#add(change.member, maxLearners);
      case 'promote':
        return this.#promote(change.id);
      case 'removeMember':
        return this.#remove(change.id);
      case 'publish': {
        const row = this.members.get(change.id);
        if (row !== undefined) this.members.set(row.id, { ...row, name: change.name, clientUrls: change.clientUrls });
        return undefined;
      }
      case 'put':
        return this.#put(change.key, change.value);
      case 'compact':
        return this.#compact(change.revision);
      case 'alarm':
        this.#alarm(change.id, change.alarm, change.isOn);
        return undefined;
      case 'setUser':
        return this.#setUser(change.name, change.password, change.mustBeNew);
      case 'deleteUser':
        return this.#deleteUser(change.name);
      case 'grant':
        this.users.get(change.name)?.roles.add(change.role);
        return undefined;
      case 'setAuth':
        return this.#setAuth(change.isOn);
      case 'clusterVersion':
        this.clusterMinor = change.minor;
        return undefined;
      case 'downgrade':
        this.downgradeTarget = change.target;
        return undefined;
      default:
        return change satisfies never;
    }
  }

  #add(member: MemberRow, maxLearners: number): Refusal | undefined {
    const rows = [...this.members.values()];
    if (this.members.has(member.id)) return refusal('member ID already exist', 9);
    if (rows.some(({ peerUrls }) => peerUrls.some((url) => member.peerUrls.includes(url)))) {
      return refusal('Peer URLs already exists', 9);
    }
    if (member.isLearner && rows.filter(({ isLearner }) => isLearner).length >= maxLearners) {
      return refusal('too many learner members in cluster', 9);
    }
    this.members.set(member.id, member);
    return undefined;
  }

  #promote(id: string): Refusal | undefined {
    const row = this.members.get(id);
    if (row === undefined) return refusal('member not found', 5);
    if (!row.isLearner) return refusal('can only promote a learner member', 9);
    this.members.set(id, { ...row, isLearner: false });
    return undefined;
  }

  #remove(id: string): Refusal | undefined {
    if (!this.members.delete(id)) return refusal('member not found', 5);
    this.removed.add(id);
    return undefined;
  }

  #put(key: string, value: string): undefined {
    const before = this.pairs.get(key);
    this.revision++;
    this.hashes.push(hashed(`${key}=${value}`, this.hashes.at(-1)));
    this.#live += sizeOf(key, value);
    if (before !== undefined) {
      this.#live -= sizeOf(key, before.value);
      this.#history += sizeOf(key, before.value);
    }
    this.pairs.set(key, {
      value,
      created: before?.created ?? this.revision,
      changed: this.revision,
      version: (before?.version ?? 0) + 1,
    });
  }

  #compact(revision: number): Refusal | undefined {
    if (revision > this.revision) return refusal('mvcc: required revision is a future revision', 11);
    if (revision <= this.compacted) return refusal('mvcc: required revision has been compacted', 11);
    this.compacted = revision;
    // Everything before the last change: the operator never drops less.
    if (revision === this.revision) this.#history = 0;
    return undefined;
  }

  #alarm(id: string, alarm: AlarmType, isOn: boolean): void {
    const at = this.alarms.findIndex((raised) => raised.id === id && raised.alarm === alarm);
    if (isOn && at < 0) this.alarms.push({ id, alarm });
    if (!isOn && at >= 0) this.alarms.splice(at, 1);
  }

  #setUser(name: string, password: string, mustBeNew: boolean): Refusal | undefined {
    const user = this.users.get(name);
    if (mustBeNew && user !== undefined) return refusal('user name already exists', 9);
    if (!mustBeNew && user === undefined) return refusal('user name not found', 9);
    if (user === undefined) this.users.set(name, { password, roles: new Set() });
    else user.password = password;
    return undefined;
  }

  #deleteUser(name: string): Refusal | undefined {
    if (this.isAuthenticated && name === 'root') return refusal('invalid auth management', 3);
    return this.users.delete(name) ? undefined : refusal('user name not found', 9);
  }

  #setAuth(isOn: boolean): Refusal | undefined {
    if (isOn && this.users.get('root') === undefined) return refusal('root user does not exist', 9);
    if (isOn && this.users.get('root')?.roles.has('root') !== true) {
      return refusal('root user does not have root role', 9);
    }
    this.isAuthenticated = isOn;
    return undefined;
  }
}
