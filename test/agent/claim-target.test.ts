/** Backups in a mounted directory. */
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { claimTarget } from '../../src/agent/target/claim.ts';
import { agentContext } from '../support/agent-context.ts';
import { collected } from '../support/collected.ts';
import { describeTarget } from '../support/target-suite.ts';

describeTarget('a directory', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'claim-target-'));
  return {
    open: (prefix, context) => claimTarget({ type: 'claim', directory, prefix }, context),
    leftovers: () => readdirSync(directory, { recursive: true, encoding: 'utf8' }).sort(),
    stop: async () => rmSync(directory, { recursive: true }),
  };
});

describe('a directory, as only directories are', () => {
  const content = async function* (): AsyncGenerator<Uint8Array> {
    yield Buffer.from('x');
  };

  it('is not made: a claim that is not mounted is no empty claim', async () => {
    const home = mkdtempSync(join(tmpdir(), 'claim-target-'));
    const directory = join(home, 'nowhere');
    const target = claimTarget({ type: 'claim', directory, prefix: '' }, agentContext());
    await expect(target.put('a/data', content())).rejects.toMatchObject({ reason: 'TargetRefused' });
    await expect(collected(target.list(''))).rejects.toMatchObject({ reason: 'TargetRefused' });
    await expect(collected(target.get('a'))).rejects.toMatchObject({ reason: 'TargetRefused' });
    rmSync(home, { recursive: true });
  });

  it.each(['appendonlydir/appendonly.aof.manifest', 'data/member/snap/db', 'PG_VERSION'])(
    'takes nothing where the volume holds %s of a database',
    async (name) => {
      const directory = mkdtempSync(join(tmpdir(), 'claim-target-'));
      mkdirSync(join(directory, name, '..'), { recursive: true });
      writeFileSync(join(directory, name), 'x');
      const target = claimTarget({ type: 'claim', directory, prefix: 'team' }, agentContext());
      await expect(target.put('a/data', content())).rejects.toMatchObject({
        reason: 'TargetRefused',
        message: expect.stringMatching(/^the volume holds the data of a database/),
      });
      expect(readdirSync(directory)).toHaveLength(1);
      rmSync(directory, { recursive: true });
    },
  );

  it('follows no link, and sweeps what was begun long ago', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'claim-target-'));
    const target = claimTarget({ type: 'claim', directory, prefix: '' }, agentContext());
    mkdirSync(join(directory, 'a/b'), { recursive: true });
    for (const name of ['old.part', 'young.part']) writeFileSync(join(directory, 'a/b', name), 'x');
    utimesSync(join(directory, 'a/b/old.part'), 0, 0);
    symlinkSync('/etc', join(directory, 'a/etc'));
    expect(await target.sweep('a', Date.now() - 60_000)).toBe(1);
    expect((await collected(target.list(''))).map(({ key }) => key)).toEqual(['a/b/young.part']);
    rmSync(directory, { recursive: true });
  });

  it.skipIf(process.getuid?.() === 0)('says who is in the way of a directory that cannot be written', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'claim-target-'));
    chmodSync(directory, 0o500);
    const target = claimTarget({ type: 'claim', directory, prefix: '' }, agentContext());
    await expect(target.put('a/data', content())).rejects.toMatchObject({ reason: 'TargetRefused' });
    rmSync(directory, { recursive: true });
  });
});
