/**
 * The translation of `upgrade.sh` does what the script does: the same story for both, in which programs fail or the script is killed, the
 * same calls of the same programs, the same volume afterwards, and the same words.
 */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { texts } from '../../../../src/engines/postgres/resources/shell/texts.ts';
import { type Data, newDatabase } from '../wal.ts';
import { type Mode, ProgramFailed, runUpgrade } from './script.ts';

/** `data:15`, `data:15:aside` without its control file, or the name of a file. */
type Entry = string;

interface Story {
  readonly mode: Mode;
  readonly volume: readonly Entry[];
  /** A call that fails. */
  readonly fails?: string;
  /** A call at which the script is killed. */
  readonly killed?: string;
  /** Versions in the image. */
  readonly image?: readonly string[];
  readonly next?: string;
}

interface Outcome {
  readonly calls: readonly string[];
  readonly volume: readonly Entry[];
  /** Undefined where it was killed. */
  readonly code: number | undefined;
  readonly message: string;
}

const words = 'it is refused';

/** One program for all names. It fails, or kills the script, where the story says so. */
const program = `#!/bin/sh
name=\${0##*/} version=\${0%/bin/*} version=\${version##*/} directory='' how='' log=''
for word in "$@"; do
  case $before in -D) directory=\${word##*/} ;; -l) log=$word ;; --waldir) ;; esac
  case $word in start | stop | --check) how=\${word#--} ;; esac
  before=$word
done
control() { [ -e "$VOLUME/$directory/global/pg_control" ] && cat "$VOLUME/$directory/told"; }
make() { mkdir -p "$VOLUME/$1/global"; echo "$2" > "$VOLUME/$1/PG_VERSION"; touch "$VOLUME/$1/global/pg_control"; cat > "$VOLUME/$1/told"; }
told() {
  echo "Database system identifier:           $1"
  echo "Database cluster state:               shut down"
  echo "Latest checkpoint location:           0/3000000"
  echo "Latest checkpoint's TimeLineID:       1"
  echo "Data page checksum version:           1"
  echo "Bytes per WAL segment:                16777216"
}
case $name in
  pg_controldata) control; exit ;;
  postgres | psql) exit ;;
  pg_ctl) call="$how $version $directory" ;;
  pg_upgrade) call="pg_upgrade \${how:-link}" ;;
  *) call=$name ;;
esac
echo "$call" >> "$CALLS"
if [ "$call" = 'pg_upgrade link' ]; then mv "$VOLUME/data/global/pg_control" "$VOLUME/data/global/pg_control.old"; fi
if [ "$call" = "$FAILS" ]; then if [ -n "$log" ]; then echo '${words}' >> "$log"; else echo '${words}' >&2; fi; exit 1; fi
if [ "$call" = "$KILLED" ]; then kill -9 "$PPID"; exit 1; fi
case $call in
  pg_basebackup) told 7001 | make data "$OLD" ;;
  initdb) told 7002 | make "$directory" "$NEW" ;;
esac
exit 0
`;

function byScript({ mode, volume, fails = '', killed = '', image = ['15', '16', '17'], next = '17' }: Story): Outcome {
  const root = mkdtempSync(join(tmpdir(), 'upgrade-'));
  const at = (path: string): string => join(root, path);
  try {
    for (const directory of ['tmp', 'volume', 'bin']) mkdirSync(at(directory));
    const executable = (path: string, text: string): void => {
      writeFileSync(at(path), text);
      chmodSync(at(path), 0o755);
    };
    executable('bin/sync', '#!/bin/sh\n');
    for (const version of image) {
      mkdirSync(at(`programs/${version}/bin`), { recursive: true });
      for (const name of programs) executable(`programs/${version}/bin/${name}`, program);
    }
    for (const entry of volume) place(at('volume'), entry);
    executable('upgrade.sh', texts['upgrade.sh'].replaceAll(/\/tmp(?=\/|$)/gm, at('tmp')));
    writeFileSync(at('calls'), '');
    const { status } = spawnSync('sh', [at('upgrade.sh'), mode], {
      env: {
        ...{ PATH: `${at('bin')}:${process.env.PATH}`, OLD: '15', NEW: next, FAILS: fails, KILLED: killed },
        ...{ MESSAGE: at('message'), VOLUME: at('volume'), PROGRAMS: at('programs'), CALLS: at('calls') },
        ...{ SOURCE: 'host=db', TLS: '/tls', PRIMARY: 'db-primary' },
      },
    });
    return {
      calls: readFileSync(at('calls'), 'utf8').split('\n').slice(0, -1),
      volume: readdirSync(at('volume'))
        .map((name) => entryOf(at('volume'), name))
        .sort(),
      code: status ?? undefined,
      message: existsSync(at('message')) ? readFileSync(at('message'), 'utf8').trim() : '',
    };
  } finally {
    rmSync(root, { recursive: true });
  }
}

const programs = ['initdb', 'pg_basebackup', 'pg_controldata', 'pg_ctl', 'pg_upgrade', 'postgres', 'psql', 'vacuumdb'];
const systemOf = (major: string): string => (major === '15' ? '7001' : '7002');

function place(volume: string, entry: Entry): void {
  const [name = '', major, aside] = entry.split(':');
  if (major === undefined) {
    writeFileSync(join(volume, name), '');
    return;
  }
  mkdirSync(join(volume, name, 'global'), { recursive: true });
  writeFileSync(join(volume, name, 'PG_VERSION'), `${major}\n`);
  writeFileSync(join(volume, name, 'global', aside === undefined ? 'pg_control' : 'pg_control.old'), '');
  const told = [
    ...['Database system identifier', systemOf(major), 'Database cluster state', 'shut down'],
    ...['Latest checkpoint location', '0/3000000', "Latest checkpoint's TimeLineID", '1'],
    ...['Data page checksum version', '1', 'Bytes per WAL segment', '16777216'],
  ];
  const lines = told.flatMap((key, n) => (n % 2 === 0 ? [`${key}:   ${told[n + 1]}\n`] : []));
  writeFileSync(join(volume, name, 'told'), lines.join(''));
}

function entryOf(volume: string, name: string): Entry {
  if (!statSync(join(volume, name)).isDirectory()) return name;
  const major = readFileSync(join(volume, name, 'PG_VERSION'), 'utf8').trim();
  return `${name}:${major}${existsSync(join(volume, name, 'global/pg_control')) ? '' : ':aside'}`;
}

class Killed extends Error {
  override readonly name = 'Killed';
}

async function byTranslation(story: Story): Promise<Outcome> {
  const { mode, image = ['15', '16', '17'], next = '17' } = story;
  const calls: string[] = [];
  const volume = new Map<string, unknown>();
  for (const entry of story.volume) {
    const [name = '', major, aside] = entry.split(':');
    const data = newDatabase(systemOf(major ?? ''), Number(major));
    volume.set(name, major === undefined ? true : { ...data, isControlAside: aside !== undefined });
  }
  const call = (what: string): void => {
    calls.push(what);
    if (what === story.killed) throw new Killed();
    if (what === story.fails) throw new ProgramFailed(words);
  };
  const named = (data: Data): string => [...volume].find(([, one]) => one === data)?.[0] ?? '';
  const run = runUpgrade(mode, {
    ...{ old: '15', next, volume },
    has: (version) => image.includes(version),
    async baseBackup() {
      call('pg_basebackup');
      return newDatabase('7001', 15);
    },
    async initdb() {
      call('initdb');
      return newDatabase('7002', Number(next));
    },
    async pgUpgrade(how, old) {
      if (how === 'link') old.isControlAside = true;
      call(`pg_upgrade ${how}`);
    },
    start: async (version, data) => call(`start ${version} ${named(data)}`),
    stop: async (version, data) => call(`stop ${version} ${named(data)}`),
    vacuum: async () => call('vacuumdb'),
  });
  const end = await run.catch((error: unknown) => {
    if (error instanceof Killed) return { code: undefined, message: '' };
    throw error;
  });
  const left = [...volume].map(([name, value]) => {
    if (value === true) return name;
    const { major, isControlAside } = value as Data;
    return `${name}:${major}${isControlAside ? ':aside' : ''}`;
  });
  return { calls, volume: left.sort(), ...end };
}

const begun = ['data.new-17:17', 'data:15:aside'];
const linked = [...begun, 'linked-15-17'];
const moved = ['data.new-17:17', 'data.old-15:15:aside', 'linked-15-17'];
const renamed = ['data.old-15:15:aside', 'data:17', 'linked-15-17'];

it.each<readonly [string, Story]>([
  ['the control file of the old data', { mode: 'checkpoint', volume: ['data:15'] }],
  ['of data that is another', { mode: 'checkpoint', volume: ['data:17'] }],
  ['of no data', { mode: 'checkpoint', volume: [] }],
  ['an upgrade', { mode: 'upgrade', volume: ['data:15'] }],
  ['to a version that is not in the image', { mode: 'upgrade', volume: ['data:15'], image: ['15'] }],
  ['from one that is not', { mode: 'rehearse', volume: [], image: ['17'] }],
  ['refused by the check', { mode: 'upgrade', volume: ['data:15'], fails: 'pg_upgrade check' }],
  ['refused later', { mode: 'upgrade', volume: ['data:15'], fails: 'pg_upgrade link' }],
  ['without a new database', { mode: 'upgrade', volume: ['data:15'], fails: 'initdb' }],
  ...['initdb', 'pg_upgrade check', 'pg_upgrade link', 'start 17 data.new-17', 'stop 17 data.new-17'].map(
    (killed): readonly [string, Story] => [`killed at ${killed}`, { mode: 'upgrade', volume: ['data:15'], killed }],
  ),
  ['whose new server does not start', { mode: 'upgrade', volume: ['data:15'], fails: 'start 17 data.new-17' }],
  ['gone on with after it was begun', { mode: 'upgrade', volume: begun }],
  ['after the files were linked', { mode: 'upgrade', volume: linked }],
  ['after the old data was moved', { mode: 'upgrade', volume: moved }],
  ['after the new data was', { mode: 'upgrade', volume: renamed }],
  ['after its end', { mode: 'upgrade', volume: ['data:17'] }],
  ['on a blank volume', { mode: 'upgrade', volume: [] }],
  ['put back before it was begun', { mode: 'undo', volume: ['data:15'] }],
  ['put back after it was begun', { mode: 'undo', volume: begun }],
  ...[linked, moved, renamed, ['data:17'], []].map((volume): readonly [string, Story] => [
    `put back with ${volume.join(' ')}`,
    { mode: 'undo', volume },
  ]),
  ['a rehearsal', { mode: 'rehearse', volume: [] }],
  ['on a volume that is not empty', { mode: 'rehearse', volume: ['data:15'] }],
  ['without a member to copy from', { mode: 'rehearse', volume: [], fails: 'pg_basebackup' }],
  ['of a copy that does not start', { mode: 'rehearse', volume: [], fails: 'start 15 data' }],
  ['refused', { mode: 'rehearse', volume: [], fails: 'pg_upgrade check' }],
  ['killed while it is recovered', { mode: 'rehearse', volume: [], killed: 'stop 15 data' }],
  ['what follows', { mode: 'after', volume: [] }],
  ['what follows without a primary', { mode: 'after', volume: [], fails: 'vacuumdb' }],
  ['what follows for an earlier version', { mode: 'after', volume: [], next: '16' }],
])('%s', async (_, story) => {
  expect(await byTranslation(story)).toEqual(byScript(story));
});
