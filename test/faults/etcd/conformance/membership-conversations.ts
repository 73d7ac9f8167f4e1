/** Who is a member, and what has to be the case before that changes. */
import {
  add,
  type Conversation,
  form,
  get,
  idOf,
  joining,
  leader,
  listed,
  promote,
  put,
  ready,
  remove,
  served,
  settle,
  verdict,
  version,
} from './conversation.ts';

/** The number of a member is made of its address and the second: whether that is still the same is chance. */
const isThere = (answer: string): string =>
  /^9 etcdserver: (member ID already exist|Peer URLs already exists)$/.test(answer) ? 'is there' : answer;

export const membershipConversations: readonly Conversation[] = [
  {
    story: 'three form one cluster, and what one is told all know',
    async play(stage) {
      await form(stage, 'n1', 'n2', 'n3');
      const written = await put(stage, 'n1', 'a', '1');
      const read = await Promise.all(['n1', 'n2', 'n3'].map((member) => get(stage, member, 'a')));
      return [written, read, await listed(stage, 'n2'), await get(stage, 'n3', 'nothing')];
    },
    yields: ['done', ['1', '1', '1'], ['n1', 'n2', 'n3'], undefined],
  },
  {
    story: 'a change too early after the start is refused, until all have been connected for five seconds',
    async play(stage) {
      await form(stage, 'n1', 'n2', 'n3');
      const early = [await add(stage, 'n1', 'n4'), await remove(stage, 'n1', 'n2')];
      await settle(stage);
      return [early, await add(stage, 'n1', 'n4'), await listed(stage, 'n3')];
    },
    yields: [
      ['14 etcdserver: unhealthy cluster', '14 etcdserver: unhealthy cluster'],
      'done',
      ['n1', 'n2', 'n3', 'n4 learner (not started)'],
    ],
  },
  {
    story: 'a member alone takes a learner at once, and gives it a vote when it has caught up',
    async play(stage) {
      await form(stage, 'n1');
      await put(stage, 'n1', 'a', '1');
      const added = [await add(stage, 'n1', 'n2'), isThere(await add(stage, 'n1', 'n2')), await add(stage, 'n1', 'n3')];
      // By now its number would be another one.
      await stage.pause(1_100);
      added.push(await add(stage, 'n1', 'n2'));
      const early = await promote(stage, 'n1', 'n2');
      await stage.start('n2', joining('n1', 'n2'));
      await ready(stage, 'n2');
      const asLearner = [
        await served(stage, 'n2', 'a', true),
        String(await get(stage, 'n2', 'a')).replace(/^\d+ /, ''),
        (await put(stage, 'n2', 'a', '2')).replace(/^\d+ /, ''),
        verdict(await stage.ask('n2', 'cluster/member/list', { linearizable: true })).replace(/^\d+ /, ''),
        await stage.probe('n2', '/readyz'),
      ];
      const list = await listed(stage, 'n1');
      await stage.until('n2 promoted', async () => (await promote(stage, 'n1', 'n2')) === 'done');
      const again = await promote(stage, 'n1', 'n2');
      return [added, early, asLearner, list, again, await listed(stage, 'n2'), await served(stage, 'n2', 'a')];
    },
    yields: [
      [
        'done',
        'is there',
        '9 etcdserver: too many learner members in cluster',
        '9 etcdserver: Peer URLs already exists',
      ],
      '9 etcdserver: can only promote a learner member which is in sync with leader',
      [
        '1',
        'etcdserver: rpc not supported for learner',
        'etcdserver: rpc not supported for learner',
        'etcdserver: rpc not supported for learner',
        false,
      ],
      ['n1', 'n2 learner'],
      '9 etcdserver: can only promote a learner member',
      ['n1', 'n2'],
      '1',
    ],
  },
  {
    story: 'as many learners as the setting says, from 3.6 on',
    async play(stage) {
      const settings = { ETCD_MAX_LEARNERS: '2', ETCD_EXPERIMENTAL_MAX_LEARNERS: '2' };
      await stage.start('n1', { state: 'new', cluster: ['n1'], settings });
      await ready(stage, 'n1');
      const added = [await add(stage, 'n1', 'n2'), await add(stage, 'n1', 'n3'), await add(stage, 'n1', 'n4')];
      const isOld = (await version(stage, 'n1')).startsWith('3.5.');
      return added.filter((word) => word === 'done').length === (isOld ? 1 : 2);
    },
    yields: true,
  },
  {
    story: 'a member alone takes another one with a vote, and then waits for it',
    async play(stage) {
      await form(stage, 'n1');
      const added = await add(stage, 'n1', 'n2', false);
      const alone = await stage.ask('n1', 'kv/put', { key: 'YQ==', value: 'MQ==' }, { withinMs: 3_000 });
      await stage.start('n2', joining('n1', 'n2'));
      await ready(stage, 'n1', 'n2');
      return [added, alone, await put(stage, 'n2', 'a', '2'), await listed(stage, 'n1')];
    },
    yields: ['done', 'no answer', 'done', ['n1', 'n2']],
  },
  {
    story: 'what is no member cannot be removed or promoted, and the last one stays',
    async play(stage) {
      await form(stage, 'n1');
      return [
        verdict(await stage.ask('n1', 'cluster/member/remove', { ID: '12345' })),
        verdict(await stage.ask('n1', 'cluster/member/promote', { ID: '12345' })),
        await remove(stage, 'n1', 'n1'),
        verdict(await stage.ask('n1', 'cluster/member/add', { peerURLs: ['nonsense'], isLearner: true })),
      ];
    },
    yields: [
      '5 etcdserver: member not found',
      '5 etcdserver: member not found',
      '2 etcdserver: re-configuration failed due to not enough started members',
      '3 etcdserver: given member URLs are invalid',
    ],
  },
  {
    story: 'while one of three is away, nobody comes and nobody who is there goes; the one that is away may',
    async play(stage) {
      await form(stage, 'n1', 'n2', 'n3');
      await settle(stage);
      await stage.kill('n3');
      await stage.pause(1_500);
      await ready(stage, 'n1', 'n2');
      const refused = [await add(stage, 'n1', 'n4'), await remove(stage, 'n1', 'n2')];
      const removed = await remove(stage, 'n1', 'n3');
      return [refused, removed, await listed(stage, 'n2'), await remove(stage, 'n1', 'n3')];
    },
    yields: [
      ['14 etcdserver: unhealthy cluster', '14 etcdserver: unhealthy cluster'],
      'done',
      ['n1', 'n2'],
      '5 etcdserver: member not found',
    ],
  },
  {
    story: 'only the leader hands over, and only to a voter',
    async play(stage) {
      const members = ['n1', 'n2', 'n3'];
      await form(stage, ...members);
      const first = await leader(stage, members);
      const [heir = '', other = ''] = members.filter((member) => member !== first);
      const to = { targetID: await idOf(stage, heir, first) };
      const refused = [
        verdict(await stage.ask(other, 'maintenance/transfer-leadership', to)),
        verdict(await stage.ask(first, 'maintenance/transfer-leadership', { targetID: '12345' })),
      ];
      const done = verdict(await stage.ask(first, 'maintenance/transfer-leadership', to));
      return [refused, done, (await leader(stage, members)) === heir];
    },
    yields: [['9 etcdserver: not leader', '9 etcdserver: bad leader transferee'], 'done', true],
  },
  {
    story: 'a leader that is told to stop hands over before it ends',
    async play(stage) {
      const members = ['n1', 'n2', 'n3'];
      await form(stage, ...members);
      const first = await leader(stage, members);
      const others = members.filter((member) => member !== first);
      await stage.terminate(first);
      return [others.includes(await leader(stage, others)), await put(stage, others[0] ?? '', 'a', '1')];
    },
    yields: [true, 'done'],
  },
];
