/**
 * Why the operator refuses to copy a source. It checks this before the copy begins: a node that cannot load the copy exits, restarts, and tries
 * again without end.
 */
import type { Cluster } from '../../../api/cluster.ts';
import type { RedisSpec } from '../kind/schema.ts';
import { atLeast, canRead, releases, type Server } from '../kind/server.ts';
import type { DataNode } from '../observe/observed.ts';
import type { ImportSeen, SourceFacts } from '../observe/source.ts';
import { mebibyte } from '../resources/memory-shares.ts';
import { dynamicSettings } from '../resources/settings.ts';

const oldest = '6.0';

/** In words; undefined where it can be copied. */
export function importRefusal(
  facts: SourceFacts,
  node: DataNode & { readonly imports: ImportSeen },
  cluster: Cluster<RedisSpec>,
): string | undefined {
  const { imports } = node;
  const { server: own = { engine: cluster.spec.engine, version: cluster.spec.version } } = imports;
  if (facts.runId !== '' && facts.runId === imports.runId) return 'it is this cluster itself';
  if (facts.isCluster) return 'it is in cluster mode, and one node of it has a part of the keys';
  return (
    serverRefusal(facts.server, own) ??
    (facts.role === 'replica' ? 'it is a replica itself: name its primary' : undefined) ??
    databasesRefusal(facts, imports) ??
    modulesRefusal(facts, imports) ??
    memoryRefusal(facts, node, cluster)
  );
}

const named = ({ engine, version }: Server): string => `${engine} ${version}`;

function serverRefusal(source: Server | undefined, own: Server): string | undefined {
  if (source === undefined) return 'it does not say which server it is';
  if (source.engine === 'Redis' && !atLeast(source.version, oldest)) {
    return `it is ${named(source)}, and ${oldest} is the oldest that is imported`;
  }
  // All that both engines have read since before the first versions of the table.
  const asWritten =
    source.engine === 'Redis' && !atLeast(source.version, '7.0') ? { ...source, version: '7.0' } : source;
  return canRead(own, asWritten)
    ? undefined
    : `it is ${named(source)}, and ${named(own)} cannot read what that writes; set a version of ${releases[source.engine].program} that is as late`;
}

/** A server ends where it is told of a database that it does not have. */
function databasesRefusal({ databases, highestDatabase }: SourceFacts, own: ImportSeen): string | undefined {
  const has = own.databases ?? 0;
  const needed = Math.max(databases ?? 0, highestDatabase + 1);
  return needed > has
    ? `it has ${needed} databases, and a node has ${has}: set config.databases to ${needed}`
    : undefined;
}

function modulesRefusal({ modules }: SourceFacts, own: ImportSeen): string | undefined {
  const missing = modules.filter((name) => !own.modules.includes(name));
  return missing.length === 0
    ? undefined
    : `it has the module(s) ${missing.join(', ')}, which the image of this cluster does not load: what they have written cannot be read`;
}

/** A replica goes beyond maxmemory, up to the limit of its container, and is killed there. */
function memoryRefusal({ usedMemory }: SourceFacts, node: DataNode, cluster: Cluster<RedisSpec>): string | undefined {
  const room = Number(node.settings.maxmemory ?? dynamicSettings(cluster).maxmemory ?? 0);
  if (room === 0 || usedMemory <= room) return undefined;
  const mib = (bytes: number): number => Math.ceil(bytes / mebibyte);
  return `it uses ${mib(usedMemory)} MiB of memory, and a node has ${mib(room)} MiB for data: raise resources.limits.memory, or config.maxmemory`;
}
