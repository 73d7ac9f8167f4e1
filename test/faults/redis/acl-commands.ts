/** Commands as the rules of ACL users know them: those that the simulation is asked about, and some that only administrators may run. */
export interface CommandShape {
  /** Number of words, the name among them; negative for at least that many. */
  readonly words: number;
  readonly isAdmin?: true;
  /** Which of its words are keys. */
  readonly keys?: 'first' | 'all';
  readonly hasChannel?: true;
}

const shapes: Readonly<Record<string, CommandShape>> = {
  ...{ ping: { words: -1 }, echo: { words: 2 }, info: { words: -1 } },
  ...{ get: { words: 2, keys: 'first' }, mget: { words: -2, keys: 'all' }, exists: { words: -2, keys: 'all' } },
  ...{ set: { words: -3, keys: 'first' }, del: { words: -2, keys: 'all' } },
  publish: { words: 3, hasChannel: true },
  ...{ role: { words: 1, isAdmin: true }, save: { words: 1, isAdmin: true }, shutdown: { words: -1, isAdmin: true } },
  ...{
    replicaof: { words: 3, isAdmin: true },
    slaveof: { words: 3, isAdmin: true },
    failover: { words: -1, isAdmin: true },
  },
  ...{ 'acl|setuser': { words: -3, isAdmin: true }, 'acl|deluser': { words: -3, isAdmin: true } },
  ...{ 'acl|getuser': { words: 3, isAdmin: true }, 'acl|users': { words: 2, isAdmin: true } },
  ...{ 'config|get': { words: -3, isAdmin: true }, 'config|set': { words: -4, isAdmin: true } },
  ...{ 'client|kill': { words: -3, isAdmin: true }, 'client|pause': { words: -3, isAdmin: true } },
};

export const adminCommandNames: readonly string[] = Object.entries(shapes).flatMap(([name, { isAdmin }]) =>
  isAdmin === true ? [name] : [],
);

const containerOf = (name: string): string => name.split('|')[0] ?? '';

/** By its whole name: `config|get`. */
export const shapeOf = (name: string): CommandShape | undefined =>
  Object.hasOwn(shapes, name) ? shapes[name] : undefined;

/** Whether rules may name it, or the one that has it as a part. */
export const isCommand = (name: string): boolean =>
  Object.keys(shapes).some((known) => known === name || containerOf(known) === name);

/** The name of a command with its subcommand: `config|get` for `CONFIG GET maxmemory`. */
export function nameOf([first = '', second = '']: readonly string[]): string {
  const name = first.toLowerCase();
  const whole = `${name}|${second.toLowerCase()}`;
  return shapeOf(whole) === undefined ? name : whole;
}

/** Whether a rule about `named` (a command, one with all its parts, or a category) is about this command. */
export function isAbout(named: string, command: string): boolean {
  if (named === '@admin') return shapeOf(command)?.isAdmin === true;
  return named === command || named === containerOf(command);
}

/** COMMAND INFO, of which nobody reads more than name and number of words. */
export const commandInfo = (name: string) => {
  const shape = shapeOf(name.toLowerCase());
  return shape === undefined ? null : [name.toLowerCase(), shape.words, [], 0, 0, 0, [], [], [], []];
};
