import { describe, expect, it } from 'vitest';
import { type PodStory, podIP, runPodScript } from '../../support/pod-scripts.ts';

type Answers = NonNullable<PodStory['cli']>;
const replication = (fields: Readonly<Record<string, string | number>>): string =>
  Object.entries(fields)
    .map((pair) => pair.join(':'))
    .join('\r\n');

describe('the term on the volume', () => {
  const carrier = 'cluster-announce-hostname';
  const answers = (role: string, told: string, theirs = ''): Answers => ({
    '"-p 6379 info"': replication({ role, master_link_status: 'up', master_host: '10.0.0.9', aof_enabled: 1 }),
    [`"-p 6379 config get ${carrier}"`]: `${carrier}\n${told}`,
    [`"-h 10.0.0.9 -p 6379 config get ${carrier}"`]: `${carrier}\n${theirs}`,
    '"-p 6379 "*': 'OK',
  });

  it.each<readonly [story: string, pod: PodStory, term: string | undefined]>([
    ['is the first of a primary', { cli: answers('master', '') }, 'primary-1'],
    [
      'is one more when a replica was promoted',
      { cli: answers('master', 'replica-6'), term: 'replica-6' },
      'primary-7',
    ],
    ['stays while it is primary', { cli: answers('master', 'primary-7'), term: 'primary-7' }, 'primary-7'],
    [
      'is what the operator has told it, where that is later',
      { cli: answers('master', 'primary-9'), term: 'replica-6' },
      'primary-9',
    ],
    ["is a replica's from its primary", { cli: answers('slave', '', 'primary-7'), term: 'replica-6' }, 'replica-7'],
    [
      'is no more that of a primary once it holds the dataset of another',
      { cli: answers('slave', 'primary-6', 'primary-7'), term: 'primary-6' },
      'replica-7',
    ],
    [
      'nor where that one has not said its own yet',
      { cli: answers('slave', 'primary-6', 'replica-6'), term: 'primary-6' },
      'replica-6',
    ],
    ['never falls', { cli: answers('slave', '', 'primary-2'), term: 'replica-6' }, 'replica-6'],
    ['is not known of a replica of one without', { cli: answers('slave', '', '') }, undefined],
    [
      'is not read from what is none',
      { cli: answers('slave', 'x', 'primary-1x'), term: 'primary-1; rm' },
      'primary-1; rm',
    ],
    ['stays where the server does not answer', { term: 'primary-3' }, 'primary-3'],
  ])('%s', async (_, pod, term) => {
    expect((await runPodScript('ping.sh', pod)).term).toBe(term);
  });

  it('comes with the server when that starts again', async () => {
    const { conf } = await runPodScript('start-data.sh', { mark: podIP, term: 'primary-7' });
    expect(conf).toContain(`${carrier} primary-7`);
    const { conf: without } = await runPodScript('start-data.sh', { mark: podIP, term: 'primary-7"' });
    expect(without.join()).not.toContain(carrier);
  });
});
