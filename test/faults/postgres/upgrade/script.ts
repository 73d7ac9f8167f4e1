/**
 * `upgrade.sh`, translated: what it does to a volume, in the same order, so that it can be cut off between any two of its programs.
 *
 * Left out: a log with a volume of its own, extensions, statistics, roles, and the SQL of the user.
 */
import type { Volume } from '../../world/workload.ts';
import { checkpointOf, type Data, lsnText, timelineOf } from '../wal.ts';

export type Mode = 'checkpoint' | 'rehearse' | 'upgrade' | 'undo' | 'after';

/** A program of one of the two versions has failed, with these words. */
export class ProgramFailed extends Error {
  override readonly name = 'ProgramFailed';
}

/** What the script has in its container. Each program takes its time, and never comes back once the script is killed. */
export interface UpgradeShell {
  readonly old: string;
  readonly next: string;
  readonly volume: Volume;
  has(version: string): boolean;
  /** `pg_basebackup` of a member that runs. */
  baseBackup(): Promise<Data>;
  initdb(): Promise<Data>;
  /** `--check` or `--link`. Rejects with its words. */
  pgUpgrade(how: 'check' | 'link', old: Data, made: Data): Promise<void>;
  start(version: string, data: Data): Promise<void>;
  stop(version: string, data: Data): Promise<void>;
  /** `vacuumdb`, as the operator's role. */
  vacuum(): Promise<void>;
}

export interface End {
  /** 3: it would fail again, and the old data is as it was. */
  readonly code: number;
  readonly message: string;
}

class Refusal extends Error {
  override readonly name = 'Refusal';
}

const refuse = (words: string): never => {
  throw new Refusal(words);
};

export async function runUpgrade(mode: Mode, shell: UpgradeShell): Promise<End> {
  try {
    for (const version of [shell.old, shell.next])
      if (!shell.has(version)) refuse(`the image has no PostgreSQL ${version}: pg_upgrade needs both`);
    return { code: 0, message: await modes[mode](new Script(shell)) };
  } catch (error) {
    if (error instanceof Refusal) return { code: 3, message: error.message };
    if (error instanceof ProgramFailed) return { code: 1, message: error.message };
    throw error;
  }
}

const modes: Readonly<Record<Mode, (script: Script) => Promise<string>>> = {
  checkpoint: async (script) => script.checkpoint(),
  async rehearse(script) {
    await script.copy();
    return script.upgrade();
  },
  upgrade: (script) => script.upgrade(),
  undo: async (script) => script.back(),
  after: (script) => script.after(),
};

class Script {
  readonly #shell: UpgradeShell;

  constructor(shell: UpgradeShell) {
    this.#shell = shell;
  }

  get #names() {
    const { old, next } = this.#shell;
    const both = `${old}-${next}`;
    return {
      ...{ data: 'data', made: `data.new-${next}`, kept: `data.old-${old}` },
      ...{ linked: `linked-${both}`, warnings: `warnings-${both}` },
    };
  }

  #at(name: string): Data | undefined {
    return this.#shell.volume.get(name) as Data | undefined;
  }

  #major(): string {
    return String(this.#at(this.#names.data)?.major ?? 'none');
  }

  #move(from: string, to: string): void {
    const { volume } = this.#shell;
    volume.set(to, volume.get(from));
    volume.delete(from);
  }

  /** What `pg_controldata` says: nothing where the control file has been set aside. */
  #told(): string {
    const data = this.#at(this.#names.data);
    const seen = data === undefined || data.isControlAside ? undefined : data;
    return [
      `system=${seen?.systemId ?? ''}`,
      `state=${seen?.control ?? ''}`,
      `checkpoint=${seen === undefined ? '' : lsnText(checkpointOf(seen))}`,
    ].join('\n');
  }

  checkpoint(): string {
    const { old } = this.#shell;
    if (this.#major() !== old) refuse(`the volume holds no data of PostgreSQL ${old}, but: ${this.#major()}`);
    const data = this.#at(this.#names.data);
    return `${this.#told()}\ntimeline=${data === undefined || data.isControlAside ? '' : timelineOf(data)}`;
  }

  async copy(): Promise<void> {
    const { volume, old } = this.#shell;
    if (volume.has(this.#names.data)) refuse('the volume for the copy is not empty');
    const data = await this.#shell.baseBackup();
    volume.set(this.#names.data, data);
    await this.#shell.start(old, data);
    await this.#shell.stop(old, data);
  }

  #undo(): void {
    const { data, made } = this.#names;
    const old = this.#at(data);
    if (old !== undefined) {
      old.isControlAside = false;
      old.twin = undefined;
    }
    this.#shell.volume.delete(made);
  }

  async #link(old: Data): Promise<void> {
    this.#undo();
    const made = await this.#shell.initdb();
    this.#shell.volume.set(this.#names.made, made);
    for (const how of ['check', 'link'] as const) {
      try {
        await this.#shell.pgUpgrade(how, old, made);
      } catch (error) {
        if (!(error instanceof ProgramFailed)) throw error;
        this.#undo();
        refuse(error.message);
      }
    }
    this.#shell.volume.set(this.#names.linked, true);
  }

  async #finish(): Promise<void> {
    const made = this.#at(this.#names.made);
    if (made === undefined) throw new ProgramFailed('there is no data of the new version');
    await this.#shell.start(this.#shell.next, made);
    this.#shell.volume.set(this.#names.warnings, true);
    await this.#shell.stop(this.#shell.next, made);
  }

  async upgrade(): Promise<string> {
    const { volume, old, next } = this.#shell;
    const { data, made, kept, linked } = this.#names;
    const found = this.#at(data);
    if (found !== undefined && this.#major() === old) {
      if (!volume.has(linked)) await this.#link(found);
      await this.#finish();
      this.#move(data, kept);
    }
    if (!volume.has(data) && volume.has(linked)) this.#move(made, data);
    if (this.#major() !== next) refuse(`the volume holds no data of PostgreSQL ${old}, but: ${this.#major()}`);
    const now = this.#at(data);
    if (now !== undefined) now.twin = undefined;
    volume.delete(kept);
    volume.delete(linked);
    return `${this.#told()}\nwarnings=`;
  }

  back(): string {
    const { old, next, volume } = this.#shell;
    if (this.#major() !== old || volume.has(this.#names.linked))
      refuse(`PostgreSQL ${next} has run on this volume: its data is of version ${this.#major()}`);
    this.#undo();
    return this.checkpoint();
  }

  async after(): Promise<string> {
    if (Number(this.#shell.next) >= 17) await this.#shell.vacuum();
    return 'state=done';
  }
}
