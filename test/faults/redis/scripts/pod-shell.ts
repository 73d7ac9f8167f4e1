/**
 * What the scripts of the pods work with, and their library, translated. Each function is named after what it has in
 * the shell; `real-scripts.test.ts` compares the translations with the scripts.
 */

import { createHash } from 'node:crypto';
import { clientRule, sentinelClientRule } from '../../../../src/engines/redis/resources/client-rule.ts';
import type { DataVolume } from './volume.ts';

export interface PodShell {
  readonly podIP: string;
  /** Namespace and name: what a sentinel's identity comes from. */
  readonly podName: string;
  readonly clusterName: string;
  /** Where the ConfigMap is mounted. */
  readonly configDir: string;
  /** With which the pod logs in: that of its start, until the server knows the mounted one. */
  password: string;
  /** What the Secret says now. */
  readonly mounted: string;
  /** Nothing has been started in it yet. */
  readonly isNew: boolean;
  /** Of the cluster's identity; undefined in a pod that was made before there was one. */
  readonly identityPassword: string | undefined;
  /** How many the pod was told; undefined where it was not. */
  readonly databases: string | undefined;
  /** A file of the ConfigMap; empty where it is not there. */
  config(name: string): string;
  /** `timeout SECONDS redis-cli ARGS`: what it prints, or undefined where it fails. `password`: another than the pod's. */
  cli(seconds: number, args: readonly string[], password?: string): Promise<string | undefined>;
  /** The same with what it prints of errors, by whom nobody has told the password where `login` is false. */
  heard(seconds: number, args: readonly string[], login: boolean, password?: string): Promise<string>;
  sleep(ms: number): Promise<void>;
  /** `date +%s` */
  seconds(): number;
  /** `/proc/uptime`, in milliseconds. */
  uptime(): number;
  /** The memory-backed directory: it outlives the container. */
  readonly run: Map<string, unknown>;
  readonly disk: DataVolume;
}

/** As the cluster's pods call it among themselves. */
export function identityOf({ podName, clusterName }: PodShell): string {
  return `clusterwright/${podName.split('/')[0]}/${clusterName}`;
}

export const hashOf = (password: string): string => createHash('sha256').update(password).digest('hex');

export function identityRule(shell: PodShell, password: string): string {
  return `user ${identityOf(shell)} on #${hashOf(password)} ~* &* +@all`;
}

/** In what a server tells of a user; each once. */
const hashesIn = (text: string | undefined): string[] => [
  ...new Set(linesOf(text).filter((line) => /^[0-9a-f]{64}$/.test(line))),
];

const acceptedIn = ({ run }: PodShell): string => {
  const found = run.get('accepted');
  return typeof found === 'string' ? found : '';
};

export async function learnAccepted(shell: PodShell, sentinel: string): Promise<void> {
  const { identityPassword } = shell;
  if (identityPassword === undefined) return;
  const args = ['-h', sentinel, '-p', '26379', '--user', identityOf(shell), 'acl', 'getuser', 'default'];
  const told = hashesIn(await shell.cli(1, args, identityPassword));
  if (told.length > 0) shell.run.set('accepted', told.join('\n'));
}

export async function keepAccepted(shell: PodShell): Promise<void> {
  const told = hashesIn(await localCli(shell, 'acl', 'getuser', 'default'));
  if (told.length > 0) shell.run.set('accepted', told.join('\n'));
}

/** The rule of the default user, where it is not that the pod's password alone is accepted. */
export function defaultRule(shell: PodShell): string[] {
  const own = hashOf(shell.password);
  const last = hashesIn(acceptedIn(shell));
  const all = [...new Set([...last, ...(shell.isNew || last.length === 0 ? [own] : [])])];
  if (all.length === 1 && all[0] === own) return [];
  return [`user default on ${all.map((hash) => `#${hash}`).join(' ')} ~* &* +@all`];
}

export async function settlePassword(shell: PodShell, port: string): Promise<void> {
  const { mounted } = shell;
  if (mounted === '' || mounted === shell.password) return;
  const answer = await shell.heard(2, ['-p', port, 'ping'], true, mounted);
  if (!/^(PONG|LOADING|MASTERDOWN|MISCONF)/.test(answer)) return;
  shell.password = mounted;
  shell.run.set('password', mounted);
}

export function localCli(shell: PodShell, ...args: readonly string[]): Promise<string | undefined> {
  return shell.cli(2, ['-p', '6379', ...args]);
}

export function nodeCli(shell: PodShell, host: string, ...args: readonly string[]): Promise<string | undefined> {
  return shell.cli(1, ['-h', host, '-p', '6379', ...args]);
}

export function sentinelCli(shell: PodShell, host: string, ...args: readonly string[]): Promise<string | undefined> {
  return shell.cli(1, ['-h', host, '-p', '26379', ...args]);
}

export function sentinels(shell: PodShell): string[] {
  return shell
    .config('sentinels')
    .split(/\s+/)
    .filter((host) => host !== '');
}

export const linesOf = (text: string | undefined): string[] => (text ?? '').replaceAll('\r', '').split('\n');

/** The password of the identity, where the server copies by it; empty otherwise. */
export async function ownPassword(shell: PodShell): Promise<string> {
  const shown = async (name: string): Promise<string> =>
    linesOf((await localCli(shell, 'config', 'get', name))?.replace(/\n$/, '')).at(-1) ?? '';
  return (await shown('masteruser')) === identityOf(shell) ? shown('masterauth') : '';
}

export async function replicateFrom(shell: PodShell, ...whom: readonly string[]): Promise<string | undefined> {
  const own = await ownPassword(shell);
  if (own === '') return localCli(shell, 'replicaof', ...whom);
  return shell.cli(2, ['-p', '6379', '--user', identityOf(shell), 'replicaof', ...whom], own);
}

export async function confineClients(shell: PodShell): Promise<void> {
  if (shell.run.has('confined')) return;
  const own = await ownPassword(shell);
  if (own === '') return;
  for (const sentinel of sentinels(shell)) {
    const args = ['-h', sentinel, '-p', '26379', '--user', identityOf(shell), 'ping'];
    if ((await shell.cli(1, args, own))?.startsWith('PONG') !== true) return;
  }
  const answer = await localCli(shell, 'acl', 'setuser', 'default', ...clientRule);
  if (answer?.startsWith('OK') === true) shell.run.set('confined', '');
}

export async function confineSentinelClients(shell: PodShell): Promise<void> {
  if (shell.identityPassword === undefined || shell.run.has('confined')) return;
  const answer = await shell.cli(2, ['-p', '26379', 'acl', 'setuser', 'default', sentinelClientRule]);
  if (answer?.startsWith('OK') === true) shell.run.set('confined', '');
}

export async function tellSentinels(shell: PodShell): Promise<void> {
  if (sentinels(shell).length === 0) return;
  const shown = await localCli(shell, 'config', 'get', 'cluster-announce-port');
  if (linesOf(shown?.replace(/\n$/, '')).at(-1) === '26379') return;
  await localCli(shell, 'config', 'set', 'cluster-announce-port', '26379');
}

type Fields = Readonly<Record<string, string>>;

/** What a sentinel says: names and values in turn. */
function fieldsOf(text: string | undefined): Fields {
  const lines = linesOf(text);
  return Object.fromEntries(lines.flatMap((name, i) => (i % 2 === 0 ? [[name, lines[i + 1] ?? '']] : [])));
}

export interface NamedPrimary {
  readonly address: string;
  /** Who names it. */
  readonly sentinel: string;
  /** Whether a node may follow it now: those sentinels that may want another are no quorum. */
  readonly isSafe: boolean;
  /** All sentinels that watch anybody, the newest view first. */
  readonly watching: readonly string[];
}

/** The address and the sentinel of the view with the highest configuration epoch; all are asked at once. */
export async function namedPrimary(shell: PodShell): Promise<NamedPrimary | undefined> {
  const all = sentinels(shell);
  const views = await Promise.all(
    all.map(async (sentinel) => {
      const fields = fieldsOf(await sentinelCli(shell, sentinel, 'sentinel', 'master', shell.clusterName));
      const { ip: address = '' } = fields;
      return address === '' ? [] : [{ epoch: Number(fields['config-epoch']), address, sentinel, fields }];
    }),
  );
  const wordsOf = (view: { address: string; sentinel: string }): string => `${view.address} ${view.sentinel}`;
  const sorted = views.flat().sort((a, b) => b.epoch - a.epoch || (wordsOf(a) < wordsOf(b) ? 1 : -1));
  const [newest] = sorted;
  if (newest === undefined) return undefined;
  const { address, sentinel } = newest;
  const alike = sorted.filter((view) => view.address === address);
  const isReplaced = alike.some(({ fields }) => isFailingOver(fields));
  const missedMs = Number(shell.config('missed-ms'));
  const up = alike.filter(({ fields }) => seesItUp(fields, missedMs)).length;
  const isSafe = !isReplaced && up > all.length - Number(shell.config('quorum'));
  return { address, sentinel, isSafe, watching: sorted.map((view) => view.sentinel) };
}

/** Whether a sentinel has this node among the replicas and reaches it. */
export async function isKnownTo(shell: PodShell, sentinel: string): Promise<boolean> {
  const lines = linesOf(await sentinelCli(shell, sentinel, 'sentinel', 'replicas', shell.clusterName));
  let ip = '';
  let isKnown = false;
  for (let i = 0; i + 1 < lines.length; i += 2) {
    const [name, value = ''] = [lines[i], lines[i + 1]];
    if (name === 'ip') ip = value;
    if (name === 'flags' && ip === shell.podIP) isKnown = !/down|disconnected/.test(value);
  }
  return isKnown;
}

/** Whether all nodes that a sentinel does not take for down have told it what they hold, which it is made to ask. */
export async function inform(shell: PodShell, sentinel: string, looks: number): Promise<boolean> {
  const ask = (...args: readonly string[]): Promise<string | undefined> => sentinelCli(shell, sentinel, ...args);
  const askEvery = (ms: string): Promise<string | undefined> => ask('sentinel', 'debug', 'info-period', ms);
  if ((await ask('info', 'sentinel'))?.includes('sentinel_tilt:1') === true) return false;
  const from = shell.uptime();
  let left = looks;
  if ((await askEvery('100')) === undefined) return false;
  for (;;) {
    const within = shell.uptime() - from - 10;
    const told = await ask('sentinel', 'replicas', shell.clusterName);
    if (told === undefined) left = 0;
    if (!isAnyLate(linesOf(told), within)) break;
    left--;
    if (left <= 0) break;
    await shell.sleep(100);
  }
  await askEvery(shell.config('info-period-ms').trim());
  return left > 0;
}

function isAnyLate(lines: readonly string[], within: number): boolean {
  let isUp = false;
  let isLate = false;
  for (let i = 0; i + 1 < lines.length; i += 2) {
    const [name, value = ''] = [lines[i], lines[i + 1]];
    if (name === 'flags') isUp = !/down|disconnected/.test(value);
    if (name === 'info-refresh' && isUp && Number(value) >= within) isLate = true;
  }
  return isLate;
}

const isFailingOver = ({ flags = '' }: Fields): boolean => flags.includes('failover');

function seesItUp(fields: Fields, missedMs: number): boolean {
  const { flags = '', runid = '', 'last-ok-ping-reply': answeredMs = '' } = fields;
  return !flags.includes('_down') && runid !== '' && /^[0-9]+$/.test(answeredMs) && Number(answeredMs) <= missedMs;
}

/** The most replicas that any sentinel knows; empty where none answers. */
export async function knownReplicas(shell: PodShell): Promise<string> {
  const counts: string[] = [];
  for (const sentinel of sentinels(shell)) {
    const fields = fieldsOf(await sentinelCli(shell, sentinel, 'sentinel', 'master', shell.clusterName));
    if (fields['num-slaves'] !== undefined) counts.push(fields['num-slaves']);
  }
  return counts.sort((a, b) => Number(b) - Number(a))[0] ?? '';
}

/** A field of INFO; empty where it is not there. */
export function fieldOf(info: readonly string[], name: string): string {
  return info.find((line) => line.startsWith(`${name}:`))?.slice(name.length + 1) ?? '';
}

/** Addresses of the replicas in sync, from a primary's INFO. */
export function onlineReplicas(info: readonly string[]): string[] {
  return info.flatMap((line) =>
    /^slave\d+:/.test(line) && line.includes('state=online') ? [line.split(/[=,]/)[1] ?? ''] : [],
  );
}
