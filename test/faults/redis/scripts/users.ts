/** What `library.sh` does with the users that the operator has set on a server, step by step. */
import { recordUser } from '../../../../src/engines/redis/client/user-record.ts';
import { identityOf, linesOf, localCli, nodeCli, ownPassword, type PodShell } from './pod-shell.ts';

/** With what a server has of the record; undefined where it does not tell. */
type Asked = (...args: readonly string[]) => Promise<string | undefined>;

/** The patterns, empty where there are none. Undefined where the server does not tell. */
async function recordAt(ask: Asked): Promise<string | undefined> {
  const told = (await ask('acl', 'getuser', recordUser))?.replace(/\n+$/, '');
  if (told === undefined || told === '') return told;
  if (!told.startsWith('flags')) return undefined;
  const lines = linesOf(told);
  const at = lines.indexOf('keys');
  return at === -1 ? '' : (lines[at + 1] ?? '');
}

const askLocal =
  (shell: PodShell): Asked =>
  (...args) =>
    localCli(shell, ...args);

export async function keepUsers(shell: PodShell): Promise<void> {
  const { run } = shell;
  if (run.has('restoring')) return;
  const record = await recordAt(askLocal(shell));
  if (record === '') run.delete('users');
  else if (record !== undefined) run.set('users', record);
}

/** `primary` is empty for a node that has none. False where the startup probe has to try again. */
export async function restoreUsers(shell: PodShell, primary: string): Promise<boolean> {
  const { run } = shell;
  const before = run.get('restoring');
  if (before === undefined) return true;
  const tries = `${before}.`;
  run.set('restoring', tries);
  if (!(await tryRestore(shell, primary)) && tries.length < 10) return false;
  run.delete('restoring');
  return true;
}

async function tryRestore(shell: PodShell, primary: string): Promise<boolean> {
  const kept = String(shell.run.get('users') ?? '').replace(/\n+$/, '');
  const record = primary === '' ? kept : await recordAt((...args) => nodeCli(shell, primary, ...args));
  if (record === undefined) return false;
  if (record === '') return true;
  const own = await ownPassword(shell);
  const tell = (...words: readonly string[]): Promise<string | undefined> =>
    own === ''
      ? localCli(shell, 'acl', 'setuser', ...words)
      : shell.cli(2, ['-p', '6379', '--user', identityOf(shell), 'acl', 'setuser', ...words], own);
  const patterns = record.split(' ');
  await tell(recordUser, 'reset', 'off', ...patterns);
  for (const pattern of patterns) {
    const [name = '', , ...words] = pattern.replace(/^~/, '').split(';');
    if (words.length > 0) await tell(name, 'reset', 'on', ...words);
  }
  return (await recordAt(askLocal(shell))) === record;
}
