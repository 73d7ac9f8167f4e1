/** An import from a real Redis 7.0 into each of our servers: the operator's passes from the first look until the copy takes writes. */
import { afterEach, describe, expect, it } from 'vitest';
import { cutOverAnnotation, importAnnotation, termAnnotation } from '../../../src/engines/redis/names.ts';
import { info } from '../../faults/redis/conformance/conversation.ts';
import { password, type Stage } from '../../faults/redis/conformance/stage.ts';
import { type ImportStage, importStage, sourcePassword } from '../../support/redis-import.ts';
import { serverProgram, serverPrograms } from '../../support/redis-program.ts';

const old = serverProgram('Redis 7.0');
const digest = ['enable-debug-command yes'];
const verified = { [cutOverAnnotation]: 'verified@uid-db' };

/** A key of each kind, in two databases, some of which expire. */
async function fill(stage: Stage, member: string): Promise<void> {
  const talk = await stage.open(member, false);
  await talk.say('AUTH', sourcePassword);
  for (const [name, ...args] of [
    ['MSET', ...Array.from({ length: 2000 }, (_, i) => [`key:${i}`, `value ${i}`]).flat()],
    ['RPUSH', 'list', 'a', 'b', 'c'],
    ['SADD', 'set', '1', '2', 'three'],
    ['ZADD', 'sorted', '1', 'one', '2.5', 'more'],
    ['HSET', 'hash', 'field', 'value'],
    ['XADD', 'stream', '1-1', 'field', 'value'],
    ['XGROUP', 'CREATE', 'stream', 'group', '0'],
    ['PFADD', 'count', 'a', 'b'],
    ['SET', 'late', 'x', 'EX', '86400'],
    ['SET', 'soon', 'x', 'PX', '300'],
    ['FUNCTION', 'LOAD', "#!lua name=lib\nredis.register_function('f', function() return 1 end)"],
    ['SELECT', '15'],
    ['SET', 'in another', 'database'],
  ]) {
    expect(String(await talk.say(name as string, ...args))).not.toMatch(/^-/);
  }
  talk.close();
}

/** Writes as fast as it is answered. */
async function writer(stage: Stage, member: string): Promise<{ stop(): Promise<number> }> {
  const talk = await stage.open(member, false);
  await talk.say('AUTH', sourcePassword);
  let isOver = false;
  let acknowledged = 0;
  const over = (async () => {
    while (!isOver) {
      const reply = await talk.say('SET', `written:${acknowledged}`, 'x'.repeat(100));
      if (reply !== 'OK') throw new Error(String(reply));
      acknowledged += 1;
    }
  })();
  return {
    async stop() {
      isOver = true;
      await over;
      talk.close();
      return acknowledged;
    },
  };
}

async function ask(stage: Stage, member: string, login: string, ...words: string[]): Promise<unknown> {
  const talk = await stage.open(member, false);
  await talk.say('AUTH', login);
  const reply = await talk.say(...words);
  talk.close();
  return reply;
}

describe.skipIf(old === undefined).each([...serverPrograms])('into $name', ({ server, engine, version }) => {
  let at: ImportStage | undefined;
  afterEach(async () => {
    await at?.close();
    at = undefined;
  });
  const begin = async (more: Partial<Parameters<typeof importStage>[0]> = {}): Promise<ImportStage> => {
    at = await importStage({
      node: server,
      source: old?.server ?? ['redis-server'],
      sourceConf: digest,
      nodeConf: digest,
      ...more,
      spec: { engine, version, ...more.spec },
    });
    return at;
  };

  it('what was acknowledged before the writers stopped is there, and nothing else; while they write, there is no cut-over', async () => {
    const here = await begin();
    const { stage } = here;
    await fill(stage, 'n9');
    const writing = await writer(stage, 'n9');
    const plan = await here.until('Following');
    expect(plan.outcome).toMatchObject({
      message: expect.stringMatching(/bytes behind.*set clusterwright.dev\/cut-over=verified@uid-db/),
    });
    expect((await info(stage, 'n1')).replica_announced).toBe('0');
    expect(await ask(stage, 'n1', password, 'REPLICAOF', 'NO', 'ONE')).toMatch(/^-NOPERM/);

    here.annotate(verified);
    await stage.until('an attempt is refused', async () => {
      await here.pass();
      return /the source took \d+ writes/.test(here.failed() ?? '');
    });
    expect((await info(stage, 'n1')).role).toBe('slave');

    const acknowledged = await writing.stop();
    await here.until('settled');
    expect(here.claim().metadata.annotations).toMatchObject({ [termAnnotation]: '1', [importAnnotation]: 'uid-db' });
    expect(here.cluster().metadata.annotations?.[cutOverAnnotation]).toBeUndefined();
    const [there, copy] = [
      await ask(stage, 'n9', sourcePassword, 'DEBUG', 'DIGEST'),
      await ask(stage, 'n1', password, 'DEBUG', 'DIGEST'),
    ];
    expect(copy).toBe(there);
    expect(await ask(stage, 'n1', password, 'EXISTS', `written:${acknowledged - 1}`)).toBe(1);
    expect(await ask(stage, 'n1', password, 'FCALL', 'f', '0')).toBe(1);
    expect(await ask(stage, 'n1', password, 'SET', 'new', '1')).toBe('OK');
    expect(await ask(stage, 'n1', password, 'CONFIG', 'GET', 'masteruser', 'replica-announced', 'masterauth')).toEqual(
      expect.arrayContaining(['clusterwright/apps/db', 'yes']),
    );
  });

  it('a node that starts again, or whose password has changed, is told anew; sentinels of the source do nothing to it, before and after', async () => {
    const here = await begin();
    const { stage, secrets } = here;
    // The clients of both have one password, as after a migration that changes no client.
    await ask(stage, 'n9', sourcePassword, 'CONFIG', 'SET', 'requirepass', password);
    secrets.source = { password };
    await ask(stage, 'n9', password, 'SET', 'a', '1');
    await stage.start('s9');
    await stage.ask('s9', 'SENTINEL', 'MONITOR', 'db', stage.address('n9'), '6379', '1');
    await stage.ask('s9', 'SENTINEL', 'SET', 'db', 'auth-pass', password, 'down-after-milliseconds', '1000');
    await stage.ask('s9', 'SENTINEL', 'DEBUG', 'INFO-PERIOD', '500');
    await here.until('Following');
    await stage.until('the sentinel knows it', async () =>
      String(await stage.ask('s9', 'SENTINEL', 'MASTER', 'db')).includes('num-slaves,1'),
    );
    // It counts it from what the primary says, and leaves it out once it has asked the node itself.
    await stage.until('the sentinel leaves it out', async () => {
      const told = await stage.ask('s9', 'SENTINEL', 'REPLICAS', 'db');
      return Array.isArray(told) && told.length === 0;
    });

    await stage.kill('n1');
    await here.restart('n1');
    expect((await info(stage, 'n1')).master_port).toBe('1');
    await here.until('Following');
    // The sentinel has nobody to elect.
    await stage.kill('n9');
    await stage.until('it takes the source for down', async () =>
      String(await stage.ask('s9', 'SENTINEL', 'MASTER', 'db')).includes('o_down'),
    );
    expect(String(await stage.ask('s9', 'SENTINEL', 'FAILOVER', 'db'))).toMatch(/NOGOODSLAVE|INPROG/);
    await here.until('ImportFailing');
    expect((await info(stage, 'n1')).role).toBe('slave');
    await stage.start('n9', [`requirepass "${password}"`, ...digest]);
    await here.until('Following');

    here.annotate(verified);
    await here.until('settled');
    const roles = async (): Promise<unknown> => (await info(stage, 'n1')).role;
    const since = stage.now();
    await stage.until('the sentinel has looked several times', async () => stage.now() - since > 12_000);
    expect(await roles()).toBe('master');
    expect(await ask(stage, 'n1', password, 'GET', 'a')).toBe('1');
  });

  it('of a source that is gone for good, what the copy has is kept, where a person names its offset', async () => {
    const here = await begin();
    const { stage } = here;
    await fill(stage, 'n9');
    await here.until('Following');
    const { offset } = await stillOffset(stage);
    here.annotate({ [cutOverAnnotation]: `${offset}@uid-db` });
    await stage.until('it is refused: the source answers', async () => {
      const { outcome } = await here.pass();
      return 'message' in outcome && outcome.message.includes('the source answers');
    });
    here.annotate({ [cutOverAnnotation]: undefined });
    await stage.kill('n9');
    const failing = await here.until('ImportFailing');
    const [, named] = /cut-over=(\d+)@uid-db/.exec('message' in failing.outcome ? failing.outcome.message : '') ?? [];
    here.annotate({ [cutOverAnnotation]: `${named}@uid-db` });
    await here.until('settled');
    expect(await ask(stage, 'n1', password, 'GET', 'key:1999')).toBe('value 1999');
  });

  it.each<[string, readonly string[], (stage: Stage) => Promise<unknown>, RegExp]>([
    ['one in cluster mode', ['cluster-enabled yes'], async () => undefined, /it is in cluster mode/],
    [
      'one with more databases',
      ['databases 32'],
      async () => undefined,
      /it has 32 databases, and a node has 16: set config.databases to 32/,
    ],
    ['one that is a replica', ['replicaof 127.0.0.1 2'], async () => undefined, /it is a replica itself/],
    [
      'one that holds more than fits',
      [],
      (stage) => stage.ask('n1', 'CONFIG', 'SET', 'maxmemory', '500000'),
      /it uses \d+ MiB of memory, and a node has 1 MiB for data/,
    ],
  ])('%s is refused before a byte is copied', async (_, sourceConf, prepare, words) => {
    const here = await begin({ sourceConf });
    await prepare(here.stage);
    const plan = await here.until('ImportRefused');
    expect(plan.outcome).toMatchObject({ state: 'blocked', message: expect.stringMatching(words) });
    expect((await info(here.stage, 'n1')).master_port).toBe('1');
  });

  it('whichever step the operator ends before, the next one goes on: the copy is there, and whole', async () => {
    // With no more rights than the guide says.
    const rights = '+psync +replconf +ping +info';
    const sourceConf = [...digest, `user copier on ">${sourcePassword}" ${rights}`];
    const here = await begin({ sourceConf, importFrom: { user: 'copier' } });
    await fill(here.stage, 'n9');
    let left = 0;
    for (let dies = 0; dies < 8; dies += 1) {
      left = dies;
      await here.pass(() => left-- > 0);
    }
    await here.until('Following');
    here.annotate(verified);
    for (let dies = 0; dies < 4; dies += 1) {
      left = dies;
      await here.pass(() => left-- > 0);
    }
    await here.until('settled');
    expect(await ask(here.stage, 'n1', password, 'DEBUG', 'DIGEST')).toBe(
      await ask(here.stage, 'n9', sourcePassword, 'DEBUG', 'DIGEST'),
    );
  });
});

async function stillOffset(stage: Stage): Promise<{ offset: string }> {
  const { slave_repl_offset: offset = '' } = await info(stage, 'n1');
  return { offset };
}

/** A source that is too new, of every pair. */
const pairs = (
  [
    ['Redis 8.0', 'Redis 7.0'],
    ['Redis 8.0', 'Valkey 9.1'],
    ['Valkey 9.1', 'Valkey 8.1'],
    ['Valkey 9.1', 'Redis 8.0'],
  ] as const
).flatMap(([from, to]) => {
  const [source, node] = [serverProgram(from), serverProgram(to)];
  return source === undefined || node === undefined ? [] : [{ from, to, source, node }];
});

describe.skipIf(pairs.length === 0).each(pairs)('$from into $to', ({ source, node }) => {
  it('is refused before a byte is copied: it writes what the other cannot read', async () => {
    const { engine, version } = node;
    const here = await importStage({ node: node.server, source: source.server, spec: { engine, version } });
    try {
      const plan = await here.until('ImportRefused');
      expect(plan.outcome).toMatchObject({ message: expect.stringMatching(/cannot read what that writes/) });
    } finally {
      await here.close();
    }
  });
});
