import { describe, expect, it } from 'vitest';
import { actEtcd } from '../../../src/engines/etcd/act/act.ts';
import type { EtcdAction } from '../../../src/engines/etcd/action.ts';
import { etcdWorld } from '../../support/etcd-situation.ts';
import { type Script, scriptedEtcd } from '../../support/scripted-etcd.ts';
import { settle } from '../../support/scripted-redis.ts';

const via = { pod: 'db-0-0', address: '10.0.0.0' };

type Secrets = Parameters<typeof scriptedEtcd>[2];

async function act(action: EtcdAction, script?: Script, secrets?: Secrets) {
  const { cluster, observed } = etcdWorld({});
  const network = scriptedEtcd(observed, script, secrets);
  const result = await settle(network.clock, actEtcd(action, cluster, network.io));
  return { result, asked: network.asked };
}

const refusing =
  (message: string, code = 9): Script =>
  () => ({ status: 400, body: JSON.stringify({ code, message: `etcdserver: ${message}` }) });

const requests: readonly (readonly [EtcdAction, string])[] = [
  [
    { type: 'etcd.addLearner', via, others: [], index: 3, peerUrl: 'http://x:2380' },
    '10.0.0.0 cluster/member/add {"peerURLs":["http://x:2380"],"isLearner":true}',
  ],
  [{ type: 'etcd.promote', via, memberId: '4' }, '10.0.0.0 cluster/member/promote {"ID":"4"}'],
  [{ type: 'etcd.removeMember', via, others: [], memberId: '4' }, '10.0.0.0 cluster/member/remove {"ID":"4"}'],
  [{ type: 'etcd.moveLeader', via, to: '4' }, '10.0.0.0 maintenance/transfer-leadership {"targetID":"4"}'],
  [{ type: 'etcd.compact', members: [via], revision: '9' }, '10.0.0.0 kv/compaction {"revision":"9","physical":true}'],
  [{ type: 'etcd.defragment', member: via }, '10.0.0.0 maintenance/defragment {}'],
  [{ type: 'etcd.disableAuth', via }, '10.0.0.0 auth/disable {}'],
  [
    { type: 'etcd.enableDowngrade', via, target: '3.5.0' },
    '10.0.0.0 maintenance/downgrade {"action":"ENABLE","version":"3.5.0"}',
  ],
  [{ type: 'etcd.cancelDowngrade', via }, '10.0.0.0 maintenance/downgrade {"action":"CANCEL"}'],
  [
    { type: 'etcd.disarm', via, memberId: '4', alarm: 'NOSPACE' },
    '10.0.0.0 maintenance/alarm {"action":"DEACTIVATE","memberID":"4","alarm":"NOSPACE"}',
  ],
];

describe('an action', () => {
  it.each(requests)('%o is one request', async (action, line) => {
    const { result, asked } = await act(action);
    expect([result.status, asked]).toEqual(['fulfilled', [line]]);
  });

  it.each(requests)('%o fails where nobody answers, and is not repeated', async (action) => {
    const { result, asked } = await act(action, () => 'hang');
    const goesOn = action.type === 'etcd.defragment';
    expect([result.status, asked.length]).toEqual([goesOn ? 'fulfilled' : 'rejected', 1]);
    expect((await act(action, refusing('permission denied'))).result.status).toBe('rejected');
  });

  it('is no failure where a defragmentation lasts longer than a call; one that nobody has begun is', async () => {
    const action: EtcdAction = { type: 'etcd.defragment', member: via };
    expect((await act(action, () => 'hang')).result.status).toBe('fulfilled');
    expect((await act(action, () => new Error('connect ECONNREFUSED'))).result.status).toBe('rejected');
    expect((await act(action, refusing('no space left on device', 2))).result.status).toBe('rejected');
  });

  it.each<[string, EtcdAction['type'], string]>([
    ['added before', 'etcd.addLearner', 'Peer URLs already exists'],
    ['added before, in the same second', 'etcd.addLearner', 'member ID already exist'],
    ['promoted before', 'etcd.promote', 'can only promote a learner member'],
    ['removed before', 'etcd.removeMember', 'member not found'],
    ['compacted before', 'etcd.compact', 'mvcc: required revision has been compacted'],
    ['allowed before', 'etcd.enableDowngrade', 'cluster has a downgrade job in progress'],
    ['cancelled before', 'etcd.cancelDowngrade', 'no inflight downgrade job'],
    ['added too early', 'etcd.addLearner', 'unhealthy cluster'],
    ['added beside another learner', 'etcd.addLearner', 'too many learner members in cluster'],
    ['promoted too early', 'etcd.promote', 'can only promote a learner member which is in sync with leader'],
    ['removed too early', 'etcd.removeMember', 're-configuration failed due to not enough started members'],
  ])('is no failure: %s', async (_, type, refusal) => {
    const [action] = requests.find(([candidate]) => candidate.type === type) ?? [];
    if (action === undefined) throw new Error(type);
    expect((await act(action, refusing(refusal))).result).toEqual({ status: 'fulfilled', value: undefined });
  });
});

describe('a change of the membership', () => {
  const others = [1, 2].map((i) => ({ pod: `db-${i}-0`, address: `10.0.0.${i}` }));
  const changes: readonly EtcdAction[] = [
    { type: 'etcd.addLearner', via, others, index: 3, peerUrl: 'http://x:2380' },
    { type: 'etcd.removeMember', via, others, memberId: '4' },
  ];

  it.each(changes)('E4: $type is asked of the others where one takes itself for cut off', async (action) => {
    const script: Script = (request) =>
      request.host === via.address ? refusing('unhealthy cluster', 14)(request) : undefined;
    const { result, asked } = await act(action, script);
    expect([result.status, asked.map((line) => line.split(' ')[0])]).toEqual(['fulfilled', ['10.0.0.0', '10.0.0.1']]);
  });

  it.each(changes)('E5: $type is asked of nobody else where no answer came, or another one', async (action) => {
    expect((await act(action, () => 'hang')).asked.length).toBe(1);
    expect((await act(action, refusing('too many learner members in cluster'))).asked.length).toBe(1);
  });
});

describe('dropping the history of keys', () => {
  const members = [0, 1, 2].map((i) => ({ pod: `db-${i}-0`, address: `10.0.0.${i}` }));

  it('is over when every member says that it has done so, where all but the first refuse what is compacted', async () => {
    const script: Script = (request) =>
      request.host === via.address ? undefined : refusing('mvcc: required revision has been compacted', 11)(request);
    const { result, asked } = await act({ type: 'etcd.compact', members, revision: '9' }, script);
    expect([result.status, asked]).toEqual([
      'fulfilled',
      members.map(({ address }) => `${address} kv/compaction {"revision":"9","physical":true}`),
    ]);
  });
});

describe('closing access', () => {
  const enable: EtcdAction = { type: 'etcd.enableAuth', via };

  it('makes root with the password of the Secret, gives it its role, and then asks who is asking', async () => {
    const { result, asked } = await act(enable);
    expect([result.status, asked.map((line) => line.replace('10.0.0.0 auth/', ''))]).toEqual([
      'fulfilled',
      ['user/add {"name":"root","password":"pw"}', 'user/grant {"user":"root","role":"root"}', 'enable {}'],
    ]);
  });

  it('goes on where it was left: in place of a root that is there, who may be one without a password, comes one with that of the Secret', async () => {
    let isThere = true;
    const { result, asked } = await act(enable, ({ path }) => {
      if (path.endsWith('user/delete')) isThere = false;
      return path.endsWith('user/add') && isThere
        ? { status: 400, body: '{"code":9,"message":"etcdserver: user name already exists"}' }
        : undefined;
    });
    expect([result.status, asked.map((line) => line.replace('10.0.0.0 auth/', ''))]).toEqual([
      'fulfilled',
      [
        'user/add {"name":"root","password":"pw"}',
        'user/delete {"name":"root"}',
        'user/add {"name":"root","password":"pw"}',
        'user/grant {"user":"root","role":"root"}',
        'enable {}',
      ],
    ]);
  });

  it.each(['', '\n', '\nsecond line'])(
    'asks etcd nothing with a Secret whose password is empty: %j, which etcd would take, and let nobody in by',
    async (password) => {
      const secrets: Secrets = { 'db-root': { password, 'password-previous': 'old' } };
      for (const action of [enable, { type: 'etcd.changePassword', via }] as const) {
        const { result, asked } = await act(action, undefined, secrets);
        expect([result, asked]).toMatchObject([
          { reason: { message: 'Secret db-root has no password in the first line of its key password' } },
          [],
        ]);
      }
    },
  );
});

describe('a member that asks who is asking', () => {
  const closed =
    (isRight = true): Script =>
    ({ path, headers = {} }) => {
      if (path.endsWith('authenticate')) {
        return isRight
          ? { status: 200, body: '{"token":"t"}' }
          : {
              status: 400,
              body: '{"code":3,"message":"etcdserver: authentication failed, invalid user ID or password"}',
            };
      }
      return headers.authorization === 't'
        ? undefined
        : { status: 400, body: '{"code":3,"message":"user name is empty"}' };
    };

  it('is told, once', async () => {
    const { result, asked } = await act({ type: 'etcd.promote', via, memberId: '4' }, closed());
    expect([result.status, asked]).toEqual([
      'fulfilled',
      [
        '10.0.0.0 cluster/member/promote {"ID":"4"}',
        '10.0.0.0 auth/authenticate {"name":"root","password":"pw"}',
        '10.0.0.0 cluster/member/promote {"ID":"4"}',
      ],
    ]);
  });

  it('is told where it calls that a lack of permission, and is not told again', async () => {
    const denied = { status: 403, body: '{"code":7,"message":"etcdserver: permission denied"}' };
    const action: EtcdAction = { type: 'etcd.promote', via, memberId: '4' };
    const said = await act(action, (request) =>
      request.headers?.authorization === undefined && request.path.endsWith('/promote') ? denied : closed()(request),
    );
    expect([said.result.status, said.asked.length]).toEqual(['fulfilled', 3]);
    const refused = await act(action, (request) => (request.path.endsWith('/promote') ? denied : closed()(request)));
    expect([refused.result.status, refused.asked.length]).toEqual(['rejected', 3]);
  });

  it('that refuses the password is not asked again, and the error does not hold it', async () => {
    const { result, asked } = await act({ type: 'etcd.promote', via, memberId: '4' }, closed(false));
    expect(asked.length).toBe(2);
    expect(result).toMatchObject({
      reason: {
        message:
          'etcd refuses the password in Secret db-root, and the one before is not in it, under password-previous',
      },
    });
  });

  const knowing =
    (password: string): Script =>
    (request) =>
      closed(request.body?.includes(`"password":"${password}"`))(request);
  const both = { 'db-root': { password: 'new', 'password-previous': 'old\n' } };

  it('is told the password before where it has that one yet, and is given the present one', async () => {
    const { result, asked } = await act({ type: 'etcd.changePassword', via }, knowing('old'), both);
    expect([result.status, asked.slice(1)]).toEqual([
      'fulfilled',
      [
        '10.0.0.0 auth/authenticate {"name":"root","password":"new"}',
        '10.0.0.0 auth/authenticate {"name":"root","password":"old"}',
        '10.0.0.0 auth/user/changepw {"name":"root","password":"new"}',
      ],
    ]);
  });

  it('that has the present one is not told the one before', async () => {
    const { asked } = await act({ type: 'etcd.promote', via, memberId: '4' }, knowing('new'), both);
    expect(asked.some((line) => line.includes('old'))).toBe(false);
  });

  it('that refuses both is left alone', async () => {
    const { result } = await act({ type: 'etcd.promote', via, memberId: '4' }, knowing('other'), both);
    expect(result).toMatchObject({ reason: { message: 'etcd refuses both passwords in Secret db-root' } });
  });
});
