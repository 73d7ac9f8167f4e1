import { describe, expect, it } from 'vitest';
import { runPodScript } from '../../support/pod-scripts.ts';

/** What a sentinel says that sees the primary, as redis-cli prints it. */
const seen = 'name\ndb\nip\n10.0.0.9\nrunid\nc0ffee\nflags\nmaster\nlast-ok-ping-reply\n400\nconfig-epoch\n1';

describe('a data node that the sentinels name at its address of before', () => {
  const waiting =
    'role:slave\nmaster_link_status:down\nmaster_host:127.0.0.1\nmaster_sync_in_progress:0\naof_enabled:1';
  const named = { '"-p 6379 info"': waiting, '"-p 6379 "*': 'OK', '"-h s0 -p 26379 sentinel master db"': seen };

  it.each<readonly [story: string, cli: Readonly<Record<string, string>>, told: readonly string[]]>([
    ['is behind nobody', named, []],
    [
      'is behind another that is primary there by now, and follows it',
      { '"-h 10.0.0.9 -p 6379 role"': 'master\n70', ...named },
      ['config set replica-priority 0', 'replicaof 10.0.0.9 6379'],
    ],
  ])('%s', async (_, cli, told) => {
    const { asked } = await runPodScript('admit.sh', { cli, mark: '10.0.0.9' });
    const changes = asked.filter((line) => /^-p 6379 (config set replica-priority|replicaof)/.test(line));
    expect(changes).toEqual(told.map((line) => `-p 6379 ${line}`));
  });
});
