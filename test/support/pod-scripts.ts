/**
 * The scripts of the pods, run by a real shell in a directory that stands in for the pod's file system. `redis-cli` is a
 * stand-in that answers what a test says and keeps what it was asked; `redis-server` only tells that it was started, and
 * `sleep` takes no time.
 */
import { spawn } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ScriptName, scripts } from '../../src/engines/redis/resources/scripts.ts';

export interface PodStory {
  /**
   * What `redis-cli` answers, by a shell pattern of its arguments; the first that fits counts. What fits none is not
   * answered, and fails.
   */
  readonly cli?: Readonly<Record<string, string>>;
  /** Files in the ConfigMap, besides the scripts; one that is undefined is not there. */
  readonly config?: Readonly<Record<string, string | undefined>>;
  /** What the pod was told. */
  readonly databases?: string;
  /** Default: a pod of Redis, which is not told. */
  readonly server?: 'valkey';
  /** Files in the folder for modules of the image, where `spec.modules` is Bundled. */
  readonly modules?: readonly string[];
  /** In the mounted Secret. One that the pod has started with is `password` in `run`. */
  readonly password?: string;
  /** Passwords that servers take, by which whoever calls with another one is refused. Default: any. */
  readonly takes?: readonly string[];
  /** Of the cluster's identity, where the pod has it. */
  readonly identity?: string;
  /** On the volume, where it has held a dataset: at which address. */
  readonly mark?: string;
  /** On it: the term in which the node was primary, or a replica. */
  readonly term?: string;
  /** On it: how many databases it was used with. */
  readonly used?: string;
  /** Traces of a copy on it: one received before the mark was given, or after; one that is being written down. */
  readonly traces?: readonly ('earlier' | 'later' | 'unfinished')[];
  /** Files in the memory-backed directory, from an earlier start. */
  readonly run?: Readonly<Record<string, string>>;
}

export interface PodEnd {
  readonly code: number | null;
  readonly stdout: string;
  /** Arguments of `redis-cli`, one call a line. */
  readonly asked: readonly string[];
  /** Arguments of `redis-server`; undefined when it was not started. */
  readonly started: string | undefined;
  /** Lines of the file that the server reads. */
  readonly conf: readonly string[];
  readonly mark: string | undefined;
  readonly term: string | undefined;
  readonly used: string | undefined;
  /** With which the pod logs in from now on. */
  readonly password: string | undefined;
  /** Hashes that the pod has written down. */
  readonly accepted: readonly string[];
  /** The record of users that the pod keeps. */
  readonly users: string | undefined;
  /** A character for each try to restore them; undefined where that is over. */
  readonly restoring: string | undefined;
}

export const podIP = '10.0.0.1';
/** What follows `. "$CONFIG_DIR/library.sh"` in a script of a test's own. */
type Inline = { readonly inline: string };

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** Commands that come by standard input are each kept as a call of its own; nobody reads the answers. */
const piped = (log: string): string =>
  `if [ $# = 2 ] || [ "$#$3" = 4--user ]; then while IFS= read -r line; do printf '%s\\n' "$* $line" >> ${log}; done; exit; fi\n`;

function fakeCli({ cli: answers = {}, takes }: PodStory, log: string): string {
  const arms = Object.entries(answers).map(([pattern, answer]) => `${pattern}) printf '%s\\n' ${quoted(answer)} ;;`);
  const known = takes?.map(quoted).join('|');
  const refuse = "echo 'AUTH failed: WRONGPASS' >&2; echo 'NOAUTH Authentication required.'; exit 0";
  const login = known === undefined ? '' : `case "$REDISCLI_AUTH" in ${known}) ;; *) ${refuse} ;; esac\n`;
  return `#!/bin/sh\n${piped(log)}printf '%s\\n' "$*" >> ${log}\n${login}case "$*" in\n${arms.join('\n')}\n*) exit 1 ;;\nesac\n`;
}

const textOf = (file: string): Promise<string | undefined> => readFile(file, 'utf8').catch(() => undefined);

async function lines(file: string): Promise<string[]> {
  const text = (await textOf(file)) ?? '';
  return text.split('\n').filter((line) => line !== '');
}

export async function runPodScript(script: ScriptName | Inline, story: PodStory = {}): Promise<PodEnd> {
  const directory = await mkdtemp(join(tmpdir(), 'pod-'));
  const at = (...path: readonly string[]): string => join(directory, ...path);
  const inPlace = (text: string): string =>
    text
      .replaceAll('/run/redis', at('run'))
      .replaceAll('/data/', `${at('data')}/`)
      .replaceAll('/usr/local/lib/redis/modules', at('modules'));
  const put = async (path: string, text: string): Promise<void> => {
    await writeFile(path, text);
    await chmod(path, 0o755);
  };
  try {
    for (const name of ['bin', 'config', 'data', 'run', 'modules']) await mkdir(at(name));
    for (const [name, text] of Object.entries(scripts)) await put(at('config', name), inPlace(text));
    const config = {
      sentinels: 's0\ns1\n',
      quorum: '2\n',
      'missed-ms': '1500\n',
      'info-period-ms': '2000\n',
      // A machine that is busy takes its time.
      'ask-within-ms': '60000\n',
      'sentinel.conf': '',
      ...story.config,
    };
    for (const [name, text] of Object.entries(config)) {
      if (text !== undefined) await put(at('config', name), text);
    }
    for (const [name, text] of Object.entries(story.run ?? {})) await put(at('run', name), text);
    const secondsAgo = async (path: string, seconds: number): Promise<void> => {
      const then = Date.now() / 1000 - seconds;
      await utimes(path, then, then);
    };
    for (const name of story.modules ?? []) await put(at('modules', name), '');
    if (story.mark !== undefined) {
      await put(at('data', 'initialised'), story.mark);
      await secondsAgo(at('data', 'initialised'), 20);
    }
    if (story.term !== undefined) await put(at('data', 'term'), `${story.term}\n`);
    if (story.used !== undefined) await put(at('data', 'databases'), `${story.used}\n`);
    for (const trace of story.traces ?? []) {
      await mkdir(at('data', 'appendonlydir'), { recursive: true });
      const path =
        trace === 'unfinished' ? at('data', 'appendonlydir', 'temp-appendonly.aof.incr') : at('data', 'dump.rdb');
      await put(path, '');
      await secondsAgo(path, trace === 'earlier' ? 30 : 10);
    }
    await put(at('password'), `${story.password ?? 'pw'}\n`);
    if (story.identity !== undefined) await put(at('identity'), `${story.identity}\n`);
    const program = story.server ?? 'redis';
    await put(at('bin', `${program}-cli`), fakeCli(story, at('asked')));
    await put(at('bin', `${program}-server`), `#!/bin/sh\nprintf '%s\\n' "$*" > ${at('started')}\n`);
    await put(at('bin', 'sleep'), '#!/bin/sh\n');
    const inline = typeof script === 'string' ? undefined : script.inline;
    if (inline !== undefined) await put(at('config', 'inline.sh'), `set -eu\n. "$CONFIG_DIR/library.sh"\n${inline}\n`);
    const { code, stdout } = await shell(at('config', inline === undefined ? (script as ScriptName) : 'inline.sh'), {
      PATH: `${at('bin')}:${process.env.PATH}`,
      CLUSTER_NAME: 'db',
      CONFIG_DIR: at('config'),
      AUTH_FILE: at('password'),
      POD_NAME: 'db-1',
      POD_NAMESPACE: 'apps',
      POD_IP: podIP,
      ...(story.identity === undefined ? {} : { IDENTITY_FILE: at('identity') }),
      ...(story.server === undefined ? {} : { SERVER: story.server }),
      ...(story.databases === undefined ? {} : { DATABASES: story.databases }),
      ...(story.modules === undefined ? {} : { MODULES: 'Bundled' }),
    });
    const [started] = await lines(at('started'));
    const conf = started === undefined ? [] : await lines(started.split(' ')[0] ?? '');
    return {
      code,
      stdout: stdout.trim(),
      asked: await lines(at('asked')),
      started: started?.replaceAll(`${directory}/`, ''),
      conf: conf.map((line) => line.replaceAll(`${directory}/`, '')),
      mark: (await lines(at('data', 'initialised')))[0],
      term: (await lines(at('data', 'term')))[0],
      used: (await lines(at('data', 'databases')))[0],
      password: (await lines(at('run', 'password')))[0],
      accepted: await lines(at('run', 'accepted')),
      users: (await textOf(at('run', 'users')))?.trim(),
      restoring: await textOf(at('run', 'restoring')),
    };
  } finally {
    await rm(directory, { recursive: true });
  }
}

/** Runs it with a POSIX shell and nothing else of this process's environment. */
function shell(file: string, env: Readonly<Record<string, string>>): Promise<{ code: number | null; stdout: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn('/bin/sh', [file], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    let stdout = '';
    child.stdout.on('data', (chunk: Buffer) => {
      stdout += chunk.toString();
    });
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, stdout }));
  });
}
