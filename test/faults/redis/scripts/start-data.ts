/** `start-data.sh`, step by step. */
import {
  defaultRule,
  identityOf,
  identityRule,
  inform,
  knownReplicas,
  learnAccepted,
  namedPrimary,
  type PodShell,
  sentinelCli,
  sentinels,
} from './pod-shell.ts';
import { judgeVolume, termCarrier, wasHere } from './volume.ts';

/** In double quotes, as the scripts write a password. */
export const quoted = (text: string): string => `"${text.replace(/[\\"]/g, '\\$&')}"`;

/** Decides the role before the server runs. Resolves with the lines of the configuration that it is started with. */
export async function startData(shell: PodShell): Promise<string[]> {
  shell.run.set('password', shell.password);
  for (const name of ['loading', 'confined', 'fenced', 'reached', 'named', 'replaced', 'replicas'])
    shell.run.delete(name);
  judgeVolume(shell);
  const isBlank = shell.disk.mark() === undefined;
  const follow = await whomToFollow(shell, isBlank);
  if (follow === undefined) shell.run.delete('behind');
  else if (follow !== nobody && !isBlank) shell.run.set('behind', shell.uptime());
  const password = quoted(shell.password);
  return [
    `include ${shell.configDir}/redis.conf`,
    'dir /data',
    'appendonly yes',
    'appenddirname appendonlydir',
    'appendfilename appendonly.aof',
    ...(shell.databases === undefined ? [] : [`databases ${shell.databases}`]),
    `requirepass ${password}`,
    ...defaultRule(shell),
    ...(shell.identityPassword === undefined
      ? [`masterauth ${password}`]
      : [
          identityRule(shell, shell.identityPassword),
          `masteruser ${identityOf(shell)}`,
          `masterauth ${shell.identityPassword}`,
        ]),
    `replica-announce-ip ${shell.podIP}`,
    ...(sentinels(shell).length === 0 ? [] : ['cluster-announce-port 26379']),
    `replica-priority ${isBlank || shell.run.has('behind') ? 0 : 100}`,
    ...(shell.disk.term() === '' ? [] : [`${termCarrier} ${shell.disk.term()}`]),
    ...(follow === undefined ? [] : [`replicaof ${follow}`]),
  ];
}

const nobody = '127.0.0.1 1';

/** Undefined for a node that is primary. */
async function whomToFollow(shell: PodShell, isBlank: boolean): Promise<string | undefined> {
  if (sentinels(shell).length === 0) return isBlank && shell.config('ephemeral') === '' ? nobody : undefined;
  let last: string | undefined;
  const follow = await toldBySentinels(shell, isBlank, (sentinel) => {
    last = sentinel;
  });
  shell.run.delete('accepted');
  if (last !== undefined) await learnAccepted(shell, last);
  return follow;
}

/** `hear`: which sentinel has told of a primary in each round; undefined where none has. */
async function toldBySentinels(
  shell: PodShell,
  isBlank: boolean,
  hear: (sentinel: string | undefined) => void,
): Promise<string | undefined> {
  let tries = 0;
  let refused = 0;
  let informed = '';
  for (;;) {
    const named = await namedPrimary(shell);
    hear(named?.sentinel);
    if (named === undefined) {
      tries++;
      if (isBlank || tries >= 5) return nobody;
      await shell.sleep(1000);
    } else if (named.address !== shell.podIP) {
      return named.isSafe && !(await wasHere(shell, named.address)) ? `${named.address} 6379` : nobody;
    } else {
      if (informed !== named.sentinel) await inform(shell, named.sentinel, 50);
      informed = named.sentinel;
      const answer = await sentinelCli(shell, named.sentinel, 'sentinel', 'failover', shell.clusterName);
      if (answer?.includes('NOGOODSLAVE') === true) {
        refused++;
        const known = await knownReplicas(shell);
        if (known === '0' || refused >= 50) return !isBlank && shell.disk.mark() === shell.podIP ? undefined : nobody;
      }
      await shell.sleep(200);
    }
  }
}
