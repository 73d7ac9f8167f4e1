/** `start-sentinel.sh`, step by step. */
import { createHash } from 'node:crypto';
import { defaultRule, identityOf, identityRule, learnAccepted, namedPrimary, type PodShell } from './pod-shell.ts';
import { quoted } from './start-data.ts';

/**
 * The lines that a sentinel is started with for the first time. One that has a file already keeps it, and changes its
 * own address in it: that is the caller's to do.
 */
export async function startSentinel(shell: PodShell): Promise<string[]> {
  shell.run.set('password', shell.password);
  shell.run.delete('watching');
  shell.run.delete('confined');
  const named = await namedPrimary(shell);
  if (named !== undefined) await learnAccepted(shell, named.sentinel);
  return [
    'port 26379',
    'dir /tmp',
    'protected-mode no',
    'client-query-buffer-limit 1mb',
    'proto-max-bulk-len 1mb',
    `sentinel myid ${createHash('sha1').update(shell.podName).digest('hex')}`,
    `sentinel announce-ip ${shell.podIP}`,
    ...passwordLines(shell),
    ...(named === undefined
      ? []
      : [
          `sentinel monitor ${shell.clusterName} ${named.address} 6379 ${shell.config('quorum').trim()}`,
          ...loginLines(shell),
          ...shell
            .config('sentinel.conf')
            .split('\n')
            .filter((line) => line !== ''),
        ]),
  ];
}

/** Of its clients, and as whom it asks other sentinels. */
export function passwordLines(shell: PodShell): string[] {
  const { identityPassword } = shell;
  const password = quoted(shell.password);
  return [
    `requirepass ${password}`,
    ...defaultRule(shell),
    ...(identityPassword === undefined
      ? [`sentinel sentinel-pass ${password}`]
      : [
          identityRule(shell, identityPassword),
          `sentinel sentinel-user ${identityOf(shell)}`,
          `sentinel sentinel-pass ${identityPassword}`,
        ]),
  ];
}

/** As whom it asks data nodes. */
export function loginLines(shell: PodShell): string[] {
  const { identityPassword, clusterName } = shell;
  return identityPassword === undefined
    ? [`sentinel auth-pass ${clusterName} ${quoted(shell.password)}`]
    : [
        `sentinel auth-user ${clusterName} ${identityOf(shell)}`,
        `sentinel auth-pass ${clusterName} ${identityPassword}`,
      ];
}
