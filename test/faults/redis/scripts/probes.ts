/** `admit.sh`, `ping.sh`, `alive.sh`, `watching.sh` and `sentinel-alive.sh`, step by step. True is exit code 0. */
import { fieldOf, linesOf, localCli, namedPrimary, type PodShell } from './pod-shell.ts';

export async function admit(shell: PodShell): Promise<boolean> {
  const info = linesOf(await localCli(shell, 'info'));
  const role = fieldOf(info, 'role');
  if (role === 'master' || (role === 'slave' && fieldOf(info, 'master_link_status') === 'up')) {
    const isWritten =
      fieldOf(info, 'aof_rewrite_in_progress') === '0' && fieldOf(info, 'aof_rewrite_scheduled') === '0';
    if (role === 'slave' && !shell.isInitialised() && !isWritten) return false;
    shell.initialise();
    return (await localCli(shell, 'config', 'set', 'replica-priority', '100')) !== undefined;
  }
  if (role !== 'slave' || fieldOf(info, 'master_sync_in_progress') !== '0') return false;
  const named = await namedPrimary(shell);
  if (named?.isSafe === true && named.address !== fieldOf(info, 'master_host') && named.address !== shell.podIP) {
    await localCli(shell, 'replicaof', named.address, '6379');
  }
  return false;
}

export async function ping(shell: PodShell): Promise<boolean> {
  return (await localCli(shell, 'ping'))?.trimEnd() === 'PONG';
}

export async function alive(shell: PodShell): Promise<boolean> {
  return /^(PONG|LOADING|MASTERDOWN|BUSY)/.test((await localCli(shell, 'ping')) ?? '');
}

export async function watching(shell: PodShell): Promise<boolean> {
  const answer = await shell.cli(2, ['-p', '26379', 'sentinel', 'get-master-addr-by-name', shell.clusterName]);
  return (answer ?? '').trimEnd() !== '';
}

export async function sentinelAlive(shell: PodShell): Promise<boolean> {
  return (await shell.cli(2, ['-p', '26379', 'ping']))?.trimEnd() === 'PONG';
}
