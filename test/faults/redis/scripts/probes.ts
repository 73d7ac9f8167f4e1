/** `admit.sh`, `ping.sh`, `alive.sh`, `watching.sh` and `sentinel-alive.sh`, step by step. True is exit code 0. */
import {
  confineClients,
  confineSentinelClients,
  fieldOf,
  isKnownTo,
  keepAccepted,
  localCli,
  namedPrimary,
  type PodShell,
  replicateFrom,
  sentinels,
  settlePassword,
  tellSentinels,
} from './pod-shell.ts';
import { keepUsers, restoreUsers } from './users.ts';
import { fallBehind, type Look, look, settleMark, settleTerm, wasHere } from './volume.ts';

export async function admit(shell: PodShell): Promise<boolean> {
  await settlePassword(shell, '6379');
  const seen = await look(shell);
  await confineClients(shell);
  const isKept = await settleMark(shell, seen);
  await settleTerm(shell, seen);
  const { info } = seen;
  const role = fieldOf(info, 'role');
  const toElect = async (): Promise<boolean> => (isKept && seen.isStale) || mayBeElected(shell);
  if (role === 'master') return (await restoreUsers(shell, '')) && toElect();
  if (role !== 'slave') return false;
  return fieldOf(info, 'master_link_status') === 'up'
    ? admitFollower(shell, info, isKept ? toElect : undefined)
    : findPrimary(shell, seen);
}

async function mayBeElected(shell: PodShell): Promise<boolean> {
  return (await localCli(shell, 'config', 'set', 'replica-priority', '100')) !== undefined;
}

/** `toElect` where its disk holds the data. */
async function admitFollower(
  shell: PodShell,
  info: readonly string[],
  toElect: (() => Promise<boolean>) | undefined,
): Promise<boolean> {
  if (toElect !== undefined && !(await toElect())) return false;
  const named = await namedPrimary(shell);
  if (named?.address === shell.podIP) return false;
  const [host, port] = named?.isSafe === true ? [named.address, '6379'] : ['127.0.0.1', '1'];
  if (host !== fieldOf(info, 'master_host')) {
    if ((await localCli(shell, 'role'))?.startsWith('slave') === true) await replicateFrom(shell, host, port);
    return false;
  }
  if (toElect === undefined) return false;
  for (const sentinel of named?.watching ?? []) if (!(await isKnownTo(shell, sentinel))) return false;
  return restoreUsers(shell, host);
}

async function findPrimary(shell: PodShell, { info, isStale }: Look): Promise<false> {
  if (fieldOf(info, 'master_sync_in_progress') !== '0') return false;
  const named = await namedPrimary(shell);
  if (named?.isSafe === true && named.address !== shell.podIP && !(await wasHere(shell, named.address))) {
    if (!isStale) await fallBehind(shell);
    if (named.address !== fieldOf(info, 'master_host')) await replicateFrom(shell, named.address, '6379');
  }
  return false;
}

const isSilence = (answer: string): boolean => answer === '' || answer.includes('Could not connect');
const isRefusal = (answer: string): boolean =>
  /NOAUTH|AUTH failed|max number of clients/.test(answer) || answer.startsWith('Error:');

export async function ping(shell: PodShell): Promise<boolean> {
  await settlePassword(shell, '6379');
  await tellSentinels(shell);
  if (sentinels(shell).length === 0) await keepAccepted(shell);
  await keepUsers(shell);
  const seen = await look(shell);
  await settleMark(shell, seen);
  await settleTerm(shell, seen);
  await confineClients(shell);
  const answer = await shell.heard(2, ['-p', '6379', 'ping'], true);
  if (isSilence(answer)) return false;
  if (isRefusal(answer)) return !shell.run.has('loading');
  const isLoading = /^(LOADING|MASTERDOWN)/.test(answer);
  if (isLoading) shell.run.set('loading', '');
  else shell.run.delete('loading');
  return !isLoading;
}

export async function alive(shell: PodShell): Promise<boolean> {
  return !isSilence(await shell.heard(2, ['-p', '6379', 'ping'], false));
}

export async function watching(shell: PodShell): Promise<boolean> {
  await settlePassword(shell, '26379');
  await shell.cli(2, ['-p', '26379', 'sentinel', 'debug', 'info-period', shell.config('info-period-ms').trim()]);
  await confineSentinelClients(shell);
  const question = ['-p', '26379', 'sentinel', 'get-master-addr-by-name', shell.clusterName];
  const answer = await shell.heard(2, question, true);
  if (isRefusal(answer)) return shell.run.has('watching');
  if (/^[0-9a-f][\s\S]*[.:]/.test(answer)) shell.run.set('watching', '');
  else shell.run.delete('watching');
  return shell.run.has('watching');
}

export async function sentinelAlive(shell: PodShell): Promise<boolean> {
  return !isSilence(await shell.heard(2, ['-p', '26379', 'ping'], false));
}
