/** Who takes writes after whom: on request, and when processes end. */
import {
  type Conversation,
  described,
  describedAll,
  fields,
  form,
  isLeading,
  isStreaming,
  leader,
  pod,
  seen,
  settled,
  sync,
  waitsFor,
  words,
} from './conversation.ts';
import type { Stage } from './stage.ts';

const switchover = async (stage: Stage, via: number, from: string, to: string): Promise<string> =>
  words(await stage.call(via, 'POST', '/switchover', { leader: from, candidate: to }));
const failover = async (stage: Stage, via: number, to: string): Promise<string> =>
  words(await stage.call(via, 'POST', '/failover', { candidate: to }));

const others = (member: number): number[] => [0, 1, 2].filter((each) => each !== member);

export const electionConversations: readonly Conversation[] = [
  {
    story: 'a switchover goes to whom it names, from whom it names, and to nobody else',
    isEssential: true,
    async play(stage) {
      await form(stage, 0, 1, 2);
      const refused = [
        await switchover(stage, 0, pod(1), pod(2)),
        await switchover(stage, 0, pod(0), 'db-9-0'),
        await switchover(stage, 0, pod(0), pod(0)),
        await switchover(stage, 1, '', pod(1)),
        await failover(stage, 1, ''),
      ];
      const kept = await stage.write(0, 'a');
      const done = await switchover(stage, 2, pod(0), pod(1));
      await stage.until('1 leads', () => isLeading(stage, 1));
      await settled(stage, 1, 0, 2);
      const history = fields(await stage.call(1, 'GET', '/history')) as unknown as readonly (readonly unknown[])[];
      return {
        refused,
        kept,
        done,
        members: await describedAll(stage, 0, 1, 2),
        history: history.map(([timeline, , why]) => [timeline, why]),
        request: [stage.state('failover')?.leader, stage.state('failover')?.member],
        keys: await stage.keys(2),
        transitions: stage.state('leader')?.transitions,
      };
    },
    yields: {
      refused: [
        '412 leader name does not match',
        '412 candidate does not exists',
        '400 Switchover target and source are the same',
        '400 Switchover could be performed only from a specific leader',
        '400 Failover could be performed only to a specific candidate',
      ],
      kept: true,
      done: '200 Successfully switched over to "db-1-0"',
      members: [
        'replica, timeline 2, streaming, synchronous, labelled replica',
        'primary, timeline 2, of db-0-0 db-2-0, labelled primary',
        'replica, timeline 2, streaming, synchronous, labelled replica',
      ],
      history: [[1, 'no recovery target specified']],
      request: [undefined, undefined],
      keys: ['a'],
      transitions: '1',
    },
  },
  {
    story: 'when the primary is killed one of its voters takes over with every commit, and the old one follows it',
    isEssential: true,
    async play(stage) {
      await form(stage, 0, 1, 2);
      const kept = [await stage.write(0, 'a'), await stage.write(0, 'b')];
      await stage.kill(0);
      const silent = await described(stage, 0);
      const next = await leader(stage, 1, 2);
      const [other = 0] = others(next).filter((member) => member !== 0);
      await stage.until('the label of the old one is gone', () => stage.label(0) !== 'primary');
      const later = await stage.write(next, 'c');
      await stage.until('only the other one is a voter', () => sync(stage) === `${pod(next)}: 0 of ${pod(other)}`);
      const meanwhile = await waitsFor(stage, next);
      await stage.start(0, 'resume');
      await settled(stage, next, ...others(next));
      return {
        kept,
        silent,
        later,
        meanwhile: meanwhile === `ANY 1 (${pod(other)})`,
        back: await described(stage, 0),
        keys: [await stage.keys(0), await stage.keys(next)],
      };
    },
    yields: {
      kept: [true, true],
      silent: 'no answer',
      later: true,
      meanwhile: true,
      back: 'replica, timeline 2, streaming, synchronous, labelled replica',
      keys: [
        ['a', 'b', 'c'],
        ['a', 'b', 'c'],
      ],
    },
  },
  {
    story: 'a primary that is told to end hands over first',
    async play(stage) {
      await form(stage, 0, 1, 2);
      await stage.write(0, 'a');
      await stage.terminate(0);
      const { code } = await stage.ended(0);
      const holder = stage.state('leader')?.leader;
      const next = await leader(stage, 1, 2);
      return [code, holder !== pod(0), (await seen(stage, next))?.timeline, await stage.keys(next)];
    },
    yields: [0, true, 2, ['a']],
  },
  {
    story: 'a primary that has lost its standbys goes on alone, and they come back as voters',
    async play(stage) {
      await form(stage, 0, 1, 2);
      await stage.kill(1);
      await stage.kill(2);
      await stage.until('nobody else may be elected', () => sync(stage) === `${pod(0)}: 0 of `);
      await stage.until('no commit waits', async () => (await waitsFor(stage, 0)) === '');
      const alone = [await describedAll(stage, 0), await stage.write(0, 'a')];
      await stage.start(1, 'resume');
      await stage.start(2, 'resume');
      await settled(stage, 0, 1, 2);
      return [alone, await describedAll(stage, 0, 1, 2), await stage.keys(2)];
    },
    yields: [
      [['primary, timeline 1, labelled primary'], true],
      [
        'primary, timeline 1, of db-1-0 db-2-0, labelled primary',
        'replica, timeline 1, streaming, synchronous, labelled replica',
        'replica, timeline 1, streaming, synchronous, labelled replica',
      ],
      ['a'],
    ],
  },
  {
    story: 'one voter of two is not enough without the primary, until a person asks for it by name',
    async play(stage) {
      await form(stage, 0, 1, 2);
      await stage.write(0, 'a');
      await stage.kill(0);
      await stage.kill(1);
      await stage.until('the lock has ended', async () => (await seen(stage, 2))?.isUnlocked === true);
      await stage.pause(12_000);
      const alone = [await described(stage, 2), await stage.write(2, 'b')];
      const refused = await switchover(stage, 2, pod(0), pod(2));
      const asked = await failover(stage, 2, pod(2));
      await stage.until('it leads', () => isLeading(stage, 2));
      return { alone, refused, asked, after: [await described(stage, 2), await stage.keys(2)] };
    },
    yields: {
      alone: ['replica, timeline 1, synchronous, unlocked, labelled replica', false],
      refused: '412 leader name does not match',
      asked: '200 Successfully failed over to "db-2-0"',
      after: ['primary, timeline 2, labelled primary', ['a']],
    },
  },
  {
    story: 'when all start again, one without the last commit is not elected, and follows whoever has it',
    async play(stage) {
      await form(stage, 0, 1, 2);
      await stage.write(0, 'a');
      await stage.kill(1);
      await stage.until('1 is no voter', () => sync(stage) === `${pod(0)}: 0 of ${pod(2)}`);
      await stage.write(0, 'b');
      await stage.kill(0);
      await stage.kill(2);
      await stage.start(1, 'resume');
      // The lock ends by its own clock, from the moment in which it has read it.
      await stage.pause(30_000);
      await stage.until('the lock has ended', async () => (await seen(stage, 1))?.isUnlocked === true);
      await stage.pause(12_000);
      const alone = await described(stage, 1);
      await stage.start(0, 'resume');
      await stage.start(2, 'resume');
      const next = await leader(stage, 0, 1, 2);
      await stage.until('1 streams', () => isStreaming(stage, 1));
      return { alone, elected: next !== 1, keys: await stage.keys(1) };
    },
    yields: { alone: 'replica, timeline 1, unlocked, labelled replica', elected: true, keys: ['a', 'b'] },
  },
];
