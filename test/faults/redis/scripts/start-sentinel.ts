/** `start-sentinel.sh`, step by step. */
import { createHash } from 'node:crypto';
import { namedPrimary, type PodShell } from './pod-shell.ts';
import { quoted } from './start-data.ts';

/**
 * The lines that a sentinel is started with for the first time. One that has a file already keeps it, and changes its
 * own address in it: that is the caller's to do.
 */
export async function startSentinel(shell: PodShell): Promise<string[]> {
  shell.run.set('password', shell.password);
  shell.run.delete('watching');
  const named = await namedPrimary(shell);
  const password = quoted(shell.password);
  return [
    'port 26379',
    'dir /tmp',
    'protected-mode no',
    `sentinel myid ${createHash('sha1').update(shell.podName).digest('hex')}`,
    `sentinel announce-ip ${shell.podIP}`,
    `requirepass ${password}`,
    `sentinel sentinel-pass ${password}`,
    ...(named === undefined
      ? []
      : [
          `sentinel monitor ${shell.clusterName} ${named.address} 6379 ${shell.config('quorum').trim()}`,
          `sentinel auth-pass ${shell.clusterName} ${password}`,
          ...shell
            .config('sentinel.conf')
            .split('\n')
            .filter((line) => line !== ''),
        ]),
  ];
}
