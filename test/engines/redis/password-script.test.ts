/** What the pods do while the password of the clients changes. */
import { describe, expect, it } from 'vitest';
import { hashOf } from '../../../src/engines/redis/client/identity.ts';
import type { ScriptName } from '../../../src/engines/redis/resources/scripts.ts';
import { type PodStory, podIP, runPodScript } from '../../support/pod-scripts.ts';

const [old, next] = [hashOf('old'), hashOf('next')];
/** As redis-cli prints `ACL GETUSER`. */
const user = (...hashes: readonly string[]): string =>
  ['flags', 'on', 'sanitize-payload', 'passwords', ...hashes, 'commands', '+@all', 'keys', '~*', 'channels', '&*'].join(
    '\n',
  );
const rule = (...hashes: readonly string[]): string =>
  `user default on ${hashes.map((hash) => `#${hash}`).join(' ')} ~* &* +@all`;
const view = [
  'ip',
  '10.0.0.7',
  'config-epoch',
  '1',
  'flags',
  'master',
  'runid',
  'c0ffee',
  'last-ok-ping-reply',
  '400',
].join('\n');
const asIdentity = '"-h s0 -p 26379 --user clusterwright/apps/db acl getuser default"';
const named = { '"-h s0 -p 26379 sentinel master db"': view };
const alone = { config: { sentinels: '' } };

describe('where a sentinel or the own server takes another password than that of the pod', () => {
  const cli = { '*"acl getuser default"': user(old), '*"sentinel master db"': view };

  it('a new data node asks as the cluster: it follows the primary, and accepts what the others accept', async () => {
    const { conf } = await runPodScript('start-data.sh', {
      ...{ password: 'next', identity: 'own', takes: ['old', 'own'], mark: podIP, cli },
      config: { sentinels: 's0\ns1\ns2\n' },
    });
    expect(conf).toContain('replicaof 10.0.0.7 6379');
    expect(conf.join('\n')).toContain(old);
  });

  it('a new sentinel does, and watches', async () => {
    const { conf } = await runPodScript('start-sentinel.sh', {
      ...{ password: 'next', identity: 'own', takes: ['old', 'own'], cli },
      config: { sentinels: 's0\ns1\ns2\n' },
    });
    expect(conf).toContain('sentinel monitor db 10.0.0.7 6379 2');
  });

  it('a container that starts again does, where no kubelet renews the mounted file: that of an immutable Secret', async () => {
    const { code } = await runPodScript('admit.sh', {
      ...{ password: 'old', run: { password: 'old' }, identity: 'own', takes: ['next', 'own'], mark: podIP },
      cli: { '*info*': 'role:master\naof_enabled:1', '*': 'OK' },
    });
    expect(code).toBe(0);
  });

  it('a pod of before the identity does not, and nothing is asked twice', async () => {
    const { asked, code } = await runPodScript('admit.sh', {
      ...{ password: 'old', run: { password: 'old' }, takes: ['next'], mark: podIP, cli: {} },
    });
    expect([code, asked.some((line) => line.includes('--user'))]).toEqual([1, false]);
  });
});

describe('a script whose pod was started with another password than the Secret says', () => {
  const probes: readonly ScriptName[] = ['ping.sh', 'admit.sh', 'hand-over.sh', 'watching.sh'];
  const story: PodStory = { password: 'next', run: { password: 'old' }, cli: { '*" ping"': 'PONG', '*': 'OK' } };

  it.each(probes)('%s goes over to it once the server knows it', async (script) => {
    const { password, asked } = await runPodScript(script, { ...story, takes: ['old', 'next'] });
    expect(password).toBe('next');
    expect(asked[0]).toBe(script === 'watching.sh' ? '-p 26379 ping' : '-p 6379 ping');
  });

  it.each(probes)('%s does so in a pod of Valkey, too', async (script) => {
    expect((await runPodScript(script, { ...story, server: 'valkey', takes: ['old', 'next'] })).password).toBe('next');
  });

  it.each(probes)('%s keeps that of before as long as the server knows no other', async (script) => {
    expect((await runPodScript(script, { ...story, takes: ['old'] })).password).toBe('old');
  });

  it.each(probes)('%s asks nothing more where they are the same', async (script) => {
    const { asked, password } = await runPodScript(script, { ...story, run: { password: 'next' } });
    expect([asked[0] === '-p 6379 ping', asked[0] === '-p 26379 ping', password]).toEqual([false, false, 'next']);
  });

  it.each(['LOADING Redis is loading', 'LOADING Valkey is loading', 'MASTERDOWN Link', 'MISCONF Errors'])(
    'goes over where the server says %s',
    async (answer) => {
      const { password } = await runPodScript('ping.sh', { ...story, cli: { '*': answer } });
      expect(password).toBe('next');
    },
  );

  it.each(['Could not connect to Redis', 'ERR max number of clients reached', ''])(
    'stays where it says "%s"',
    async (answer) => {
      const { password } = await runPodScript('ping.sh', { ...story, cli: { '*': answer } });
      expect(password).toBe('old');
    },
  );

  it('stays where the Secret says nothing', async () => {
    expect((await runPodScript('ping.sh', { ...story, password: '' })).password).toBe('old');
  });
});

describe('a server that starts', () => {
  const rules = (conf: readonly string[]): readonly string[] => conf.filter((line) => line.startsWith('user default '));

  it.each<readonly [story: string, script: ScriptName, pod: PodStory, rules: readonly string[]]>([
    ['with the one password that there is', 'start-data.sh', { ...alone, password: 'old', mark: podIP }, []],
    [
      'again, with its own, though the Secret says another',
      'start-data.sh',
      { ...alone, password: 'next', run: { password: 'old' }, mark: podIP },
      [],
    ],
    [
      'again, alone, with what it accepted last',
      'start-data.sh',
      { ...alone, password: 'next', run: { password: 'next', accepted: `${old}\n${next}\n` }, mark: podIP },
      [rule(old, next)],
    ],
    [
      'again, alone, without one that it accepted no more',
      'start-data.sh',
      { ...alone, password: 'next', run: { password: 'old', accepted: `${next}\n` }, mark: podIP },
      [rule(next)],
    ],
    [
      'in a new pod, with what the sentinels accept, too',
      'start-data.sh',
      { password: 'next', identity: 'own', cli: { ...named, [asIdentity]: user(old, next) } },
      [rule(old, next)],
    ],
    [
      'in a new pod, before anybody knows what the Secret says',
      'start-data.sh',
      { password: 'next', identity: 'own', cli: { ...named, [asIdentity]: user(old) } },
      [rule(old, next)],
    ],
    [
      'in a new pod, after all',
      'start-data.sh',
      { password: 'next', identity: 'own', cli: { ...named, [asIdentity]: user(next) } },
      [],
    ],
    [
      'again, with what the sentinels accept and not what was once',
      'start-data.sh',
      {
        password: 'next',
        identity: 'own',
        run: { password: 'next', accepted: `${old}\n` },
        cli: { ...named, [asIdentity]: user(next) },
      },
      [],
    ],
    [
      'again, while no sentinel tells',
      'start-data.sh',
      { password: 'next', identity: 'own', run: { password: 'next', accepted: `${old}\n` } },
      [],
    ],
    [
      'in a pod without an identity',
      'start-data.sh',
      { password: 'next', cli: { ...named, [asIdentity]: user(old, next) } },
      [],
    ],
    [
      'as a sentinel',
      'start-sentinel.sh',
      { password: 'next', identity: 'own', cli: { ...named, [asIdentity]: user(old, next) } },
      [rule(old, next)],
    ],
    [
      'again as a sentinel, with what it wrote down',
      'start-sentinel.sh',
      {
        password: 'next',
        run: {
          password: 'next',
          'sentinel.conf': `port 26379\nrequirepass "old"\nuser default on sanitize-payload #${old} #${next} ~* &* +@all -publish\n`,
        },
      },
      [rule(old, next)],
    ],
    [
      'again as a sentinel, without one that was taken away',
      'start-sentinel.sh',
      {
        password: 'next',
        run: {
          password: 'old',
          'sentinel.conf': `port 26379\nrequirepass "old"\nuser default on #${next} ~* &* +@all\n`,
        },
      },
      [rule(next)],
    ],
    [
      'again as a sentinel that has written no user down',
      'start-sentinel.sh',
      {
        password: 'old',
        run: { password: 'old', accepted: `${next}\n`, 'sentinel.conf': 'port 26379\nrequirepass "old"\n' },
      },
      [],
    ],
  ])('%s (%s)', async (_, script, pod, expected) => {
    const { conf, code } = await runPodScript(script, pod);
    expect([rules(conf), code]).toEqual([expected, 0]);
  });
});

it('a node without sentinels writes down what it accepts', async () => {
  const cli = { '"-p 6379 acl getuser default"': user(old, next), '*': 'OK' };
  expect((await runPodScript('ping.sh', { ...alone, cli })).accepted).toEqual([old, next]);
  expect(
    (await runPodScript('ping.sh', { ...alone, cli: { '*': 'NOAUTH' }, run: { accepted: `${old}\n` } })).accepted,
  ).toEqual([old]);
  expect((await runPodScript('ping.sh', { cli })).asked).not.toContain('-p 6379 acl getuser default');
});
