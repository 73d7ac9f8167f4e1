import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ClusterNode, clusterNodes, myselfIn } from '../../../../src/engines/redis/client/cluster-nodes.ts';
import { ProtocolError, RedisError } from '../../../../src/engines/redis/client/resp.ts';
import { slotSet } from '../../../../src/engines/redis/kind/slots.ts';

const [a, b, c] = ['a', 'b', 'c'].map((digit) => digit.repeat(40)) as [string, string, string];

const me = `${a} 10.0.0.1:6379@16379,db-0.db myself,master - 0 1426238317239 4 connected 0-5 7 [6->-${b}] [9-<-${c}]`;

describe('the answer to CLUSTER NODES', () => {
  it('has slots, and those that are open', () => {
    expect(clusterNodes(`${me}\n`)).toEqual([
      {
        id: a,
        address: '10.0.0.1',
        port: 6379,
        hostname: 'db-0.db',
        isMyself: true,
        role: 'primary',
        isHandshake: false,
        isNoaddr: false,
        isSuspected: false,
        isFailed: false,
        isBarred: false,
        pongAt: 1426238317239,
        epoch: 4,
        linkUp: true,
        slots: [
          { first: 0, last: 5 },
          { first: 7, last: 7 },
        ],
        migrating: [{ slot: 6, to: b }],
        importing: [{ slot: 9, from: c }],
      },
    ]);
  });

  it.each<readonly [line: string, told: Partial<ClusterNode>]>([
    [`${b} 10.0.0.2:6379@16379 slave ${a} 0 1 2 connected`, { role: 'replica', primaryId: a, slots: [] }],
    [`${b} 10.0.0.2:6379@16379, slave - 0 1 2 connected`, { role: 'replica', address: '10.0.0.2' }],
    [`${b} :0@0 master,noaddr - 0 1 2 disconnected`, { address: '', port: 0, isNoaddr: true, linkUp: false }],
    [`${b} 10.0.0.2:6379@16379 handshake - 0 1 0 connected`, { role: 'unknown', isHandshake: true }],
    [`${b} 10.0.0.2:6379@16379 master,fail? - 0 1 0 connected`, { isSuspected: true, isFailed: false }],
    [`${b} 10.0.0.2:6379@16379 master,fail - 0 1 0 connected`, { isSuspected: false, isFailed: true }],
    [`${b} 10.0.0.2:6379@16379 slave,nofailover ${a} 0 1 0 connected`, { role: 'replica', isBarred: true }],
    [`${b} fd00::2:6379@16379,,shard-id=${c} master - 0 1 0 connected`, { address: 'fd00::2', port: 6379 }],
    [`${b} 10.0.0.2:6379@16379,h,shard-id=${c} master - 0 1 0 connected`, { hostname: 'h' }],
  ])('%s', (line, told) => {
    expect(clusterNodes(`${me}\n${line}\n`)[1]).toMatchObject(told);
  });

  it.each([
    ['is no text', ['a']],
    ['is an error', new RedisError('ERR This instance has cluster support disabled')],
    ['is empty', ''],
    ['has nobody who answers', `${b} 10.0.0.2:6379@16379 master - 0 1 2 connected\n`],
    ['has two who answer', `${me}\n${me.replace(a, b)}\n`],
    ['names a node twice', `${me}\n${a} 10.0.0.2:6379@16379 master - 0 1 2 connected\n`],
    ['is longer than any', `${me}\n${'\n'.repeat(256 * 1024)}`],
    ['has more words in a line than there are slots', `${me}${' 1'.repeat(17_000)}`],
    ['has a short line', `${me}\n${b} 10.0.0.2:6379@16379 master\n`],
    ['has an id that is none', me.replace(a, 'A'.repeat(40))],
    ['has a slot that is none', me.replace('0-5', '0-16384')],
    ['has a range that ends before it begins', me.replace('0-5', '5-0')],
    ['has an open slot that is none', me.replace('[6->', '[16384->')],
    ['has an open slot without a peer', me.replace(`[6->-${b}]`, '[6->-]')],
    ['has a word among the slots', me.replace('0-5', 'x')],
    ['has a port that is none', me.replace(':6379@', ':66379@')],
    ['has a name that is none', me.replace('db-0.db', 'db_0;x')],
    ['says of a node both roles', me.replace('myself,master', 'myself,master,slave')],
    ['has a link that is neither', me.replace('connected', 'odd')],
    ['is too long', `${me}\n`.repeat(1001)],
  ])('is refused where it %s', (_, reply) => {
    expect(() => clusterNodes(reply)).toThrow(ProtocolError);
  });

  it('is refused in few words', () => {
    expect(() => clusterNodes(`${a} ${'x'.repeat(9000)}`)).toThrow(/^.{1,400}$/);
  });

  it('reads whatever a server can write, and gives it back', () => {
    const id = fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 40, maxLength: 40 });
    const slot = fc.nat(16_383);
    const open = fc.array(fc.tuple(slot, id), { maxLength: 3 });
    const node = fc.record({
      id,
      address: fc.ipV4(),
      port: fc.nat(65_535),
      hostname: fc.option(fc.stringMatching(/^[a-z][a-z0-9.-]{0,20}$/), { nil: undefined }),
      role: fc.constantFrom('primary', 'replica', 'unknown'),
      primaryId: fc.option(id, { nil: undefined }),
      isHandshake: fc.boolean(),
      isNoaddr: fc.boolean(),
      isSuspected: fc.boolean(),
      isFailed: fc.boolean(),
      isBarred: fc.boolean(),
      pongAt: fc.nat(),
      epoch: fc.nat(),
      linkUp: fc.boolean(),
      slots: fc
        .array(fc.tuple(slot, fc.nat(99)), { maxLength: 5 })
        .map((pairs) => slotSet(pairs.map(([first, more]) => ({ first, last: Math.min(first + more, 16_383) })))),
      migrating: open.map((pairs) => pairs.map(([one, to]) => ({ slot: one, to }))),
      importing: open.map((pairs) => pairs.map(([one, from]) => ({ slot: one, from }))),
    });
    const views = fc.uniqueArray(node, { selector: (each) => each.id, minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(views, (drawn) => {
        const nodes = drawn.map(({ hostname, primaryId, ...rest }, i) => ({
          ...rest,
          isMyself: i === 0,
          ...(hostname === undefined ? {} : { hostname }),
          ...(primaryId === undefined ? {} : { primaryId }),
        })) as ClusterNode[];
        const read = clusterNodes(`${nodes.map(lineOf).join('\n')}\n`);
        expect(read).toEqual(nodes);
        expect(myselfIn(read)).toEqual(nodes[0]);
      }),
    );
  });

  it('never fails otherwise', () => {
    // The library's own unit for any text takes seconds to be made.
    const unit = fc.nat(0xffff).map((code) => String.fromCharCode(code));
    fc.assert(
      fc.property(fc.nat(me.length), fc.nat(30), fc.string({ unit, maxLength: 12 }), (at, cut, put) => {
        try {
          clusterNodes(me.slice(0, at) + put + me.slice(at + cut));
        } catch (error) {
          expect(error).toBeInstanceOf(ProtocolError);
        }
      }),
    );
  });
});

function lineOf(node: ClusterNode): string {
  const flags = [
    ...(node.isMyself ? ['myself'] : []),
    ...(node.role === 'unknown' ? [] : [node.role === 'primary' ? 'master' : 'slave']),
    ...(node.isSuspected ? ['fail?'] : []),
    ...(node.isFailed ? ['fail'] : []),
    ...(node.isBarred ? ['nofailover'] : []),
    ...(node.isHandshake ? ['handshake'] : []),
    ...(node.isNoaddr ? ['noaddr'] : []),
  ];
  const slots = [
    ...node.slots.map(({ first, last }) => (first === last ? `${first}` : `${first}-${last}`)),
    ...node.migrating.map(({ slot, to }) => `[${slot}->-${to}]`),
    ...node.importing.map(({ slot, from }) => `[${slot}-<-${from}]`),
  ];
  const place = `${node.address}:${node.port}@${node.port}${node.hostname === undefined ? '' : `,${node.hostname}`}`;
  const link = node.linkUp ? 'connected' : 'disconnected';
  return [
    node.id,
    place,
    flags.join(',') || 'noflags',
    node.primaryId ?? '-',
    0,
    node.pongAt,
    node.epoch,
    link,
    ...slots,
  ].join(' ');
}
