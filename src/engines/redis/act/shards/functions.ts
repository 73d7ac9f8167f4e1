/**
 * Functions do not move with slots: a shard that gets its first slot gets them from whoever gives it. Until then nobody calls any there.
 */
import type { ShardSession } from './shard-session.ts';

export async function copyFunctions(source: ShardSession, target: ShardSession): Promise<void> {
  const libraries = await source.command('FUNCTION', 'LIST');
  if (Array.isArray(libraries) && libraries.length === 0) return;
  const dump = await source.command('FUNCTION', 'DUMP');
  if (typeof dump !== 'string') throw new Error(`${source.primary.pod} does not give its functions`);
  await target.command('FUNCTION', 'RESTORE', dump, 'REPLACE');
}
