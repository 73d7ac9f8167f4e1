/** What is said while the password of the clients changes: two are taken for a while, and then one is not any more. */
import { hashOf } from '../../../../src/engines/redis/client/identity.ts';
import { type Conversation, follow, info, inSync, pairsOf } from './conversation.ts';
import { type Heard, password, type Stage, watched } from './stage.ts';

const next = 'n"ext one';
const hash = (text: string): string => `#${hashOf(text)}`;
const identity = `user own on ${hash('own')} ~* &* +@all`;

/** What a login with each of these passwords is answered. */
async function logins(stage: Stage, member: string, ...passwords: readonly string[]): Promise<Heard[]> {
  const talk = await stage.open(member, false);
  const replies: Heard[] = [];
  for (const given of passwords) replies.push(await talk.say('AUTH', given));
  talk.close();
  return replies;
}

/** One command by the cluster's own user. */
async function asOwn(stage: Stage, member: string, ...args: readonly string[]): Promise<Heard> {
  const talk = await stage.open(member, false);
  await talk.say('AUTH', 'own', 'own');
  const reply = await talk.say(...args);
  talk.close();
  return reply;
}

const hashesAt = async (stage: Stage, member: string): Promise<Heard> => {
  const shown = await asOwn(stage, member, 'ACL', 'GETUSER', 'default');
  return Array.isArray(shown) ? (shown[shown.indexOf('passwords') + 1] ?? null) : shown;
};

const refused = '-WRONGPASS invalid username-password pair or user is disabled.';

/** Two sentinels that watch `n1` as the user `own`, and each other with the password of the clients. */
async function watchedByTwo(stage: Stage): Promise<void> {
  await stage.start('n1', [identity, 'masteruser own', 'masterauth own']);
  await Promise.all(['s1', 's2'].map((sentinel) => stage.start(sentinel, [identity])));
  for (const sentinel of ['s1', 's2']) {
    await stage.ask(sentinel, 'SENTINEL', 'MONITOR', watched, stage.address('n1'), '6379', '2');
    await stage.ask(
      sentinel,
      'SENTINEL',
      'SET',
      watched,
      'auth-user',
      'own',
      'auth-pass',
      'own',
      'down-after-milliseconds',
      '2000',
    );
  }
  await meet(stage);
}

const flagsOfPeer = async (stage: Stage, sentinel: string): Promise<string | undefined> => {
  const reply = await asOwn(stage, sentinel, 'SENTINEL', 'SENTINELS', watched);
  const [row = null] = Array.isArray(reply) ? reply : [];
  return pairsOf(row).flags;
};

const meet = (stage: Stage): Promise<void> =>
  stage.until('the sentinels have met', async () => {
    const flags = await Promise.all(['s1', 's2'].map((sentinel) => flagsOfPeer(stage, sentinel)));
    return flags.every((each) => each === 'sentinel');
  });

export const passwordConversations: readonly Conversation[] = [
  ...['n1', 's1'].map(
    (member): Conversation => ({
      story: `two passwords are taken by ${member}, then one, and whoever is connected stays so`,
      async play(stage) {
        await stage.start(member, [identity]);
        const client = await stage.open(member);
        const told = [await client.say('ACL', 'SETUSER', 'default', hash(next))];
        const both = [await logins(stage, member, password, next, 'third'), await hashesAt(stage, member)];
        told.push(await client.say('ACL', 'SETUSER', 'default', hash(next), hash(password)));
        told.push(await client.say('ACL', 'SETUSER', 'default', 'resetpass', hash(next)));
        const one = [
          await logins(stage, member, password, next),
          await hashesAt(stage, member),
          await client.say('PING'),
        ];
        client.close();
        const gone = await asOwn(stage, member, 'ACL', 'SETUSER', 'default', `!${hashOf(password)}`);
        return [told, both, one, gone];
      },
      yields: [
        ['OK', 'OK', 'OK'],
        [
          ['OK', 'OK', refused],
          [hashOf(password), hashOf(next)],
        ],
        [[refused, 'OK'], [hashOf(next)], 'PONG'],
        `-ERR Error in ACL SETUSER modifier '!${hashOf(password)}': The password you are trying to remove from the user does not exist`,
      ],
    }),
  ),
  {
    story: 'a node is started with the rule of the default user, whatever requirepass says',
    async play(stage) {
      await stage.start('n1', [identity, `user default on ${hash(next)} ${hash('third')} ~* &* +@all`]);
      return [await logins(stage, 'n1', password, next, 'third'), await hashesAt(stage, 'n1')];
    },
    yields: [
      [refused, 'OK', 'OK'],
      [hashOf(next), hashOf('third')],
    ],
  },
  {
    story: 'a sentinel that has written down what it was told knows it when it starts again',
    async play(stage) {
      await stage.start('s1', [identity]);
      await stage.ask('s1', 'ACL', 'SETUSER', 'default', 'resetpass', hash(next), hash('third'));
      const kept = await asOwn(stage, 's1', 'SENTINEL', 'FLUSHCONFIG');
      await stage.kill('s1');
      await stage.start('s1');
      return [kept, await logins(stage, 's1', password, next, 'third')];
    },
    yields: ['OK', [refused, 'OK', 'OK']],
  },
  {
    story: 'replicas that copy as the cluster do not notice another password, now or when they call again',
    async play(stage) {
      const conf = [identity, 'masteruser own', 'masterauth own'];
      await Promise.all(['n1', 'n2'].map((member) => stage.start(member, conf)));
      await follow(stage, 'n2', 'n1');
      await asOwn(stage, 'n1', 'ACL', 'SETUSER', 'default', hash(next));
      await asOwn(stage, 'n1', 'ACL', 'SETUSER', 'default', 'resetpass', hash(next), hash(password));
      const status = (await info(stage, 'n2')).master_link_status;
      await stage.ask('n2', 'REPLICAOF', '127.0.0.1', '1');
      await follow(stage, 'n2', 'n1');
      await inSync(stage, 'n2', 'n1');
      return [status, (await info(stage, 'n2')).master_link_status];
    },
    yields: ['up', 'up'],
  },
  {
    story: 'sentinels that meet with the password of the clients lose each other when it changes',
    async play(stage) {
      await watchedByTwo(stage);
      const before = await asOwn(stage, 's1', 'SENTINEL', 'CONFIG', 'GET', 'sentinel-user');
      await asOwn(stage, 's2', 'ACL', 'SETUSER', 'default', 'resetpass', hash(next));
      await asOwn(stage, 's2', 'SENTINEL', 'FLUSHCONFIG');
      await stage.kill('s2');
      await stage.start('s2');
      await stage.until(
        's2 is down for s1',
        async () => (await flagsOfPeer(stage, 's1'))?.startsWith('s_down') === true,
      );
      return before;
    },
    yields: ['sentinel-user', ''],
  },
  {
    story: 'sentinels that are told to meet as the cluster do not notice another password',
    async play(stage) {
      await watchedByTwo(stage);
      const told = [];
      for (const sentinel of ['s1', 's2']) {
        told.push(await asOwn(stage, sentinel, 'SENTINEL', 'CONFIG', 'SET', 'sentinel-pass', 'own'));
        told.push(await asOwn(stage, sentinel, 'SENTINEL', 'CONFIG', 'SET', 'sentinel-user', 'own'));
      }
      const now = [
        await asOwn(stage, 's1', 'SENTINEL', 'CONFIG', 'GET', 'sentinel-user'),
        await asOwn(stage, 's1', 'SENTINEL', 'CONFIG', 'GET', 'sentinel-pass'),
      ];
      await meet(stage);
      for (const member of ['s1', 's2', 'n1']) {
        await asOwn(stage, member, 'ACL', 'SETUSER', 'default', 'resetpass', hash(next));
      }
      await asOwn(stage, 's2', 'SENTINEL', 'FLUSHCONFIG');
      await stage.kill('s2');
      await stage.start('s2');
      const since = stage.now();
      await stage.until('enough time has passed', async () => stage.now() - since > 4_000);
      await meet(stage);
      // Whom the machine keeps waiting is found down for a moment.
      await stage.until('the primary is up', async () => {
        const row = pairsOf(await asOwn(stage, 's1', 'SENTINEL', 'MASTER', watched));
        return row.flags === 'master';
      });
      return [told, now];
    },
    yields: [
      ['OK', 'OK', 'OK', 'OK'],
      [
        ['sentinel-user', 'own'],
        ['sentinel-pass', 'own'],
      ],
    ],
  },
];
