/** What is said where a cluster has an identity of its own, and where another cluster gets an address that was one of its own. */
import { hashOf } from '../../../../src/engines/redis/client/identity.ts';
import { type Conversation, follow, info, inSync, pairsOf } from './conversation.ts';
import { password, type Stage, watched } from './stage.ts';

const rule = (name: string): string => `user ${name} on #${hashOf(name)} ~* &* +@all`;
/** Knows the user, and copies as it. */
const as = (name: string): string[] => [rule(name), `masteruser ${name}`, `masterauth ${name}`];

/** `n1` with the replica `n2`, watched by `s1` as this user, or as everybody who knows the password. */
async function watchedPair(stage: Stage, user: string | undefined): Promise<void> {
  const conf = user === undefined ? [] : as(user);
  await Promise.all([stage.start('n1', conf), stage.start('n2', conf), stage.start('s1')]);
  await follow(stage, 'n2', 'n1');
  await stage.ask('s1', 'SENTINEL', 'MONITOR', watched, stage.address('n1'), '6379', '1');
  const login = user === undefined ? ['auth-user', '', 'auth-pass', password] : ['auth-user', user, 'auth-pass', user];
  await stage.ask('s1', 'SENTINEL', 'SET', watched, ...login, 'down-after-milliseconds', '3000');
  await stage.until('the sentinel knows the replica', async () => (await flagsOfReplica(stage)) === 'slave');
}

async function flagsOfReplica(stage: Stage): Promise<string | undefined> {
  const reply = await stage.ask('s1', 'SENTINEL', 'REPLICAS', watched);
  const [row = null] = Array.isArray(reply) ? reply : [];
  return pairsOf(row).flags;
}

/** The primary of another cluster starts where `n2` was, with keys of its own. */
async function anotherAtItsAddress(stage: Stage, conf: readonly string[]): Promise<void> {
  await stage.ask('n1', 'SET', 'ours', '1');
  await stage.kill('n2');
  await stage.start('n2', conf);
  await stage.until('it has loaded', async () => (await stage.ask('n2', 'PING')) === 'PONG');
  await stage.ask('n2', 'FLUSHALL');
  await stage.ask('n2', 'SET', 'theirs', '1');
}

const keysAt = (stage: Stage, member: string) => stage.ask(member, 'MGET', 'ours', 'theirs');

export const identityConversations: readonly Conversation[] = [
  {
    story: 'with one password, a sentinel makes the primary of another cluster a replica, and its keys are replaced',
    async play(stage) {
      await watchedPair(stage, undefined);
      await anotherAtItsAddress(stage, []);
      await stage.until('it is a replica', async () => (await info(stage, 'n2')).role === 'slave');
      await inSync(stage, 'n2', 'n1');
      return keysAt(stage, 'n2');
    },
    yields: ['1', null],
  },
  ...['an identity of its own', 'the password alone'].map(
    (other): Conversation => ({
      story: `by its identity, a sentinel is refused by another cluster that has ${other}, which keeps its keys`,
      async play(stage) {
        await watchedPair(stage, 'first');
        await anotherAtItsAddress(stage, other === 'the password alone' ? [] : as('second'));
        const since = stage.now();
        await stage.until('the sentinel takes it for down', async () => (await flagsOfReplica(stage)) !== 'slave');
        // It would have been told to follow after eight seconds.
        await stage.until('enough time has passed', async () => stage.now() - since > 12_000);
        const [flags = ''] = [await flagsOfReplica(stage)];
        return [(await info(stage, 'n2')).role, await keysAt(stage, 'n2'), flags.startsWith('s_down,slave')];
      },
      yields: ['master', [null, '1'], true],
    }),
  ),
  {
    story: 'by its identity, a node copies from its own primary and from nobody else',
    async play(stage) {
      await Promise.all([
        stage.start('n1', as('first')),
        stage.start('n2', as('first')),
        stage.start('n3', as('second')),
      ]);
      await stage.ask('n1', 'SET', 'ours', '1');
      await stage.ask('n3', 'SET', 'theirs', '1');
      await follow(stage, 'n2', 'n1');
      await stage.ask('n2', 'REPLICAOF', stage.address('n3'), '6379');
      const since = stage.now();
      await stage.until('it has tried twice', async () => stage.now() - since > 2500);
      return [(await info(stage, 'n2')).master_link_status, await keysAt(stage, 'n2')];
    },
    yields: ['down', ['1', null]],
  },
  {
    story: 'who is told of an identity while all run goes on without a break',
    async play(stage) {
      await Promise.all([stage.start('n1'), stage.start('n2')]);
      await follow(stage, 'n2', 'n1');
      const told = [];
      for (const member of ['n1', 'n2']) {
        told.push(
          await stage.ask(member, 'ACL', 'SETUSER', 'own', 'reset', 'on', `#${hashOf('own')}`, '~*', '&*', '+@all'),
        );
        told.push(await stage.ask(member, 'CONFIG', 'SET', 'masteruser', 'own', 'masterauth', 'own'));
      }
      const status = (await info(stage, 'n2')).master_link_status;
      await stage.ask('n2', 'REPLICAOF', '127.0.0.1', '1');
      await follow(stage, 'n2', 'n1');
      return [told, status, await stage.ask('n2', 'CONFIG', 'GET', 'masteruser')];
    },
    yields: [['OK', 'OK', 'OK', 'OK'], 'up', ['masteruser', 'own']],
  },
];
