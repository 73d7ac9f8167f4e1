/**
 * `clusterwright backup verify`: a drill. A throw-away cluster begins with the backup, is asked what it holds, and goes.
 *
 * It goes whatever comes of it, with its volume; what it leaves behind where this program is killed is one cluster of
 * the name that it says. Exit code 0: what was found is what the backup said; 1: it is not, or could not be told.
 */
import type { Cluster } from '../../api/cluster.ts';
import { apiVersionOf, type KubeObject } from '../../api/object.ts';
import { validateCluster } from '../../api/validate.ts';
import type { BackupSupport } from '../../engine/backup-support.ts';
import type { KindHandler } from '../../engine/engine.ts';
import { systemClock } from '../../system/clock.ts';
import type { CliContext, Command } from '../cli-context.ts';
import type { Connection, Target } from '../connection.ts';
import { waitUntilGone } from '../deploy/readiness.ts';
import { CommandError } from '../fault.ts';
import { findCluster, readChildren } from '../live.ts';
import { ioTo, type Way } from '../observation.ts';
import { carriedLabels } from './carried-labels.ts';
import { comparison } from './comparison.ts';
import { drillNetwork } from './drill-network.ts';
import { drillPods } from './drill-pods.ts';
import { resourceOfOwn } from './own-resource.ts';
import { findTried } from './tried.ts';
import { waitForCluster } from './waiting.ts';

export interface VerifyArguments extends Pick<Target, 'kubeconfig' | 'context'> {
  /** Of the Backup, or `schedule/NAME`. */
  readonly name: string;
  /** Of one of the schedule's backups. Default: its last good one. */
  readonly id?: string | undefined;
  readonly namespace?: string | undefined;
  readonly ask?: Way | undefined;
  /** Seconds that the restore may take. */
  readonly timeout: number;
}

/** Until its volume is gone as well. */
const removalMs = 120_000;

interface Drill {
  readonly engine: KindHandler;
  readonly part: BackupSupport<unknown>;
  readonly namespace: string;
  readonly name: string;
  /** Of the backup. */
  readonly id: string;
  /** What is created. */
  readonly object: KubeObject;
  readonly wanted: Readonly<Record<string, string>> | undefined;
}

export const verifyBackup: Command<VerifyArguments> = async (args, cli) => {
  const engines = await cli.handlers();
  const resourceOf = (object: KubeObject) => resourceOfOwn(engines, object);
  const connection = await cli.connect({ ...args, resourceOf });
  try {
    const drill = await prepare(connection, engines, args, cli);
    await refuseKeptVolumes(connection, drill);
    cli.stderr(`${drill.object.kind} ${drill.name} is made of backup ${drill.id}, asked, and deleted\n`);
    const made = await connection.client.create(drill.object);
    try {
      const { resource } = drill.engine.kind;
      await waitForCluster(connection.client, resource, drill.namespace, drill.name, args.timeout * 1000);
      const { text, isSame } = comparison(drill.part, drill.wanted, await ask(connection, drill, args, cli));
      cli.stdout(text);
      return isSame ? 0 : 1;
    } finally {
      await remove(connection, drill, made);
    }
  } finally {
    await connection.close();
  }
};

async function prepare(
  connection: Connection,
  engines: readonly KindHandler[],
  args: VerifyArguments,
  cli: CliContext,
): Promise<Drill> {
  const { client } = connection;
  const namespace = args.namespace ?? connection.namespace;
  const tried = await findTried(client, engines, namespace, args.name, args.id);
  const { cluster, target, encryption, id } = tried;
  const { contents, version = '' } = tried.result;
  const engine = engines.find(({ kind }) => kind.resource.kind === cluster.kind);
  const part = engine?.backup;
  if (engine === undefined || part === undefined) throw new CommandError(`nothing can restore a ${cluster.kind}`);
  const live = await findCluster(client, engine, namespace, cluster.name);
  if (live === undefined) {
    const { drillDefaults = 'the default settings' } = part;
    cli.stderr(`${cluster.kind} ${cluster.name} is gone: the throw-away one has ${drillDefaults}\n`);
  }
  const original = valid(
    engine,
    live ?? withoutOriginal(engine, namespace, cluster.name, specOf(part, version, contents)),
  );
  const name = `${tried.name.slice(0, 34)}-drill`;
  const restore = {
    target,
    id,
    ...(encryption === undefined ? {} : { encryption }),
    ...part.drillRestore,
  };
  const more = { ...drillPods(original), ...drillNetwork(original) };
  const spec = { ...part.drill(original, contents), ...more, deletionPolicy: 'Delete', bootstrap: { restore } };
  const { resource } = engine.kind;
  const metadata = { name, namespace, ...carriedLabels(original) };
  const object = { apiVersion: apiVersionOf(resource), kind: resource.kind, metadata, spec };
  return { engine, part, namespace, name, id, object, wanted: contents };
}

/** A cluster takes up what an earlier one of its name got from the same backup, and what it has taken up goes with it. */
async function refuseKeptVolumes({ client }: Connection, { engine, namespace, name, object }: Drill): Promise<void> {
  const { claims } = await readChildren(client, engine, namespace, name);
  if (claims.length === 0) return;
  const kept = claims.map(({ metadata }) => metadata.name).join(', ');
  throw new CommandError(
    `there are volumes of a ${object.kind} ${name} (${kept}), which a throw-away cluster of that name would take along when it goes: delete them if nobody needs them, or try a Backup of another name; nothing was made`,
  );
}

/** The cluster is gone: one of the same version will do. */
/** Of a cluster that reads what this version of the database has written. */
function specOf(
  { specVersion, specFields }: BackupSupport<unknown>,
  engineVersion: string,
  contents: Drill['wanted'],
): object {
  return { version: specVersion(engineVersion), ...specFields?.(engineVersion, contents) };
}

function withoutOriginal({ kind }: KindHandler, namespace: string, name: string, spec: object): KubeObject {
  const { resource } = kind;
  return {
    apiVersion: apiVersionOf(resource),
    kind: resource.kind,
    metadata: { name, namespace },
    spec,
  };
}

function valid({ kind }: KindHandler, object: KubeObject): Cluster {
  const verdict = validateCluster(kind, object, { unknown: 'prune' });
  if (verdict.ok) return verdict.cluster;
  throw new CommandError(`${object.kind} ${object.metadata.name} is not valid: ${verdict.violations[0]?.message}`);
}

async function ask(
  { client, forward }: Connection,
  { engine, part, namespace, name, wanted = {} }: Drill,
  { ask: way = 'forward' }: VerifyArguments,
  cli: CliContext,
): Promise<Readonly<Record<string, string>>> {
  const object = await client.get({ resource: engine.kind.resource, namespace, name });
  const cluster = valid(engine, object);
  const children = await readChildren(client, engine, namespace, name);
  const io = ioTo(cluster, children, { client, forward, dial: cli.dial, way });
  return part.contents(cluster, children, io, wanted);
}

async function remove({ client }: Connection, { engine, namespace, name }: Drill, made: KubeObject): Promise<void> {
  const { uid = '' } = made.metadata;
  const ref = { resource: engine.kind.resource, namespace, name };
  await client.remove({ ...ref, uid });
  const waiting = { client, clock: systemClock, report: () => undefined, timeoutMs: removalMs };
  await waitUntilGone(ref, uid, waiting);
}
