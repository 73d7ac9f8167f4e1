/** An import that was not cut over gets stuck where its node starts again: red until it is mended. */
import { afterEach, expect, it } from 'vitest';
import { cutOverAnnotation } from '../../../src/engines/redis/names.ts';
import { info } from '../../faults/redis/conformance/conversation.ts';
import { type ImportStage, importStage, sourcePassword } from '../../support/redis-import.ts';
import { serverProgram, serverPrograms } from '../../support/redis-program.ts';

const old = serverProgram('Redis 7.0') ?? serverPrograms[0];
const [program] = serverPrograms;
let importing: ImportStage | undefined;
afterEach(() => importing?.close());

it.skipIf(old === undefined || program === undefined)(
  'a request that was refused, since clients wrote to the source, and is withdrawn: a node that starts again copies again',
  async () => {
    if (old === undefined || program === undefined) return;
    importing = await importStage({ node: program.server, source: old.server });
    const { stage } = importing;
    const source = await stage.open('n9', false);
    await source.say('AUTH', sourcePassword);
    await source.say('SET', 'key', 'first');
    await importing.until('Following');
    importing.annotate({ [cutOverAnnotation]: 'verified@uid-db' });
    const writing = setInterval(() => void source.say('INCR', 'writes'), 200);
    try {
      await stage.until('an attempt is refused', async () => {
        await importing?.pass();
        return /the source took \d+ writes/.test(importing?.failed() ?? '');
      });
    } finally {
      clearInterval(writing);
    }
    // It never became primary. Its process is killed, and the person takes the request back.
    expect((await info(stage, 'n1')).role).toBe('slave');
    await stage.kill('n1');
    await importing.restart('n1');
    importing.annotate({ [cutOverAnnotation]: undefined });
    await source.say('SET', 'key', 'second');
    let reason = '';
    for (let n = 0; n < 60 && reason !== 'Following'; n++) {
      const { outcome } = await importing.pass();
      reason = outcome.state === 'settled' ? 'settled' : outcome.reason;
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
    source.close();
    expect(reason).toBe('Following');
  },
);
