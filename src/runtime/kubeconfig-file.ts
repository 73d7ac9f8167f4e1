/**
 * The text of kubeconfig files, checked and merged, with every value still knowing where it stands.
 *
 * An error about a value names the file and the path inside it; the value itself is quoted only where it cannot be a
 * secret.
 */
import { CredentialsError } from './credentials.ts';

/** A value inside a kubeconfig file. */
export class ConfigNode {
  /** Absolute path of the file. */
  readonly file: string;
  /** Path inside the file, for example `users[0].user.exec`. */
  readonly path: string;
  /** Name of the entry that this value belongs to. */
  readonly name: string;
  readonly #value: unknown;

  constructor(file: string, path: string, name: string, value: unknown) {
    this.file = file;
    this.path = path;
    this.name = name;
    this.#value = value;
  }

  get place(): string {
    return this.path === '' ? this.file : `${this.file}: ${this.path}`;
  }

  /** Null and the empty string count as not set, as they do for kubectl. */
  get isSet(): boolean {
    return this.#value !== undefined && this.#value !== null && this.#value !== '';
  }

  error(problem: string): CredentialsError {
    return new CredentialsError(this.place, problem);
  }

  /** Throws if the value is set at all. */
  refuse(why: string): void {
    if (this.isSet) throw this.error(why);
  }

  child(field: string): ConfigNode {
    const value = this.#value;
    if (this.isSet && (typeof value !== 'object' || Array.isArray(value))) throw this.error('not a mapping');
    const inner = this.isSet ? (value as Readonly<Record<string, unknown>>)[field] : undefined;
    return new ConfigNode(this.file, this.path === '' ? field : `${this.path}.${field}`, this.name, inner);
  }

  items(): ConfigNode[] {
    if (!this.isSet) return [];
    if (!Array.isArray(this.#value)) throw this.error('not a list');
    return this.#value.map((item, index) => new ConfigNode(this.file, `${this.path}[${index}]`, this.name, item));
  }

  strings(): string[] {
    return this.items().map((item) => item.string());
  }

  /** Of a mapping, in its order. */
  entries(): [key: string, value: ConfigNode][] {
    const value = this.#value;
    if (!this.isSet) return [];
    if (typeof value !== 'object' || Array.isArray(value)) throw this.error('not a mapping');
    return Object.keys(value as object).map((key) => [key, this.child(key)]);
  }

  string(): string {
    const value = this.optionalString();
    if (value === undefined) throw this.error('is missing');
    return value;
  }

  optionalString(): string | undefined {
    if (!this.isSet) return undefined;
    if (typeof this.#value !== 'string') throw this.error(`not a string but a ${typeof this.#value}: put it in quotes`);
    return this.#value;
  }

  optionalBoolean(): boolean | undefined {
    if (!this.isSet) return undefined;
    if (typeof this.#value !== 'boolean') throw this.error('neither true nor false');
    return this.#value;
  }

  named(name: string): ConfigNode {
    return new ConfigNode(this.file, this.path, name, this.#value);
  }
}

type Entries = ReadonlyMap<string, ConfigNode>;

export interface MergedKubeconfig {
  /** The files it came from. */
  readonly place: string;
  readonly currentContext: string | undefined;
  readonly contexts: Entries;
  readonly clusters: Entries;
  readonly users: Entries;
}

/** The YAML library is loaded only here: a controller in a pod never needs it. */
export async function parseKubeconfig(text: string, file: string): Promise<MergedKubeconfig> {
  const { parseDocument } = await import('yaml');
  const document = parseDocument(text);
  const [problem] = document.errors;
  if (problem !== undefined) {
    const line = problem.linePos?.[0].line;
    // The library's message quotes the line, which may hold a token: only its code is passed on.
    throw new CredentialsError(line === undefined ? file : `${file}:${line}`, `not valid YAML: ${problem.code}`);
  }
  const root = new ConfigNode(file, '', '', document.toJS());
  return {
    place: file,
    currentContext: root.child('current-context').optionalString(),
    contexts: entries(root, 'contexts'),
    clusters: entries(root, 'clusters'),
    users: entries(root, 'users'),
  };
}

function entries(root: ConfigNode, list: string): Entries {
  const found = new Map<string, ConfigNode>();
  for (const item of root.child(list).items()) {
    const name = item.child('name').string();
    if (found.has(name)) throw item.child('name').error(`there is another entry of the name ${name}`);
    found.set(name, item.named(name));
  }
  return found;
}

/** Earlier files count first, entry by entry; an entry is never mixed from two files. */
export function mergeKubeconfigs(configs: readonly MergedKubeconfig[]): MergedKubeconfig {
  const merge = (pick: (config: MergedKubeconfig) => Entries): Entries =>
    new Map(configs.toReversed().flatMap((config) => [...pick(config)]));
  return {
    place: configs.map((config) => config.place).join(', '),
    currentContext: configs.map((config) => config.currentContext).find((context) => context !== undefined),
    contexts: merge((config) => config.contexts),
    clusters: merge((config) => config.clusters),
    users: merge((config) => config.users),
  };
}
