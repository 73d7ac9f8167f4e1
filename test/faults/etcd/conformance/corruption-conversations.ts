/** Data that comes apart: what an alarm keeps from whom, who tells a hash, and how members find that they differ. */
import {
  type Conversation,
  field,
  form,
  get,
  idOf,
  leader,
  newCluster,
  put,
  ready,
  reason,
  verdict,
} from './conversation.ts';
import type { Answer, Stage } from './stage.ts';

const members = ['n1', 'n2', 'n3'] as const;
const inconsistent = 'found data inconsistency with peers';

const compact = async (stage: Stage, revision: string): Promise<string> =>
  verdict(await stage.ask('n1', 'kv/compaction', { revision, physical: true }));

/** As a majority has confirmed them. An election may lie in between: where the leader was removed, nobody answers until it ends. */
async function alarms(stage: Stage): Promise<unknown> {
  let answer: Answer = '';
  await stage.until('n1 lists the alarms', async () => {
    answer = await stage.ask('n1', 'maintenance/alarm', { action: 'GET' });
    return typeof answer !== 'string';
  });
  return field(answer, 'alarms');
}

async function hashes(stage: Stage, revision: string): Promise<readonly unknown[]> {
  const answers = await Promise.all(members.map((member) => stage.ask(member, 'maintenance/hashkv', { revision })));
  return answers.map((answer) => (typeof answer === 'string' ? answer : answer.hash));
}

/** Three members, of whose data a follower's comes apart. Resolves with the leader, that one, and the third. */
async function apart(
  stage: Stage,
  settings: Readonly<Record<string, string>>,
): Promise<readonly [first: string, wrong: string, right: string]> {
  // Each write is in the database at once: what comes later would be written over what is spoiled.
  const start = { ...newCluster(...members), settings: { ...settings, ETCD_BACKEND_BATCH_LIMIT: '1' } };
  for (const member of members) await stage.start(member, start);
  await ready(stage, ...members);
  for (let n = 0; n < 8; n++) await put(stage, 'n1', `k${n}`, 'x'.repeat(3000));
  const first = await leader(stage, members);
  const [wrong = '', right = ''] = members.filter((member) => member !== first);
  await stage.until('all hold all of it', async () => {
    const told = await hashes(stage, '9');
    return told.every((hash) => typeof hash === 'number') && new Set(told).size === 1;
  });
  await stage.spoil(wrong);
  return [first, wrong, right];
}

const checks36 = {
  ETCD_FEATURE_GATES: 'InitialCorruptCheck=true,CompactHashCheck=true',
  ETCD_COMPACT_HASH_CHECK_TIME: '1s',
};
const checks35 = {
  ETCD_EXPERIMENTAL_INITIAL_CORRUPT_CHECK: 'true',
  ETCD_EXPERIMENTAL_COMPACT_HASH_CHECK_ENABLED: 'true',
  ETCD_EXPERIMENTAL_COMPACT_HASH_CHECK_TIME: '1s',
};

export const corruptionConversations: readonly Conversation[] = [
  {
    story: 'while an alarm CORRUPT stands nobody is ready, writes or drops history, whoever it names',
    async play(stage) {
      await form(stage, ...members);
      await put(stage, 'n1', 'a', '1');
      await stage.ask('n1', 'maintenance/alarm', { action: 'ACTIVATE', alarm: 'CORRUPT' });
      await stage.until('all know it', async () => !(await stage.probe('n2', '/readyz')));
      const during = [
        await alarms(stage),
        field(await stage.ask('n2', 'maintenance/status'), 'errors'),
        await stage.probe('n2', '/livez'),
        await put(stage, 'n2', 'a', '2'),
        await compact(stage, '2'),
        await get(stage, 'n2', 'a'),
        new Set(await hashes(stage, '2')).size,
      ];
      await stage.ask('n1', 'maintenance/alarm', { action: 'DEACTIVATE', alarm: 'CORRUPT' });
      await stage.until('it is ready', () => stage.probe('n2', '/readyz'));
      return [during, await alarms(stage), await put(stage, 'n2', 'a', '2')];
    },
    yields: [
      [
        [{ alarm: 'CORRUPT' }],
        ['alarm:CORRUPT '],
        true,
        '15 etcdserver: corrupt cluster',
        '15 etcdserver: corrupt cluster',
        '1',
        1,
      ],
      undefined,
      'done',
    ],
  },
  {
    story: 'a member is removed while an alarm CORRUPT names it, and the alarm stays',
    async play(stage) {
      await form(stage, ...members);
      await stage.pause(9_000);
      const memberID = await idOf(stage, 'n3', 'n1');
      await stage.ask('n1', 'maintenance/alarm', { action: 'ACTIVATE', memberID, alarm: 'CORRUPT' });
      const errors = field(await stage.ask('n1', 'maintenance/status'), 'errors');
      const removed = verdict(await stage.ask('n1', 'cluster/member/remove', { ID: memberID }));
      const after = (await alarms(stage)) as readonly { readonly memberID: string }[];
      return [
        String(errors) === `memberID:${memberID} alarm:CORRUPT `,
        removed,
        after.map((row) => row.memberID === memberID),
        await stage.probe('n1', '/readyz'),
      ];
    },
    yields: [true, 'done', [true], false],
  },
  {
    story: 'a read of a revision whose history is dropped is refused, and nothing else tells it',
    async play(stage) {
      await form(stage, ...members);
      for (const value of ['1', '2', '3']) await put(stage, 'n1', 'a', value);
      const read = async (revision: string): Promise<string> =>
        verdict(await stage.ask('n2', 'kv/range', { key: 'AA==', count_only: true, revision }));
      const before = [await read('3'), await read('4')];
      await compact(stage, '4');
      return [before, await read('3'), await read('4'), await read('99')];
    },
    yields: [
      ['done', 'done'],
      '11 etcdserver: mvcc: required revision has been compacted',
      'done',
      '11 etcdserver: mvcc: required revision is a future revision',
    ],
  },
  {
    story: 'a hash is told of every revision that is not dropped and is there',
    async play(stage) {
      await form(stage, ...members);
      for (const value of ['1', '2', '3']) await put(stage, 'n1', 'a', value);
      await Promise.all(members.map((member) => get(stage, member, 'a')));
      const [at3, at4] = [await hashes(stage, '3'), await hashes(stage, '4')];
      const compacted = await compact(stage, '4');
      await stage.until('all have dropped it', async () =>
        (await hashes(stage, '3')).every((hash) => typeof hash === 'string'),
      );
      return [
        new Set(at3).size,
        new Set(at4).size,
        at3[0] === at4[0],
        compacted,
        (await hashes(stage, '3'))[0],
        (await hashes(stage, '99'))[0],
        new Set(await hashes(stage, '4')).size,
      ];
    },
    yields: [
      1,
      1,
      false,
      'done',
      '11 etcdserver: mvcc: required revision has been compacted',
      '11 etcdserver: mvcc: required revision is a future revision',
      1,
    ],
  },
  {
    story: 'data that has come apart is found after a compaction, and a majority says whose it is',
    only: '3.6',
    async play(stage) {
      const [first, wrong, right] = await apart(stage, checks36);
      const told = await hashes(stage, '9');
      const of = (member: string): unknown => told[members.indexOf(member as 'n1')];
      const compacted = await compact(stage, '5');
      await stage.until('an alarm', async () => (await alarms(stage)) !== undefined);
      const raised = (await alarms(stage)) as readonly { readonly memberID?: string; readonly alarm: string }[];
      const id = await idOf(stage, wrong, first);
      return [
        of(first) === of(right),
        of(first) === of(wrong),
        compacted,
        raised.map((row) => [row.memberID === id, row.alarm]),
      ];
    },
    yields: [true, false, 'done', [[true, 'CORRUPT']]],
  },
  {
    story: 'data that has come apart is found after a compaction, and nobody says whose it is',
    only: '3.5',
    async play(stage) {
      await apart(stage, checks35);
      const told = await hashes(stage, '9');
      await compact(stage, '5');
      await stage.until('an alarm', async () => (await alarms(stage)) !== undefined);
      return [new Set(told).size, await alarms(stage)];
    },
    yields: [2, [{ alarm: 'CORRUPT' }]],
  },
  {
    story: 'who starts beside one whose data differs does not start, whoever of them is wrong',
    only: '3.6',
    async play(stage) {
      const [first, wrong, right] = await apart(stage, checks36);
      await stage.kill(right);
      await stage.start(right, { ...newCluster(...members), settings: checks36 });
      const { words } = await stage.ended(right);
      await stage.start(right, newCluster(...members));
      await ready(stage, right);
      await stage.kill(wrong);
      await stage.start(wrong, { ...newCluster(...members), settings: checks36 });
      const again = await stage.ended(wrong);
      return [reason(words, inconsistent), reason(again.words, inconsistent), await put(stage, first, 'a', '1')];
    },
    yields: [inconsistent, inconsistent, 'done'],
  },
];
