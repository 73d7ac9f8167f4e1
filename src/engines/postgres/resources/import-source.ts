/** What the scripts of an import read: where the source is, and how the server of the new cluster will be. Nothing of it is a secret. */
import type { Cluster } from '../../../api/cluster.ts';
import type { PostgresSpec } from '../kind/schema.ts';
import { followedSource } from '../kind/source.ts';
import { type Parameters, parametersOf } from './parameters.ts';
import { texts } from './shell/texts.ts';
import { noLessThanPrimary } from './start-values.ts';

/** By name. None where nothing is imported: another file in a pod restarts it. */
export function importScripts(spec: PostgresSpec): Readonly<Record<string, string>> {
  if (followedSource(spec) === undefined) return {};
  return Object.fromEntries(Object.entries(texts).filter(([name]) => /^import[a-z_]*[.]py$/.test(name)));
}

/** What a server has counted for a standby: PostgreSQL's own values where nobody has set others. */
const counted: Parameters = {
  shared_buffers: '128MB',
  ...Object.fromEntries(Object.entries(noLessThanPrimary).map(([name, { own }]) => [name, String(own)])),
};

function picked(values: Readonly<Record<string, string>>, names: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(values).filter(([name]) => names.includes(name)));
}

export function importSource(cluster: Cluster<PostgresSpec>): Readonly<Record<string, unknown>> {
  const { metadata, spec } = cluster;
  const { host, port, user, tls } = followedSource(spec) ?? {};
  const id = metadata.uid ?? 'offline';
  return {
    ...{ id, name: metadata.name, host, port, user, sslmode: tls?.mode, version: spec.version },
    // Whose password becomes that of the Secret for the application.
    owner: spec.initial.owner,
    slot: importSlot(id),
    settings: { ...counted, ...picked(parametersOf(cluster), Object.keys(counted)) },
  };
}

/** At the source, where it limits what slots keep. */
function importSlot(uid: string): string {
  return `clusterwright_${uid.replaceAll(/[^a-z0-9]/g, '_')}`.slice(0, 63);
}
