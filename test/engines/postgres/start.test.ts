/** `start.sh` on real directories: which volumes it starts on, and how the log comes to its own. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { blankExitCode, blankWalExitCode } from '../../../src/engines/postgres/plan/failed-member.ts';
import type { Start } from '../../../src/engines/postgres/resources/roster.ts';

let root: string;
const at = (path: string): string => join(root, path);

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'start-'));
  for (const directory of ['bin', 'config', 'volume', 'wal']) mkdirSync(at(directory));
  writeFileSync(at('config/patroni.yml'), 'scope: db');
  writeFileSync(at('config/relabel.py'), 'import sys\nprint("relabel", *sys.argv[1:], flush=True)');
  program('patroni', 'echo started');
});
afterEach(() => rmSync(root, { recursive: true }));

function program(name: string, script: string): void {
  writeFileSync(at(`bin/${name}`), `#!/bin/sh\n${script}\n`);
  chmodSync(at(`bin/${name}`), 0o755);
}

interface Volumes {
  readonly start?: Start;
  /** Where the log is: in the data, on its own volume with a link to it, or nowhere though a link is there. */
  readonly log?: 'inside' | 'linked' | 'lost' | 'none';
  readonly hasOwnVolume?: boolean;
  /** Besides. */
  readonly also?: () => void;
}

function log(path: string, text = 'log'): void {
  mkdirSync(at(path), { recursive: true, mode: 0o700 });
  writeFileSync(at(`${path}/000000010000000000000001`), text);
}

/** What it says last, and how it ends. */
function started({ start = 'resume', log: place, hasOwnVolume = true, also }: Volumes): string {
  writeFileSync(at('config/start'), start);
  if (place !== undefined) {
    mkdirSync(at('volume/data/global'), { recursive: true });
    writeFileSync(at('volume/data/global/pg_control'), 'x');
    if (place === 'inside') log('volume/data/pg_wal');
    if (place === 'linked') log('wal/pg_wal');
    if (place === 'linked' || place === 'lost') symlinkSync(at('wal/pg_wal'), at('volume/data/pg_wal'));
  }
  also?.();
  return run(hasOwnVolume);
}

const nobody = 65_534;
const isOthers = (): boolean => existsSync(at('volume/data')) && (statSync(at('volume/data')).mode & 0o777) === 0;

const script = readFileSync('src/engines/postgres/resources/shell/start.sh', 'utf8');
const environment = (hasOwnVolume: boolean) => ({
  PATH: `${at('bin')}:${process.env.PATH}`,
  CONFIG_DIRECTORY: at('config'),
  FILES_DIRECTORY: at('files'),
  DATA_DIRECTORY: at('volume/data'),
  ...(hasOwnVolume ? { WAL_DIRECTORY: at('wal/pg_wal') } : {}),
});

function run(hasOwnVolume = true): string {
  const env = environment(hasOwnVolume);
  // Nothing is out of reach for root, which no pod runs as.
  const user = isOthers() && process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {};
  const { status, stdout, stderr } = spawnSync('/bin/sh', ['-c', script], { env, encoding: 'utf8', ...user });
  return `${status} ${(stdout + stderr).replaceAll(root, '').trim()}`;
}

const blankData = `${blankExitCode} the volume is blank, and this member has had data`;
const blankLog = `${blankWalExitCode} the volume of the log is blank, and this member has had data`;

describe('a member starts, or says why not', () => {
  it.each<readonly [story: string, volumes: Volumes, said: string]>([
    ['on a blank volume, where it is new', { start: 'join', hasOwnVolume: false }, '0 started'],
    ['on blank volumes, where it is new', { start: 'join' }, '0 started'],
    ['with its data', { log: 'inside', hasOwnVolume: false }, '0 started'],
    ['with its data, and its log on the other volume', { log: 'linked' }, '0 started'],
    ['not on a blank volume, where it has had data', { hasOwnVolume: false }, blankData],
    ['not on blank volumes, where it has had data', {}, blankData],
    ['not without its log', { log: 'lost' }, blankLog],
    ['not without its log, though it is new', { start: 'join', log: 'lost' }, blankLog],
    ['not without its log, where nobody mounts that any more', { log: 'lost', hasOwnVolume: false }, blankLog],
    [
      'not where the volume of its data alone is blank, though it is new',
      { start: 'join', also: () => log('wal/pg_wal') },
      `${blankExitCode} the volume is blank, and that of the log is not`,
    ],
    [
      'not with two logs',
      { log: 'inside', also: () => log('wal/pg_wal', 'another') },
      '1 /volume/data/pg_wal and /wal/pg_wal are both logs: nothing is started before a person has removed the wrong one',
    ],
  ])('%s', (_, volumes, said) => expect(started(volumes)).toBe(said));
});

it.each<Start>(['resume', 'join'])('data of another user is not a blank volume: %s', (start) => {
  expect(
    started({
      start,
      log: 'inside',
      hasOwnVolume: false,
      also: () => {
        for (const directory of [root, at('volume')]) chmodSync(directory, 0o777);
        chmodSync(at('volume/data'), 0);
      },
    }),
  ).toMatch(/^1 \/volume\/data may not be read by user \d+: its data belongs to user \d+$/);
  chmodSync(at('volume/data'), 0o700);
});

describe('a copy that was cut off', () => {
  const said = '0 started\na copy of the data was cut off: it is removed, and begun anew';
  /** What `pg_basebackup` has written by then. */
  const cutOff = (place: 'inside' | 'linked') => (): void => {
    mkdirSync(at('volume/data/global'), { recursive: true });
    writeFileSync(at('volume/data/backup_label'), '');
    log(place === 'inside' ? 'volume/data/pg_wal' : 'wal/pg_wal');
    if (place === 'linked') symlinkSync(at('wal/pg_wal'), at('volume/data/pg_wal'));
  };
  const left = (): string[] =>
    [...readdirSync(at('volume')), ...readdirSync(at('wal'))].filter((name) => name !== 'clusterwright.lock');

  it.each<readonly [string, Volumes]>([
    ['is removed', { start: 'join', hasOwnVolume: false, also: cutOff('inside') }],
    ['is removed with its log on the other volume', { start: 'join', also: cutOff('linked') }],
    [
      'is removed where nothing was copied yet but the link to its log',
      {
        start: 'join',
        also: () => [
          mkdirSync(at('volume/data')),
          mkdirSync(at('wal/pg_wal')),
          symlinkSync(at('wal/pg_wal'), at('volume/data/pg_wal')),
        ],
      },
    ],
    [
      'is removed where the log was copied first',
      { start: 'join', hasOwnVolume: false, also: () => log('volume/data/pg_wal') },
    ],
    [
      'is removed with a control file of which nothing has reached the disk',
      { start: 'join', also: () => [cutOff('linked')(), writeFileSync(at('volume/data/global/pg_control'), '')] },
    ],
    [
      'is removed after a kill when its log had gone',
      { start: 'join', also: () => [cutOff('linked')(), rmSync(at('wal/pg_wal'), { recursive: true })] },
    ],
  ])('%s', (_, volumes) => {
    expect(started(volumes)).toBe(said);
    expect(left()).toEqual([]);
  });

  it('is removed to its end after a kill', () => {
    expect(started({ start: 'join', also: () => mkdirSync(at('volume/data.cut-off')) })).toBe('0 started');
    expect(left()).toEqual([]);
  });

  it.each<readonly [string, Volumes]>([
    [
      'data without a control file that a server has run on',
      { start: 'join', also: () => mkdirSync(at('volume/data')) },
    ],
    ['a whole copy', { start: 'join', log: 'linked', also: () => writeFileSync(at('volume/data/backup_label'), '') }],
  ])('is not %s', (_, volumes) => {
    expect(started(volumes)).toBe('0 started');
    expect(existsSync(at('volume/data'))).toBe(true);
  });

  it('is not what a member has left that has had data', () => {
    expect(started({ also: cutOff('linked') })).toBe(blankData);
    expect(left()).toEqual(['data', 'pg_wal']);
  });
});

describe('the log of a restore', () => {
  const isMoved = (): void => {
    expect(readlinkSync(at('volume/data/pg_wal'))).toBe(at('wal/pg_wal'));
    expect(readFileSync(at('volume/data/pg_wal/000000010000000000000001'), 'utf8')).toBe('log');
    expect(existsSync(at('volume/data/pg_wal.moved'))).toBe(false);
    expect(existsSync(at('wal/pg_wal.moving'))).toBe(false);
  };

  it('is moved to its own volume before the first start', () => {
    expect(started({ log: 'inside' })).toBe('0 started');
    isMoved();
    expect(run()).toBe('0 started');
  });

  it('is moved after an import, which begins with a blank volume', () => {
    const made = 'mkdir -p "$DATA_DIRECTORY/global" "$DATA_DIRECTORY/pg_wal"';
    const filled =
      'for at in global/pg_control pg_wal/000000010000000000000001; do printf log > "$DATA_DIRECTORY/$at"; done';
    const file = join(process.cwd(), 'src/engines/postgres/resources/shell/start.sh');
    const imported = `${made}\nchmod 700 "$DATA_DIRECTORY/pg_wal"\n${filled}\nIMPORT_IS_DONE=true exec sh ${file}`;
    program(
      'python3',
      `case "$*" in *import.py) ;; *) PATH='${process.env.PATH}' exec python3 "$@" ;; esac\n${imported}`,
    );
    expect(started({ start: 'import' })).toBe('0 started');
    isMoved();
  });

  it.each<readonly [story: string, left: () => void]>([
    ['before anything was copied', () => writeFileSync(at('wal/pg_wal.moving'), '')],
    ['in the middle of the copy', () => [writeFileSync(at('wal/pg_wal.moving'), ''), log('wal/pg_wal', 'half')]],
    [
      'before the link was made',
      () => {
        writeFileSync(at('wal/pg_wal.moving'), '');
        log('wal/pg_wal');
        rmSync(at('volume/data/pg_wal'), { recursive: true });
        log('volume/data/pg_wal.moved');
      },
    ],
    [
      'before what was copied is removed',
      () => {
        writeFileSync(at('wal/pg_wal.moving'), '');
        log('wal/pg_wal');
        rmSync(at('volume/data/pg_wal'), { recursive: true });
        symlinkSync(at('wal/pg_wal'), at('volume/data/pg_wal'));
        log('volume/data/pg_wal.moved');
      },
    ],
  ])('is moved after a kill %s', (_, left) => {
    expect(started({ log: 'inside', also: left })).toBe('0 started');
    isMoved();
  });

  it('keeps what was copied where the volume with the copy is lost', () => {
    const left = (): void => {
      rmSync(at('volume/data/pg_wal'), { recursive: true });
      log('volume/data/pg_wal.moved');
    };
    expect(started({ log: 'inside', also: left })).toBe(blankLog);
    expect(existsSync(at('volume/data/pg_wal.moved'))).toBe(true);
  });
});

it('starts Patroni on files that do not change while it runs, and on none of an earlier start', () => {
  program('patroni', 'echo "$1:" $(ls "$1")');
  writeFileSync(at('config/bootstrap.yml'), 'bootstrap: {}');
  expect(started({ start: 'form', hasOwnVolume: false })).toBe(
    '0 relabel begin-anew\n/files: bootstrap.yml patroni.yml',
  );
  rmSync(at('config/bootstrap.yml'));
  expect(started({ log: 'inside', hasOwnVolume: false })).toBe('0 /files: patroni.yml');
});

describe('the lock of the volume', () => {
  const children: ChildProcess[] = [];
  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
  });
  const begun = (command: string, ...args: readonly string[]) => {
    const child = spawn(command, args, { env: environment(true), stdio: ['pipe', 'pipe', 'pipe'] });
    children.push(child);
    let text = '';
    for (const output of [child.stdout, child.stderr]) output.on('data', (chunk: Buffer) => (text += chunk));
    return { child, said: () => text, ended: once(child, 'close').then(([code, signal]) => [code, signal]) };
  };
  const locked = (mode: string): string =>
    `import fcntl, os, sys; fcntl.flock(os.open(${JSON.stringify(at('volume/clusterwright.lock'))}, os.O_RDWR | os.O_CREAT), fcntl.${mode})`;
  const busy = 'another container is still at work on the volume: its end is waited for\n';

  /** As the container of a pod that was deleted by force. */
  const held = async () => {
    writeFileSync(at('config/start'), 'join');
    const holder = begun('python3', '-c', `${locked('LOCK_EX')}; print("held", flush=True); sys.stdin.read()`);
    await expect.poll(holder.said).toBe('held\n');
    const next = begun('/bin/sh', '-c', script);
    await expect.poll(next.said).toBe(busy);
    return { holder, next };
  };

  it('is waited for while another container is at work on it', async () => {
    const { holder, next } = await held();
    holder.child.stdin.end();
    expect(await next.ended).toEqual([0, null]);
    expect(next.said()).toBe(`${busy}started\n`);
  });

  it('is waited for no longer than the pod is to run', async () => {
    const { next } = await held();
    const ended = once(next.child, 'exit');
    next.child.kill('SIGTERM');
    // What waits for the lock ends with the container, and here with the lock.
    expect(await ended).toEqual([143, null]);
  });

  it('is held as long as Patroni runs', () => {
    program('patroni', `python3 -c '${locked('LOCK_EX | fcntl.LOCK_NB')}' 2>&1 | tail -n 1`);
    expect(started({ start: 'join' })).toMatch(/^0 BlockingIOError/);
  });

  it('is of a file that is open for writing, as NFS asks, and that every user of the pods may open', () => {
    const script = 'import os, fcntl; print(fcntl.fcntl(9, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDWR)';
    program('patroni', `python3 -c '${script}'`);
    expect(started({ start: 'join' })).toBe('0 True');
    expect(statSync(at('volume/clusterwright.lock')).mode & 0o777).toBe(0o666);
  });

  it('is said where its file cannot be opened', () => {
    mkdirSync(at('volume/clusterwright.lock'));
    expect(started({ start: 'join' })).toBe(
      '0 started\nthe volume cannot be locked: /volume/clusterwright.lock cannot be opened for writing',
    );
  });

  const jobs = ['-IS', 'src/engines/postgres/resources/shell/locked.py'];

  it('is that of the Jobs, too, which keep it for what they start', async () => {
    writeFileSync(at('config/start'), 'join');
    const job = begun('python3', ...jobs, at('volume'), '/bin/sh', '-c', 'echo held; read -r end');
    await expect.poll(job.said).toBe('held\n');
    const next = begun('/bin/sh', '-c', script);
    await expect.poll(next.said).toBe(busy);
    const another = begun('python3', ...jobs, at('volume'), '/bin/echo', 'done');
    await expect.poll(another.said).toBe(busy);
    job.child.stdin.end('\n');
    await next.ended;
    await another.ended;
    expect([next.said(), another.said()]).toEqual([`${busy}started\n`, `${busy}done\n`]);
  });

  it('keeps no Job from working where there is none', () => {
    mkdirSync(at('volume/clusterwright.lock'));
    const { stdout, stderr } = spawnSync('python3', [...jobs, at('volume'), '/bin/echo', 'done'], { encoding: 'utf8' });
    expect([stdout, stderr]).toEqual([
      'done\n',
      expect.stringMatching(/^the volume cannot be locked: .*Is a directory/),
    ]);
  });

  it('is not needed where the file system has none', () => {
    const broken = `def flock(*_): raise OSError(95, "Operation not supported")\nLOCK_EX = LOCK_NB = 0`;
    writeFileSync(at('fcntl.py'), broken);
    program('python3', `shift; PYTHONPATH='${root}' PATH='${process.env.PATH}' exec python3 "$@"`);
    expect(started({ start: 'join' })).toBe(
      '0 started\nthe volume cannot be locked: [Errno 95] Operation not supported',
    );
  });
});
