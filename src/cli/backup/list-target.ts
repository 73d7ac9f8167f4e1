/**
 * `clusterwright backup list --target`: what a target holds, when neither the cluster nor its Kubernetes is there any
 * more, and what to write into a manifest to begin with one of them.
 *
 * The agent looks, on this machine. A backup whose manifest it cannot read, for want of the key, is listed by its folder,
 * which says enough to restore it.
 */
import type { BackupSummary } from '../../backup/agent-result.ts';
import type { CliContext } from '../cli-context.ts';
import { dataText, type Format } from '../documents.ts';
import { CommandError } from '../fault.ts';
import { ageText, tableText } from '../table.ts';
import { yamlText } from '../yaml.ts';
import { hasIdentity } from './agent-process.ts';
import { type NamedTarget, readTarget } from './target-file.ts';

export interface ListTargetArguments {
  /** A file that names a target, or a directory that is one. */
  readonly target: string;
  /** File with the key that backups are encrypted with; more than one line, where there have been several. */
  readonly key?: string | undefined;
  /** File with the authorities of the server, instead of the public ones. */
  readonly ca?: string | undefined;
  /** The backup to begin with. Default: the newest of which nothing is said. */
  readonly id?: string | undefined;
  readonly output?: Format | undefined;
}

interface Row extends Partial<Pick<BackupSummary, 'engineVersion' | 'plainBytes' | 'completedAt' | 'encrypted'>> {
  readonly id: string;
  readonly namespace: string;
  readonly kind: string;
  /** Undefined where the manifest cannot be read. */
  readonly name?: string;
  readonly uid: string;
  /** Its data asks for the password that root of the etcd had then. */
  readonly needsPassword?: true;
  /** Why it may not be the one that is wanted. */
  readonly warning?: string;
}

const passwordWords =
  "its data asks for the password that etcd's root had then, which is in no backup: the new cluster needs it beside its own, under KEY-previous";

export async function listTarget(args: ListTargetArguments, cli: CliContext): Promise<0> {
  const target = await readTarget(args.target, cli);
  const rows = await rowsIn(target, args, cli);
  const chosen =
    args.id === undefined
      ? (rows.find(({ warning }) => warning === undefined) ?? rows[0])
      : rows.find(({ id }) => id === args.id);
  if (args.id !== undefined && chosen === undefined) {
    throw new CommandError(`${args.target} holds no backup with the id ${args.id}`);
  }
  if (args.output !== undefined) {
    const backups = rows.map((row) => ({ ...row, restore: restoreOf(row, target) }));
    cli.stdout(dataText({ backups }, args.output));
    return 0;
  }
  if (chosen === undefined) {
    const where = target.type === 's3' ? 'PREFIX' : args.target;
    cli.stderr(`${args.target} holds no backup: looked for ${where}/NAMESPACE/KIND/UID/ID/manifest.json\n`);
    return 0;
  }
  const unread = rows.filter(({ name }) => name === undefined).length;
  if (unread > 0) {
    cli.stderr(
      `${unread} cannot be read here: encrypted with ${args.key === undefined ? 'a key, and --key names none' : 'another key than that of --key'}, or not as they were written\n`,
    );
  }
  for (const { id, warning } of rows) if (warning !== undefined) cli.stderr(`${id}: ${warning}\n`);
  if (chosen.needsPassword === true) cli.stderr(`${chosen.id}: ${passwordWords}\n`);
  cli.stdout(table(rows, cli.now()));
  cli.stdout(`\n# A ${chosen.kind} that begins with ${chosen.id}:\n`);
  cli.stdout(yamlText({ spec: { bootstrap: { restore: restoreOf(chosen, target) } } }));
  return 0;
}

async function rowsIn(target: NamedTarget, args: ListTargetArguments, cli: CliContext): Promise<readonly Row[]> {
  const files: Record<string, string> = {};
  if (args.key !== undefined) files.key = await cli.readText(args.key);
  if (args.ca !== undefined) files.ca = await cli.readText(args.ca);
  if (target.type === 's3') Object.assign(files, credentials(cli.env));
  const { result, log } = await cli.agent(
    (pathOf) => ({
      task: 'list',
      which: {},
      target: placeOf(target, (name) => (files[name] === undefined ? undefined : pathOf(name))),
      ...(files.key === undefined ? {} : { encryptionKeyFile: pathOf('key') }),
    }),
    files,
  );
  if (result.result === 'failed') throw new CommandError(result.message);
  const rows = log.flatMap((entry): Row[] => {
    if (entry.message === 'a backup') return [readable(entry.backup as BackupSummary, entry.warning)];
    return entry.message === 'a manifest cannot be gone by' ? unreadable(String(entry.folder)) : [];
  });
  return rows.sort((a, b) => (a.id < b.id ? 1 : a.id > b.id ? -1 : 0));
}

/** By the names that other clients of S3 take them from; none where the platform tells the agent who it is. */
function credentials(env: NodeJS.ProcessEnv): Record<string, string> {
  const { AWS_ACCESS_KEY_ID: id = '', AWS_SECRET_ACCESS_KEY: secret = '', AWS_SESSION_TOKEN: token = '' } = env;
  if (id === '' || secret === '') {
    if (hasIdentity(env)) return {};
    throw new CommandError(
      'the target is a bucket: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY have to be set, or AWS_WEB_IDENTITY_TOKEN_FILE',
    );
  }
  return { accessKeyId: id, secretAccessKey: secret, ...(token === '' ? {} : { sessionToken: token }) };
}

/** @param pathOf of a file that is there, by its name */
function placeOf(target: NamedTarget, pathOf: (name: string) => string | undefined): object {
  if (target.type === 'directory') return { type: 'claim', directory: target.directory };
  const { endpoint, bucket, prefix = '', region, pathStyle } = target.s3;
  const files = {
    accessKeyIdFile: pathOf('accessKeyId'),
    secretAccessKeyFile: pathOf('secretAccessKey'),
    sessionTokenFile: pathOf('sessionToken'),
    caFile: pathOf('ca'),
  };
  return { type: 's3', endpoint, region, bucket, prefix, pathStyle, ...files };
}

function readable(backup: BackupSummary, warning: unknown): Row {
  const { id, cluster, engineVersion, plainBytes, completedAt, encrypted, authentication } = backup;
  const said = {
    ...(typeof warning === 'string' ? { warning } : {}),
    ...(authentication === true ? { needsPassword: authentication } : {}),
  };
  return { id, ...cluster, engineVersion, plainBytes, completedAt, encrypted, ...said };
}

function unreadable(folder: string): Row[] {
  const [namespace = '', kind = '', uid = '', id = ''] = folder.split('/').slice(-4);
  return [{ id, namespace, kind, uid }];
}

/** Namespace, UID and id name one backup, whether its manifest can be read or not. */
function restoreOf({ id, namespace, name, uid, encrypted }: Row, target: NamedTarget): object {
  const [written, secret] =
    target.type === 's3'
      ? [target.written, target.encryption?.secret ?? 'NAME-OF-THE-SECRET-WITH-THE-KEY']
      : [{ claim: { name: 'NAME-OF-THE-CLAIM', path: 'PATH-IN-IT-IF-IT-HAD-ONE' } }, 'NAME-OF-THE-SECRET-WITH-THE-KEY'];
  return {
    target: written,
    ...(encrypted === false ? {} : { encryption: { secret } }),
    cluster: { namespace, ...(name === undefined ? {} : { name }), uid },
    id,
  };
}

function table(rows: readonly Row[], now: number): string {
  return tableText(
    ['ID', 'NAMESPACE', 'CLUSTER', 'VERSION', 'SIZE', 'AGE', 'UID'],
    rows.map((row) => [
      row.id,
      row.namespace,
      `${row.kind.toLowerCase()}/${row.name ?? '?'}`,
      row.engineVersion ?? '',
      row.plainBytes === undefined ? '' : String(row.plainBytes),
      ageText(row.completedAt, now),
      row.uid,
    ]),
  );
}
