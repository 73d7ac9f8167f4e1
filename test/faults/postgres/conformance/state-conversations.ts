/** What becomes of members whose ConfigMaps somebody deletes, and of a member that is to be copied again. */
import {
  type Conversation,
  described,
  describedAll,
  form,
  isLeading,
  pod,
  seen,
  settled,
  sync,
  waitsFor,
  words,
} from './conversation.ts';
import type { Stage } from './stage.ts';

const reinitialize = async (stage: Stage, member: number): Promise<string> =>
  words(await stage.call(member, 'POST', '/reinitialize', {}));

export const stateConversations: readonly Conversation[] = [
  {
    story: 'without the lock nobody takes writes and nobody makes another one',
    async play(stage) {
      await form(stage, 0, 1, 2);
      await stage.discard('leader');
      await stage.until('nobody is primary', async () => {
        const all = await Promise.all([0, 1, 2].map((member) => seen(stage, member)));
        return all.every((member) => member?.role === 'replica' && member.postgres === 'running');
      });
      await stage.pause(12_000);
      return [await describedAll(stage, 0, 1, 2), stage.state('leader'), await stage.write(0, 'a')];
    },
    yields: [
      [
        'replica, timeline 1, unlocked, labelled replica',
        'replica, timeline 1, synchronous, unlocked, labelled replica',
        'replica, timeline 1, synchronous, unlocked, labelled replica',
      ],
      undefined,
      false,
    ],
  },
  {
    story: 'without the shared configuration the primary goes on, and cannot write it anew',
    async play(stage) {
      await form(stage, 0, 1, 2);
      await stage.discard('config');
      await stage.pause(25_000);
      return [
        await describedAll(stage, 0, 1, 2),
        stage.state('config'),
        await stage.write(0, 'a'),
        words(await stage.call(0, 'GET', '/config')),
        words(await stage.call(0, 'PATCH', '/config', { ttl: 21 })),
      ];
    },
    yields: [
      [
        'primary, timeline 1, of db-1-0 db-2-0, labelled primary',
        'replica, timeline 1, streaming, synchronous, labelled replica',
        'replica, timeline 1, streaming, synchronous, labelled replica',
      ],
      undefined,
      true,
      '502',
      '503',
    ],
  },
  {
    story: 'without the synchronous state the primary goes on, and cannot write it anew',
    async play(stage) {
      await form(stage, 0, 1, 2);
      await stage.discard('sync');
      await stage.pause(12_000);
      return [await describedAll(stage, 0, 1, 2), sync(stage), await waitsFor(stage, 0), await stage.write(0, 'a')];
    },
    yields: [
      [
        'primary, timeline 1, of db-1-0 db-2-0, labelled primary',
        'replica, timeline 1, streaming, labelled replica',
        'replica, timeline 1, streaming, labelled replica',
      ],
      'nobody: 0 of ',
      'ANY 1 (db-1-0,db-2-0)',
      true,
    ],
  },
  {
    story: 'a standby is copied again on request, and a primary never',
    isEssential: true,
    async play(stage) {
      await form(stage, 0, 1, 2);
      await stage.write(0, 'a');
      const refused = await reinitialize(stage, 0);
      const begun = await reinitialize(stage, 1);
      const again = await reinitialize(stage, 1);
      await settled(stage, 0, 1, 2);
      return { refused, begun, again, keys: await stage.keys(1), member: await described(stage, 1) };
    },
    yields: {
      refused: '503 I am the leader, can not reinitialize',
      begun: '200 reinitialize started',
      again: '503 reinitialize already in progress',
      keys: ['a'],
      member: 'replica, timeline 1, streaming, synchronous, labelled replica',
    },
  },
  {
    story: 'nobody is copied again while nobody leads',
    spec: { instances: 2 },
    async play(stage) {
      await form(stage, 0, 1);
      await stage.discard('leader');
      await stage.until('nobody leads', async () => (await seen(stage, 1))?.isUnlocked === true);
      await stage.until('0 is down', async () => !(await isLeading(stage, 0)));
      return [await reinitialize(stage, 1), (await stage.keys(1)).length, pod(1)];
    },
    yields: ['503 Cluster has no leader, can not reinitialize', 0, 'db-1-0'],
  },
];
