/** `fence.sh`, step by step. True is exit code 0: it need not look again soon. */
import { fieldOf, linesOf, localCli, type PodShell, sentinelCli, sentinels } from './pod-shell.ts';

const closed = '1000000';
const directive = 'min-replicas-to-write';

/** The loop: for as long as the container runs, which ends it by ending its shell. */
export async function fenceLoop(shell: () => PodShell): Promise<never> {
  for (;;) {
    const began = shell().uptime();
    const pause = (await fenceLook(shell())) ? 2000 : 1000;
    await shell().sleep(Math.max(100, began + pause - shell().uptime()));
  }
}

export async function fenceLook(shell: PodShell): Promise<boolean> {
  const { run } = shell;
  const [mode = 'Off', after = '0'] = shell.config('fence').trim().split(' ');
  const info = linesOf(await localCli(shell, 'info', 'replication'));
  const role = fieldOf(info, 'role');
  if (mode === 'Off' || role === 'slave') {
    run.delete('reached');
    run.delete('named');
    run.delete('replaced');
    run.delete('replicas');
    const isHidden = fieldOf(info, 'replica_announced') === '0';
    if (!isHidden && fieldOf(info, 'master_link_status') === 'up') run.set('watched', '');
    await lift(shell);
    return true;
  }
  if (role !== 'master') return false;
  const looked = shell.uptime();
  let since = 0;
  const reach = (at: number): void => {
    if (at <= since) return;
    since = at;
    run.set('reached', String(at));
  };
  const kept = run.get('reached');
  reach(kept === undefined ? looked : Number(kept));
  const online = mode === 'Strict' ? [] : copying(info);
  const own = ownReplicas(shell);
  const lags = run.has('replaced') ? [] : online.filter(({ ip }) => own.includes(ip)).map(({ lag }) => lag);
  const lag = lags.length === 0 ? undefined : Math.min(...lags);
  if (lag !== undefined) reach(looked - Math.max(0, lag - 1) * 1000);
  const acknowledges = lag !== undefined && lag <= 2;
  const all = sentinels(shell);
  const majority = Math.floor(all.length / 2) + 1;
  const answers = await Promise.all(all.map((sentinel) => namedBy(shell, sentinel)));
  const saying = (what: string): number => answers.filter((answer) => answer === what).length;
  if (saying('me') >= majority) {
    run.set('named', '');
    run.set('watched', '');
    run.delete('replaced');
    reach(looked);
    await lift(shell);
    await learnReplicas(shell, online, majority);
    return acknowledges;
  }
  if (saying('other') >= majority && run.has('named')) {
    run.set('replaced', '');
    await fence(shell);
  } else if (acknowledges) {
    await lift(shell);
  } else if (saying('me') + saying('nobody') >= majority && !run.has('fenced')) {
    reach(looked);
  } else if (shell.uptime() - since >= Number(after) && run.has('watched')) {
    await fence(shell);
  }
  return false;
}

async function namedBy(shell: PodShell, sentinel: string): Promise<'me' | 'nobody' | 'other' | undefined> {
  const lines = linesOf(await sentinelCli(shell, sentinel, 'sentinel', 'master', shell.clusterName));
  if (lines.some((line) => line.includes('No such master'))) return 'nobody';
  const at = lines.findIndex((line, i) => i % 2 === 0 && line === 'ip');
  if (at < 0) return undefined;
  return lines[at + 1] === shell.podIP ? 'me' : 'other';
}

interface Copying {
  readonly ip: string;
  readonly lag: number;
}

function copying(info: readonly string[]): Copying[] {
  return info.flatMap((line) => {
    if (!/^slave\d+:/.test(line) || !line.includes(',port=6379,') || !line.includes(',state=online,')) return [];
    const ip = /ip=([^,]+)/.exec(line)?.[1];
    const lag = /lag=(\d+)/.exec(line)?.[1];
    return ip === undefined || lag === undefined ? [] : [{ ip, lag: Number(lag) }];
  });
}

function ownReplicas({ run }: PodShell): string[] {
  return String(run.get('replicas') ?? '')
    .split(' ')
    .filter((ip) => ip !== '');
}

async function learnReplicas(shell: PodShell, online: readonly Copying[], majority: number): Promise<void> {
  const own = ownReplicas(shell);
  const present = [...new Set(online.map(({ ip }) => ip))].sort();
  if (present.join(' ') === own.join(' ')) return;
  const lists = await Promise.all(sentinels(shell).map((sentinel) => knownTo(shell, sentinel)));
  const isKnown = (ip: string): boolean => lists.filter((list) => list.has(ip)).length >= majority;
  shell.run.set('replicas', present.filter((ip) => own.includes(ip) || isKnown(ip)).join(' '));
}

async function knownTo(shell: PodShell, sentinel: string): Promise<ReadonlySet<string>> {
  const rows = linesOf(await sentinelCli(shell, sentinel, 'sentinel', 'replicas', shell.clusterName));
  const found = new Set<string>();
  const row = new Map<string, string>();
  for (let at = 0; at + 1 < rows.length; at += 2) {
    const [name = '', value = ''] = rows.slice(at, at + 2);
    row.set(name, value);
    if (name !== 'flags' || /down|disconnected/.test(value)) continue;
    if (row.get('port') === '6379' && row.get('runid') !== '') found.add(row.get('ip') ?? '');
  }
  return found;
}

async function required(shell: PodShell): Promise<string> {
  const shown = await localCli(shell, 'config', 'get', directive);
  const has = linesOf(shown?.replace(/\n$/, '')).at(-1) ?? '';
  return /^[0-9]+$/.test(has) ? has : '';
}

/** A loop of simulated pods is the only one. */
async function require(shell: PodShell, value: string): Promise<boolean> {
  const answer = await localCli(shell, 'config', 'set', directive, value);
  return answer?.startsWith('OK') === true;
}

async function fence(shell: PodShell): Promise<void> {
  const has = await required(shell);
  if (has === '' || has === closed) return;
  shell.run.set('fenced', has);
  await require(shell, closed);
}

async function lift(shell: PodShell): Promise<void> {
  const has = await required(shell);
  if (has === '') return;
  if (has !== closed) {
    shell.run.delete('fenced');
    return;
  }
  const noted = String(shell.run.get('fenced') ?? '');
  const before = /^[0-9]+$/.test(noted) && noted !== closed ? noted : configured(shell);
  if (await require(shell, before)) shell.run.delete('fenced');
}

function configured(shell: PodShell): string {
  const set = shell
    .config('redis.conf')
    .split('\n')
    .filter((line) => line.startsWith(`${directive} `));
  return String(Number(set.at(-1)?.split(' ')[1] ?? 0));
}
