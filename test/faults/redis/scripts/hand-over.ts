/** `hand-over.sh`, step by step. True is exit code 0. */
import {
  fieldOf,
  inform,
  linesOf,
  localCli,
  namedPrimary,
  nodeCli,
  onlineReplicas,
  type PodShell,
  replicateFrom,
  sentinelCli,
  sentinels,
  settlePassword,
} from './pod-shell.ts';

export async function handOver(shell: PodShell): Promise<boolean> {
  await settlePassword(shell, '6379');
  const succeeds = await handOverRole(shell);
  await untilWritten(shell);
  return succeeds;
}

/** The server would refuse SIGTERM, and save a snapshot where it is told to now and then. */
async function untilWritten(shell: PodShell): Promise<void> {
  await localCli(shell, 'config', 'set', 'save', '');
  for (let tries = 0; tries < 20; tries++) {
    const info = (await localCli(shell, 'info', 'persistence')) ?? '';
    if (!/aof_rewrite_(in_progress|scheduled):1/.test(info)) return;
    await shell.sleep(1000);
  }
}

async function handOverRole(shell: PodShell): Promise<boolean> {
  if (sentinels(shell).length === 0) return true;
  const info = linesOf(await localCli(shell, 'info', 'replication'));
  if (fieldOf(info, 'role') !== 'master') return true;
  const peers = onlineReplicas(info);
  if (peers.length === 0) return true;
  const named = await namedPrimary(shell);
  if (named?.address !== shell.podIP) return true;

  const pausedAt = shell.uptime();
  if ((await localCli(shell, 'client', 'pause', '10000', 'write')) === undefined) return false;
  const giveUp = shell.seconds() + 8;
  const isInTime = (): boolean => shell.seconds() < giveUp;
  const resume = async (): Promise<boolean> => (await localCli(shell, 'client', 'unpause')) !== undefined;

  const ahead = await caughtUp(shell, peers);
  if (ahead === undefined) return resume();
  if (!(await inform(shell, named.sentinel, 10))) return resume();
  if (shell.uptime() - pausedAt >= Number(shell.config('ask-within-ms'))) return resume();
  const answer = (await sentinelCli(shell, named.sentinel, 'sentinel', 'failover', shell.clusterName)) ?? '';
  if (!/^(OK|INPROG|$)/.test(answer)) return resume();

  let promoted: string | undefined;
  while (promoted === undefined) {
    let answers = 0;
    for (const peer of ahead) {
      const [role = ''] = linesOf(await nodeCli(shell, peer, 'role'));
      if (role !== '') answers++;
      if (role === 'master') promoted = peer;
    }
    if (answers === 0 || !isInTime()) return true;
    if (promoted === undefined) await shell.sleep(50);
  }
  if ((await replicateFrom(shell, promoted, '6379'))?.startsWith('OK') !== true) return true;
  if (!(await resume())) return false;
  await untilItHasAnother(shell, promoted, isInTime);
  return true;
}

/** The peers, when all of them have everything within two to three seconds. */
async function caughtUp(shell: PodShell, peers: readonly string[]): Promise<string[] | undefined> {
  const by = shell.seconds() + 3;
  const target = fieldOf(linesOf(await localCli(shell, 'info', 'replication')), 'master_repl_offset');
  for (;;) {
    const ahead: string[] = [];
    for (const peer of peers) {
      const got = fieldOf(linesOf(await nodeCli(shell, peer, 'info', 'replication')), 'slave_repl_offset');
      if (got !== '' && target !== '' && Number(got) >= Number(target)) ahead.push(peer);
    }
    if (ahead.length === peers.length) return ahead;
    if (shell.seconds() >= by) return undefined;
    await shell.sleep(100);
  }
}

async function untilItHasAnother(shell: PodShell, promoted: string, isInTime: () => boolean): Promise<void> {
  for (let tries = 0; tries < 30 && isInTime(); tries++) {
    const replicas = onlineReplicas(linesOf(await nodeCli(shell, promoted, 'info', 'replication')));
    if (replicas.some((address) => address !== shell.podIP)) return;
    await shell.sleep(100);
  }
}
