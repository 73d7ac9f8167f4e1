/**
 * What the scripts of the pods work with, and their library, translated. Each function is named after what it has in
 * the shell; `scripts.test.ts` holds the translations against the scripts.
 */

export interface PodShell {
  readonly podIP: string;
  /** Namespace and name: what a sentinel's identity comes from. */
  readonly podName: string;
  readonly clusterName: string;
  /** Where the ConfigMap is mounted. */
  readonly configDir: string;
  readonly password: string;
  /** A file of the ConfigMap; empty where it is not there. */
  config(name: string): string;
  /** `timeout SECONDS redis-cli ARGS`: what it prints, or undefined where it fails. */
  cli(seconds: number, args: readonly string[]): Promise<string | undefined>;
  sleep(ms: number): Promise<void>;
  /** `date +%s` */
  seconds(): number;
  /** Whether the volume is marked as having held a dataset. */
  isInitialised(): boolean;
  initialise(): void;
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

/** The line after the one that is `name`. */
function after(lines: readonly string[], name: string): string {
  return lines[lines.lastIndexOf(name) + 1] ?? '';
}

/** The address and the sentinel of the view with the highest configuration epoch; all are asked at once. */
export async function namedPrimary(
  shell: PodShell,
): Promise<{ readonly address: string; readonly sentinel: string } | undefined> {
  const views = await Promise.all(
    sentinels(shell).map(async (sentinel) => {
      const lines = linesOf(await sentinelCli(shell, sentinel, 'sentinel', 'master', shell.clusterName));
      if (!lines.includes('ip')) return [];
      return [{ epoch: Number(after(lines, 'config-epoch')), address: after(lines, 'ip'), sentinel }];
    }),
  );
  const wordsOf = (view: { address: string; sentinel: string }): string => `${view.address} ${view.sentinel}`;
  return views.flat().sort((a, b) => b.epoch - a.epoch || (wordsOf(a) < wordsOf(b) ? 1 : -1))[0];
}

/** The most replicas that any sentinel knows; empty where none answers. */
export async function knownReplicas(shell: PodShell): Promise<string> {
  const counts: string[] = [];
  for (const sentinel of sentinels(shell)) {
    const lines = linesOf(await sentinelCli(shell, sentinel, 'sentinel', 'master', shell.clusterName));
    if (lines.includes('num-slaves')) counts.push(after(lines, 'num-slaves'));
  }
  return counts.sort((a, b) => Number(b) - Number(a))[0] ?? '';
}

/** A field of INFO; empty where it is not there. */
export function fieldOf(info: readonly string[], name: string): string {
  return info.find((line) => line.startsWith(`${name}:`))?.split(':')[1] ?? '';
}

/** Addresses of the replicas in sync, from a primary's INFO. */
export function onlineReplicas(info: readonly string[]): string[] {
  return info.flatMap((line) =>
    /^slave\d+:/.test(line) && line.includes('state=online') ? [line.split(/[=,]/)[1] ?? ''] : [],
  );
}
