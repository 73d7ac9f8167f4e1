/**
 * The clusters of a manifest as they were before, so that rules on what may change can be held against them without a
 * cluster: with the words that the API server would use.
 */
import type { KindHandler } from '../engine/engine.ts';
import type { CliContext } from './cli-context.ts';
import { allOrFaults, namespaceOf, ownClusters, validCluster, type WrittenCluster } from './clusters.ts';
import { type Files, readDocuments } from './manifest-files.ts';

type Where = Parameters<typeof namespaceOf>[1];

/**
 * Looks up the former version of a cluster, by kind, namespace and name; undefined where there was none, which is said: the
 * rules on what may change are not held then, and a name misspelt looks the same.
 *
 * @throws BadInput where the former manifest is not valid itself
 */
export async function formerVersions(
  engines: readonly KindHandler[],
  file: string,
  where: Where,
  cli: Files & Pick<CliContext, 'stderr'>,
): Promise<(written: WrittenCluster) => unknown> {
  const { clusters } = ownClusters(engines, await readDocuments(file, cli));
  const keyOf = (written: WrittenCluster): string =>
    `${written.object.kind} ${namespaceOf(written, where)}/${written.object.metadata?.name}`;
  const valid = await allOrFaults(clusters, (written) => {
    const namespace = namespaceOf(written, where);
    return [keyOf(written), validCluster(written, written.object, { namespace, unknown: 'prune' })] as const;
  });
  const former = new Map(valid);
  return (written) => {
    const key = keyOf(written);
    if (!former.has(key)) cli.stderr(`${key} is not in ${file}: it is taken for a new one\n`);
    return former.get(key);
  };
}
