/** Base backups and the log, of servers that break off, lie, or say too much. */
import { afterEach, describe, expect, it } from 'vitest';
import { dumpPostgres } from '../../../src/engines/postgres/agent/dump.ts';
import { openSession } from '../../../src/engines/postgres/agent/session.ts';
import { streamWal, type WalPiece } from '../../../src/engines/postgres/agent/wal-stream.ts';
import { statusMessage } from '../../../src/engines/postgres/client/wal-message.ts';
import { agentContext } from '../../support/agent-context.ts';
import { collectedBytes } from '../../support/collected.ts';
import {
  manifestOf,
  segmentBytes,
  serverTar,
  smallBackup,
  smallFiles,
  systemId,
  walSegment,
} from '../../support/postgres-backup.ts';
import {
  authentication,
  backend,
  complete,
  describedColumns,
  int64,
  notice,
  parameter,
  ready,
  refusal,
  table,
} from '../../support/postgres-messages.ts';
import { type Peer, type ScriptedPostgres, startScriptedPostgres } from '../../support/scripted-postgres.ts';

let server: ScriptedPostgres | undefined;
afterEach(() => server?.stop());

const letIn = Buffer.concat([authentication(0), parameter('server_version', '17.12 (Debian)'), ready]);
const identity = Buffer.concat([
  table([{ systemid: systemId, timeline: '1', xlogpos: '0/200100', dbname: null }]),
  ready,
]);

/** Says `answers` to what it understands, whoever asks; `end` is what happens after the last of them. */
async function serverThat(
  answers: Readonly<Record<string, readonly Uint8Array[]>>,
  heardToo: (text: Buffer) => void = () => undefined,
) {
  server = await startScriptedPostgres(async ({ heard, say, socket }: Peer) => {
    await heard();
    say(letIn);
    for (;;) {
      const question = await heard();
      heardToo(question);
      const known = Object.keys(answers).find((each) => question.toString('latin1').includes(each));
      if (known === undefined) {
        if (question.includes('IDENTIFY_SYSTEM')) say(identity);
        else if (question.includes('CREATE_REPLICATION_SLOT')) say(complete('CREATE_REPLICATION_SLOT'), ready);
        continue;
      }
      for (const answer of answers[known] ?? []) {
        if (answer.length === 0) socket.end();
        else if (!socket.write(answer)) await new Promise((resolve) => socket.once('drain', resolve));
      }
    }
  });
  return server.port;
}

/** In place of an answer: the end of the connection. */
const death = Buffer.alloc(0);
const copy = (letter: string, bytes: Uint8Array | string = ''): Buffer =>
  backend('d', Buffer.concat([Buffer.from(letter), Buffer.from(bytes)]));
const position = (recptr: string, tli = '1'): Buffer => table([{ recptr, tli }]);
const start = [position('0/200028'), table([{ spcoid: null, spclocation: null, size: '20' }]), backend('H', '\0\0\0')];
const end = [position('0/200100'), complete('BASE_BACKUP'), ready];
const archive = copy('n', 'base.tar\0\0');
const tar = Buffer.concat([serverTar({ files: smallFiles }), Buffer.alloc(1024)]);
const manifest = copy('d', manifestOf({ files: smallFiles }));
const done = backend('c');
const whole = [...start, archive, copy('d', tar), copy('p', int64(1n)), copy('m'), manifest, done, ...end];

describe('a base backup', () => {
  async function dumped(answers: readonly Uint8Array[], idleMs = 5000) {
    const port = await serverThat({ BASE_BACKUP: answers });
    const dump = await dumpPostgres(sourceAt(port), agentContext({ idleMs }));
    return { content: await collectedBytes(dump.content), state: dump.state() };
  }

  it('is one tar with the manifest in it', async () => {
    const { content, state } = await dumped(whole);
    expect(content.equals(smallBackup())).toBe(true);
    expect(state).toEqual({
      engine: 'postgres',
      systemId,
      timeline: 1,
      startLsn: '0/200028',
      endLsn: '0/200100',
      segmentBytes,
      files: 4,
      bytes: 20_032,
    });
  });

  const sourceAt = (port: number) =>
    ({ engine: 'postgres', user: 'u', members: [{ host: '127.0.0.1', port }] }) as const;

  it('is begun once a slot keeps the log, or where no slot is to be had', async () => {
    const asked: string[] = [];
    const refused = [refusal('53400', 'all replication slots are in use'), ready];
    for (const slot of [[complete(''), ready], refused]) {
      const answers = { CREATE_REPLICATION_SLOT: slot, BASE_BACKUP: whole };
      const port = await serverThat(answers, (text) => asked.push(text.toString('latin1', 5, 30)));
      const context = agentContext();
      const dump = await dumpPostgres(sourceAt(port), context);
      expect((await collectedBytes(dump.content)).equals(smallBackup())).toBe(true);
      expect(asked.splice(0).slice(-2)).toEqual([
        expect.stringMatching(/^CREATE_REPLICATION_SLOT/),
        expect.stringMatching(/^BASE_BACKUP/),
      ]);
      expect(context.lines.join('').includes('no slot keeps the log')).toBe(slot === refused);
      await server?.stop();
    }
  });

  it('is not begun where the address leads to another process by then', async () => {
    let asked = 0;
    const other = Buffer.concat([table([{ systemid: '5', timeline: '1', xlogpos: '0/200100', dbname: null }]), ready]);
    const answers: Record<string, Uint8Array[]> = { BASE_BACKUP: whole };
    const port = await serverThat(answers, (text) => {
      if (text.includes('IDENTIFY_SYSTEM') && ++asked === 2) answers.IDENTIFY_SYSTEM = [other];
    });
    await expect(dumpPostgres(sourceAt(port), agentContext())).rejects.toMatchObject({
      reason: 'SourceBroken',
      message: expect.stringMatching(/is not the primary any more that it was/),
    });
  });

  it('is the same in one message, in messages of a byte, and with notices between them', async () => {
    const bytes = [...tar.subarray(0, 3000)].map((byte) => copy('d', Buffer.from([byte])));
    const some = [
      archive,
      notice,
      ...bytes,
      notice,
      parameter('x', 'y'),
      copy('d', tar.subarray(3000)),
      copy('m'),
      manifest,
    ];
    const { content } = await dumped([...start, ...some, done, notice, ...end]);
    expect(content.equals(smallBackup())).toBe(true);
  });

  it('is passed on as it comes: a message of a gigabyte is never in memory', async () => {
    const gigabyte = 2 ** 30;
    const big = { f: Buffer.alloc(0) };
    // A file of a gigabyte of zeros within one message.
    const header = Buffer.from(serverTar({ files: big, segments: {} }).subarray(3 * 512));
    header.write(gigabyte.toString(8).padStart(11, '0'), 124, 'latin1');
    const sum = header.reduce((total, byte, i) => total + (i >= 148 && i < 156 ? 0x20 : byte), 0);
    header.write(sum.toString(8).padStart(6, '0'), 148, 'latin1');
    const head = Buffer.from([0x64, 0, 0, 0, 0, 0x64]);
    head.writeInt32BE(4 + 1 + header.length + gigabyte, 1);
    const chunk = Buffer.alloc(2 ** 20);
    const port = await serverThat({
      BASE_BACKUP: [...start, archive, head, header, ...Array<Buffer>(1024).fill(chunk), death],
    });
    const dump = await dumpPostgres(sourceAt(port), agentContext());
    const before = process.memoryUsage.rss();
    let [most, bytes] = [0, 0];
    const reading = (async () => {
      for await (const piece of dump.content) {
        bytes += piece.length;
        most = Math.max(most, process.memoryUsage.rss() - before);
      }
    })();
    await expect(reading).rejects.toMatchObject({ reason: 'SourceBroken' });
    expect(bytes).toBeGreaterThan(gigabyte - 2 ** 20);
    expect(most).toBeLessThan(200 * 2 ** 20);
  }, 60_000);

  const without = (...left: readonly Buffer[]): Buffer[] => whole.filter((each) => !left.includes(each));
  it.each<[string, readonly Uint8Array[], string, RegExp]>([
    ['dies before it begins', [death], 'SourceBroken', /broke/],
    ['dies within the archive', [...start, archive, copy('d', tar.subarray(0, 5000)), death], 'SourceBroken', /broke/],
    [
      'dies within a message',
      [...start, archive, copy('d', tar).subarray(0, 9000), death],
      'SourceBroken',
      /within a message/,
    ],
    ['dies before the end', [...whole.slice(0, -3), death], 'SourceBroken', /broke/],
    [
      'says nothing more',
      [...start, archive, copy('d', tar.subarray(0, 5000))],
      'SourceUnreachable',
      /sent nothing for 300 ms/,
    ],
    [
      'refuses',
      [refusal('42501', 'must be superuser or replication role'), ready],
      'SourceRefused',
      /replication role/,
    ],
    ['is starting', [refusal('57P03', 'is starting up', 'FATAL'), death], 'SourceBroken', /is starting up/],
    [
      'fails in the middle',
      [...start, archive, refusal('58030', 'could not read a file'), ready],
      'SourceBroken',
      /not read a file/,
    ],
    [
      'fails at the end',
      [...whole.slice(0, -3), refusal('58P01', 'requested WAL segment has already been removed'), ready],
      'SourceBroken',
      /already been removed/,
    ],
    [
      'sends a second archive',
      [...start, archive, copy('d', tar), copy('n', '16384.tar\0/x\0')],
      'SourceRefused',
      /more archives/,
    ],
    ['sends its archive twice', [...start, archive, copy('d', tar), archive], 'SourceRefused', /more archives/],
    [
      'has a tablespace',
      [position('0/200028'), table([{ spcoid: '16384', spclocation: '/x' }])],
      'SourceRefused',
      /tablespaces.*\/x/,
    ],
    ['sends no archive', without(archive), 'SourceBroken', /data before an archive/],
    [
      'sends no manifest',
      without(copy('m'), manifest).filter((each) => !each.equals(copy('m'))),
      'SourceBroken',
      /no manifest/,
    ],
    [
      'sends what is no tar',
      [...start, archive, copy('d', Buffer.alloc(2048, 65))],
      'SourceBroken',
      /no tar: a header is none/,
    ],
    [
      'ends the tar too early',
      [...start, archive, copy('d', tar.subarray(0, 512)), copy('m'), manifest, done],
      'SourceBroken',
      /ends before/,
    ],
    ['sends another letter', [...start, archive, copy('z')], 'SourceBroken', /begins with "z"/],
    ['sends rows within the copy', [...start, archive, position('0/1')], 'SourceBroken', /interrupted by a message T/],
    [
      'changes its timeline',
      [...whole.slice(0, -3), position('0/200100', '2')],
      'SourceBroken',
      /timeline has changed/,
    ],
    [
      'ends before it begins',
      [...whole.slice(0, -3), position('0/100000'), complete(''), ready],
      'SourceBroken',
      /before it begins/,
    ],
    [
      'gives no position',
      [describedColumns(['recptr', 'tli']), complete('SELECT')],
      'SourceBroken',
      /a position is one row/,
    ],
    ['gives a position that is none', [position('here')], 'SourceBroken', /no position in the log/],
  ])('fails in words where the server %s', async (_, answers, reason, words) => {
    const failure = await dumped(answers, 300).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(failure).toMatchObject({ name: 'Failure', reason });
    const { message, cause } = failure as Error;
    expect(`${message}: ${String((cause as Error | undefined)?.message)}`).toMatch(words);
  });
});

describe('the log', () => {
  const both = backend('W', '\0\0\0');
  const log = (at: bigint, bytes: Uint8Array): Buffer => copy('w', Buffer.concat([int64(at, 0n, 0n), bytes]));
  const keepalive = (wantsReply: number): Buffer =>
    copy('k', Buffer.concat([int64(0n, 0n), Buffer.from([wantsReply])]));
  const segment = walSegment(0x200000n);
  const nextTimeline = Buffer.concat([
    describedColumns(['next_tli', 'next_tli_startpos']),
    table([{ next_tli: '2', next_tli_startpos: '0/300100' }]).subarray(
      describedColumns(['next_tli', 'next_tli_startpos']).length,
    ),
    complete('START_STREAMING'),
    ready,
  ]);

  async function streaming(
    answers: Readonly<Record<string, readonly Uint8Array[]>>,
    heard?: (text: Buffer) => void,
    idleMs = 300,
  ) {
    const port = await serverThat(answers, heard);
    const context = agentContext({ idleMs });
    const endpoint = { host: '127.0.0.1', port };
    const session = await openSession(endpoint, { user: 'u', password: undefined, tls: undefined, context });
    const from = { timeline: 1, position: 0x200100n };
    return streamWal(session, { slot: 's', from, systemId, segmentBytes }, context);
  }
  async function untilItEnds(
    pieces: AsyncGenerator<WalPiece>,
  ): Promise<{ readonly found: WalPiece[]; readonly error: Error }> {
    const found: WalPiece[] = [];
    try {
      for await (const piece of pieces) found.push(piece);
    } catch (error) {
      return { found, error: error as Error };
    }
    throw new Error('it ended without a failure');
  }

  it('is cut into segments, wherever its messages end, and goes on with the next timeline', async () => {
    const second = walSegment(0x300000n);
    const asked: string[] = [];
    const pieces = await streaming(
      {
        '/200000 TIMELINE 1': [
          both,
          log(0x200000n, segment.subarray(0, 10)),
          keepalive(1),
          notice,
          log(0x20000an, Buffer.concat([segment.subarray(10), second.subarray(0, 500)])),
          done,
        ],
        // CopyDone of this side, the last of what it says of the first timeline.
        'c\0\0\0\x04': [nextTimeline],
        'TIMELINE_HISTORY 2': [table([{ filename: '00000002.history', content: '1\t0/300100\tno\n' }]), ready],
        '/300000 TIMELINE 2': [both, log(0x300000n, second), death],
      },
      (text) => asked.push(text.toString('latin1')),
    );
    const { found, error } = await untilItEnds(pieces);
    expect(error).toMatchObject({ reason: 'SourceBroken' });
    expect(found.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
      'segment 000000010000000000000002',
      'segment 000000010000000000000003',
      'history 00000002.history',
      'segment 000000020000000000000003',
    ]);
    const [first, part, , next] = found;
    expect(first).toMatchObject({ isWhole: true, end: 0x300000n });
    expect(first?.kind === 'segment' && first.bytes.equals(segment)).toBe(true);
    expect(part).toMatchObject({ isWhole: false, end: 0x3001f4n });
    expect(next).toMatchObject({ isWhole: true, timeline: 2 });
    // Once the second one was asked for, the first one was stored.
    const stored = statusMessage(0x300000n, 0, false).subarray(0, 14).toString('latin1');
    expect(asked.some((text) => text.includes(stored))).toBe(true);
  });

  it.each<[string, readonly Uint8Array[], string, RegExp]>([
    [
      'leaves something out',
      [both, log(0x200000n, segment.subarray(0, 99)), log(0x200064n, segment)],
      'SourceBroken',
      /goes on at 0\/200064, and not at 0\/200063/,
    ],
    ['begins elsewhere', [both, log(0x200100n, segment)], 'SourceBroken', /goes on at 0\/200100, and not at 0\/200000/],
    [
      'is of another database cluster',
      [both, log(0x200000n, walSegment(0x200000n, { id: '5' }))],
      'SourceBroken',
      /database cluster 5/,
    ],
    [
      'is another part',
      [both, log(0x200000n, walSegment(0x400000n))],
      'SourceBroken',
      /is not the log from 0\/200000 on/,
    ],
    [
      'has files of another size',
      [both, log(0x200000n, Buffer.concat([walSegment(0x200000n, { size: 2 * segmentBytes })]))],
      'SourceBroken',
      /is not the log/,
    ],
    [
      'says nothing more',
      [both, log(0x200000n, segment.subarray(0, 99))],
      'SourceUnreachable',
      /sent nothing for 300 ms/,
    ],
    ['sends another letter', [both, copy('z', 'abc')], 'SourceBroken', /begins with "z"/],
    ['sends half of a head', [both, copy('w', 'abc')], 'SourceBroken', /begins with "w"/],
    [
      'fails',
      [both, refusal('58P01', 'requested WAL segment has already been removed')],
      'SourceBroken',
      /already been removed/,
    ],
    ['stops', [both, complete('COPY 0'), death], 'SourceBroken', /ended the stream/],
    [
      'has no such slot',
      [refusal('42704', 'replication slot "s" does not exist'), ready],
      'SourceRefused',
      /does not exist/,
    ],
    ['answers with rows', [both, position('0/1')], 'SourceBroken', /interrupted by a message T/],
  ])('fails in words where it %s', async (_, answers, reason, words) => {
    const { error } = await untilItEnds(await streaming({ START_REPLICATION: answers }));
    expect(error).toMatchObject({ name: 'Failure', reason });
    expect(`${error.message}: ${String((error.cause as Error | undefined)?.message)}`).toMatch(words);
  });

  it('answers at once when the server asks whether anybody is there', async () => {
    const heard: Buffer[] = [];
    const pieces = await streaming({ START_REPLICATION: [both, keepalive(1)] }, (text) => heard.push(text), 60_000);
    const pending = pieces.next();
    pending.catch(() => undefined);
    await expect.poll(() => heard.some((text) => text[0] === 0x64 && text[5] === 0x72), { timeout: 3000 }).toBe(true);
    await server?.stop();
    await expect(pending).rejects.toMatchObject({ reason: 'SourceBroken' });
  });

  it('is alive for the server while somebody stores a segment', async () => {
    const heard: Buffer[] = [];
    const pieces = await streaming({ START_REPLICATION: [both, log(0x200000n, segment)] }, (text) => heard.push(text));
    await pieces.next();
    const replies = () => heard.filter((text) => text[0] === 0x64 && text[5] === 0x72);
    await expect.poll(() => replies().length).toBeGreaterThan(2);
    // What is not stored is not called so.
    expect(replies().every((text) => text.readBigUInt64BE(6) === 0x200100n)).toBe(true);
    await pieces.return(undefined as never);
  });
});
