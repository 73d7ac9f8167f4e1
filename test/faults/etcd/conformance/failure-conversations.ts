/** Members that are away, that have lost what they had, or that are started where they should not be. */

import { progressIn } from '../../../../src/engines/etcd/observe/progress.ts';
import { livenessPath } from '../../../../src/engines/etcd/resources/pods.ts';
import {
  type Conversation,
  field,
  form,
  get,
  idOf,
  isLeaderless,
  isReady,
  joining,
  leader,
  listed,
  newCluster,
  put,
  ready,
  reason,
  remove,
  settle,
} from './conversation.ts';
import type { Stage } from './stage.ts';

const blank = 'cannot fetch cluster info from peer urls';

export const failureConversations: readonly Conversation[] = [
  {
    story: 'without a majority nothing is agreed on; with it again everything goes on',
    async play(stage) {
      const members = ['n1', 'n2', 'n3'];
      await form(stage, ...members);
      await put(stage, 'n1', 'a', '1');
      const first = await leader(stage, members);
      const [other = '', third = ''] = members.filter((member) => member !== first);
      await stage.kill(other);
      await stage.kill(third);
      await stage.until('no leader is known', () => isLeaderless(stage, first));
      const status = await stage.ask(first, 'maintenance/status');
      const alone = [
        field(status, 'errors'),
        await get(stage, first, 'a', true),
        await put(stage, first, 'b', '2'),
        await stage.probe(first, '/livez'),
        await stage.probe(first, livenessPath),
        await stage.probe(first, '/readyz'),
      ];
      await stage.start(other, newCluster(...members));
      await ready(stage, first, other);
      return [alone, await get(stage, other, 'a'), await put(stage, other, 'c', '3')];
    },
    yields: [[['etcdserver: no leader'], '1', '4 context deadline exceeded', true, true, false], '1', 'done'],
  },
  {
    story: 'without a majority one that has started again answers no client, and its metrics say how far its data goes',
    async play(stage) {
      const members = ['n1', 'n2', 'n3'];
      await form(stage, ...members);
      for (const value of ['1', '2', '3']) await put(stage, 'n1', 'a', value);
      await ready(stage, 'n2');
      await stage.until('it has them, too', async () => (await get(stage, 'n2', 'a', true)) === '3');
      const applied = async (): Promise<unknown> => {
        const status = await stage.ask('n2', 'maintenance/status');
        return field(status, 'raftAppliedIndex');
      };
      await stage.kill('n1');
      await stage.kill('n3');
      await stage.until('no leader is known', () => isLeaderless(stage, 'n2'));
      const before = [await applied(), progressIn((await stage.metrics('n2')) ?? '')] as const;
      await stage.terminate('n2');
      await stage.start('n2', newCluster(...members));
      await stage.until('it serves', async () => (await stage.metrics('n2')) !== undefined);
      const after = progressIn((await stage.metrics('n2')) ?? '');
      await stage.pause(1000);
      const answer = await stage.ask('n2', 'maintenance/status', {}, { withinMs: 1000 });
      const asSaid = String(before[1]?.applied) === before[0] && after?.applied === before[1]?.applied;
      const isSame = after?.memberId !== undefined && after.memberId === before[1]?.memberId;
      return [asSaid, before[1]?.revision, after?.revision, isSame, answer];
    },
    yields: [true, '4', '4', true, 'no answer'],
  },
  {
    story: 'a killed leader is replaced, and comes back with what it had',
    async play(stage) {
      const members = ['n1', 'n2', 'n3'];
      await form(stage, ...members);
      const first = await leader(stage, members);
      const [other = ''] = members.filter((member) => member !== first);
      await put(stage, first, 'a', '1');
      await stage.kill(first);
      await stage.until('another leads', async () => (await put(stage, other, 'b', '2')) === 'done');
      await stage.start(first, newCluster(...members));
      await ready(stage, first);
      return [await get(stage, first, 'a'), await get(stage, first, 'b'), await listed(stage, first)];
    },
    yields: ['1', '2', ['n1', 'n2', 'n3']],
  },
  {
    story: 'who is told of nobody else does not start on a blank volume',
    async play(stage) {
      await form(stage, 'n1', 'n2', 'n3');
      await stage.kill('n3');
      await stage.wipe('n3');
      await stage.start('n3', joining('n3'));
      const { code, words } = await stage.ended('n3');
      return [code, reason(words, blank)];
    },
    yields: [1, blank],
  },
  {
    story: 'on its own data a member starts whatever it is told of others',
    async play(stage) {
      await form(stage, 'n1', 'n2', 'n3');
      await put(stage, 'n1', 'a', '1');
      await stage.kill('n3');
      await stage.start('n3', joining('n3'));
      await ready(stage, 'n3');
      return [await get(stage, 'n3', 'a'), await listed(stage, 'n3')];
    },
    yields: ['1', ['n1', 'n2', 'n3']],
  },
  {
    story: 'nobody forms a cluster of which it has been a part',
    async play(stage) {
      await form(stage, 'n1', 'n2', 'n3');
      await stage.kill('n3');
      await stage.wipe('n3');
      await stage.start('n3', newCluster('n1', 'n2', 'n3'));
      const { code, words } = await stage.ended('n3');
      return [code, reason(words, 'has already been bootstrapped')];
    },
    yields: [1, 'has already been bootstrapped'],
  },
  {
    story: 'who is told of the others joins under its old number with nothing, which is what must never be told',
    async play(stage) {
      await form(stage, 'n1', 'n2', 'n3');
      await put(stage, 'n1', 'a', '1');
      const before = await idOf(stage, 'n3', 'n1');
      await stage.kill('n3');
      await stage.wipe('n3');
      await stage.start('n3', joining('n1', 'n2', 'n3'));
      const came = await outcome(stage, 'n3');
      return [['ready', 'panic'].includes(came) ? 'let in' : came, (await idOf(stage, 'n3', 'n1')) === before];
    },
    yields: ['let in', true],
  },
  {
    story: 'a list that is not what the members say is refused',
    async play(stage) {
      await form(stage, 'n1');
      await stage.start('n2', joining('n1', 'n2'));
      const { code, words } = await stage.ended('n2');
      await stage.start('n3', joining('n3', 'n2'));
      const lonely = await stage.ended('n3');
      return [code, reason(words, 'member count is unequal'), lonely.code, reason(lonely.words, blank)];
    },
    yields: [1, 'member count is unequal', 1, blank],
  },
  {
    story: 'who has been removed ends by itself, and ends again when it is started',
    async play(stage) {
      await form(stage, 'n1', 'n2', 'n3');
      await settle(stage);
      const first = await leader(stage, ['n1', 'n2', 'n3']);
      const [victim = '', other = ''] = ['n1', 'n2', 'n3'].filter((member) => member !== first);
      const removed = await remove(stage, first, victim);
      const end = await stage.ended(victim);
      await stage.start(victim, joining(victim));
      const again = await stage.ended(victim);
      // With 0 or 1, whichever part of it notices first.
      return [removed, end.code, again.code === null, (await listed(stage, other)).length];
    },
    yields: ['done', 0, false, 2],
  },
  {
    story: 'who was away when it was removed is let in by nobody',
    async play(stage) {
      await form(stage, 'n1', 'n2', 'n3');
      await settle(stage);
      await stage.kill('n3');
      await stage.pause(1_500);
      await ready(stage, 'n1', 'n2');
      const removed = await remove(stage, 'n1', 'n3');
      await stage.start('n3', joining('n3'));
      // Some end, of either version, and some go on asking.
      await stage.pause(5_000);
      return [removed, await isReady(stage, 'n3'), await listed(stage, 'n2')];
    },
    yields: ['done', false, ['n1', 'n2']],
  },
  {
    story: 'a member that goes on alone forgets the others and keeps what it knows',
    async play(stage) {
      await form(stage, 'n1', 'n2', 'n3');
      await put(stage, 'n1', 'a', '1');
      await stage.until('n2 has it', async () => (await get(stage, 'n2', 'a', true)) === '1');
      // Long enough for the others to learn that it was agreed on: what they do not know to be is dropped.
      await stage.pause(500);
      for (const member of ['n1', 'n2', 'n3']) await stage.kill(member);
      await stage.start('n2', { ...joining('n2'), settings: { ETCD_FORCE_NEW_CLUSTER: 'true' } });
      await ready(stage, 'n2');
      return [await get(stage, 'n2', 'a'), await listed(stage, 'n2'), await put(stage, 'n2', 'b', '2')];
    },
    yields: ['1', ['n2'], 'done'],
  },
];

/** A real process may end in a panic instead, where it has to admit that it lacks what it has promised to keep. */
async function outcome(stage: Stage, member: string): Promise<string> {
  await stage.until(`${member} is led, or ends`, async () => stage.hasEnded(member) || (await isReady(stage, member)));
  return stage.hasEnded(member) ? reason((await stage.ended(member)).words, 'panic') : 'ready';
}
