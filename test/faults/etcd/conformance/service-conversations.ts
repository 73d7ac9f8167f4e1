/** What else the operator asks of members: who may ask, alarms, room, and whether all hold the same. */
import { base64, type Conversation, field, form, get, put, verdict } from './conversation.ts';

const root = { name: 'root', password: 'pw' };

export const serviceConversations: readonly Conversation[] = [
  {
    story: 'once it is asked who asks, nobody is let in without a name, and everybody takes a token that one has made',
    async play(stage) {
      await form(stage, 'n1', 'n2', 'n3');
      const early = [
        verdict(await stage.ask('n1', 'auth/authenticate', root)),
        verdict(await stage.ask('n1', 'auth/enable')),
        verdict(await stage.ask('n1', 'auth/disable')),
      ];
      const made = [
        verdict(await stage.ask('n1', 'auth/user/add', root)),
        verdict(await stage.ask('n1', 'auth/user/add', root)),
        verdict(await stage.ask('n1', 'auth/user/changepw', root)),
        verdict(await stage.ask('n1', 'auth/user/delete', { name: 'root' })),
        verdict(await stage.ask('n1', 'auth/user/delete', { name: 'root' })),
        verdict(await stage.ask('n1', 'auth/user/add', root)),
        verdict(await stage.ask('n1', 'auth/user/grant', { user: 'root', role: 'root' })),
        verdict(await stage.ask('n1', 'auth/enable')),
      ];
      const stranger = [
        await put(stage, 'n1', 'a', '1'),
        verdict(await stage.ask('n1', 'cluster/member/list', { linearizable: true }, { token: 'nonsense' })),
        verdict(await stage.ask('n1', 'auth/authenticate', { ...root, password: 'no' })),
        verdict(await stage.ask('n1', 'auth/status')),
      ];
      const token = String(field(await stage.ask('n1', 'auth/authenticate', root), 'token'));
      for (const follower of ['n2', 'n3']) {
        await stage.until(`${follower} knows the token`, async () => {
          const answer = await stage.ask(follower, 'kv/range', { key: base64('a'), serializable: true }, { token });
          return !/invalid auth token/.test(verdict(answer));
        });
      }
      const known = [
        verdict(await stage.ask('n2', 'kv/put', { key: base64('a'), value: base64('1') }, { token })),
        verdict(await stage.ask('n3', 'cluster/member/list', { linearizable: true }, { token })),
        verdict(await stage.ask('n3', 'auth/user/delete', { name: 'root' }, { token })),
        verdict(await stage.ask('n3', 'auth/disable', {}, { token })),
      ];
      return [early, made, stranger, known, await get(stage, 'n1', 'a')];
    },
    yields: [
      ['9 etcdserver: authentication is not enabled', '9 etcdserver: root user does not exist', 'done'],
      [
        'done',
        '9 etcdserver: user name already exists',
        'done',
        'done',
        '9 etcdserver: user name not found',
        'done',
        'done',
        'done',
      ],
      [
        '3 etcdserver: user name is empty',
        '16 etcdserver: invalid auth token',
        '3 etcdserver: authentication failed, invalid user ID or password',
        '3 etcdserver: user name is empty',
      ],
      ['done', 'done', '3 etcdserver: invalid auth management', 'done'],
      '1',
    ],
  },
  {
    story: 'another password ends what the one before has opened',
    async play(stage) {
      await form(stage, 'n1');
      for (const [path, body] of [
        ['user/add', root],
        ['user/grant', { user: 'root', role: 'root' }],
        ['enable', {}],
      ] as const) {
        await stage.ask('n1', `auth/${path}`, body);
      }
      const token = String(field(await stage.ask('n1', 'auth/authenticate', root), 'token'));
      const changed = verdict(
        await stage.ask('n1', 'auth/user/changepw', { name: 'root', password: 'new' }, { token }),
      );
      return [
        changed,
        verdict(await stage.ask('n1', 'kv/put', { key: base64('a'), value: base64('1') }, { token })),
        verdict(await stage.ask('n1', 'auth/authenticate', root)),
        verdict(await stage.ask('n1', 'auth/authenticate', { ...root, password: 'new' })),
      ];
    },
    yields: [
      'done',
      '16 etcdserver: invalid auth token',
      '3 etcdserver: authentication failed, invalid user ID or password',
      'done',
    ],
  },
  {
    story: 'while an alarm stands nobody writes',
    async play(stage) {
      await form(stage, 'n1');
      const status = await stage.ask('n1', 'maintenance/status');
      const { member_id: memberID } = field(status, 'header') as { readonly member_id: string };
      const none = field(await stage.ask('n1', 'maintenance/alarm', { action: 'GET' }), 'alarms');
      await stage.ask('n1', 'maintenance/alarm', { action: 'ACTIVATE', memberID, alarm: 'NOSPACE' });
      const raised = field(await stage.ask('n1', 'maintenance/alarm', { action: 'GET' }), 'alarms') as object[];
      const refused = await put(stage, 'n1', 'a', '1');
      await stage.ask('n1', 'maintenance/alarm', { action: 'DEACTIVATE', memberID, alarm: 'NOSPACE' });
      return [none, raised.length, refused, await put(stage, 'n1', 'a', '1')];
    },
    yields: [undefined, 1, '8 etcdserver: mvcc: database space exceeded', 'done'],
  },
  {
    story: 'a downgrade would be allowed to the minor before, and to no other',
    async play(stage) {
      await form(stage, 'n1');
      const status = await stage.ask('n1', 'maintenance/status');
      const minor = Number(String(field(status, 'version')).split('.')[1]);
      const ask = async (to: number): Promise<unknown> =>
        verdict(await stage.ask('n1', 'maintenance/downgrade', { action: 'VALIDATE', version: `3.${to}.0` }));
      return [await ask(minor - 1), await ask(minor - 2), await ask(minor)];
    },
    yields: [
      'done',
      '3 etcdserver: invalid downgrade target version',
      '3 etcdserver: invalid downgrade target version',
    ],
  },
  {
    story: 'history is dropped once, room is given back, and all hold the same',
    async play(stage) {
      const members = ['n1', 'n2', 'n3'];
      await form(stage, ...members);
      for (let n = 0; n < 5; n++) await put(stage, 'n1', 'a', String(n));
      const compacted = [
        verdict(await stage.ask('n1', 'kv/compaction', { revision: '6', physical: true })),
        verdict(await stage.ask('n1', 'kv/compaction', { revision: '6', physical: true })),
        verdict(await stage.ask('n1', 'kv/compaction', { revision: '600', physical: true })),
      ];
      const defragmented = verdict(await stage.ask('n2', 'maintenance/defragment', {}));
      await Promise.all(members.map((member) => get(stage, member, 'a')));
      const hashes = await Promise.all(members.map((member) => stage.ask(member, 'maintenance/hashkv', {})));
      return [
        compacted,
        defragmented,
        new Set(hashes.map((answer) => field(answer, 'hash'))).size,
        hashes.map((answer) => field(answer, 'compact_revision')),
      ];
    },
    yields: [
      [
        'done',
        '11 etcdserver: mvcc: required revision has been compacted',
        '11 etcdserver: mvcc: required revision is a future revision',
      ],
      'done',
      1,
      ['6', '6', '6'],
    ],
  },
];
