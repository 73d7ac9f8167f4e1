/**
 * The script of the exporter's sidecar, by the shells of images: that of Debian, and busybox of Alpine. The exporter is a stand-in that
 * keeps what it was told; it runs until it is ended, or ends by itself where a file tells it to.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { texts } from '../../../src/engines/redis/resources/shell/texts.ts';
import { eventually } from '../../support/eventually.ts';

const exporter = (at: string): string => `#!/bin/sh
echo "$(cat ${at}/run/passwords.json) $*" >> ${at}/starts
ulimit -n > ${at}/files
printf '%s\\n' "$(env)" > ${at}/environment
while [ ! -e ${at}/crash ]; do /bin/sleep 0.02; done
rm -f ${at}/crash
exit 3
`;

const shells = [['/bin/sh'], ['busybox', 'ash']].filter(
  ([program = '', ...args]) => spawnSync(program, [...args, '-c', 'true']).status === 0,
);

describe.each(shells.map((shell) => [shell.join(' '), shell] as const))('by %s', (_, shell) => {
  let directory: string;
  let running: ChildProcess;
  let code: number | null | undefined;

  const at = (name: string): string => join(directory, name);
  const read = (name: string): string => (existsSync(at(name)) ? readFileSync(at(name), 'utf8') : '');
  const inPlace = (text: string): string =>
    text.replaceAll('/run/exporter', at('run')).replace('/sys/fs', at('sys')).replace('sleep 5', 'sleep 0.02');
  const starts = (): string[] => read('starts').trimEnd().split('\n');
  const startsOf = (password: string): number => starts().filter((line) => line.includes(`":"${password}"}`)).length;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'exporter-'));
    code = undefined;
    for (const name of ['bin', 'run']) mkdirSync(at(name));
    const put = (name: string, text: string): void => {
      writeFileSync(at(name), text);
      chmodSync(at(name), 0o755);
    };
    put('bin/prometheus-redis-exporter', exporter(directory));
    put('exporter.sh', inPlace(texts['exporter.sh']));
  });
  afterEach(async () => {
    running.kill('SIGTERM');
    await eventually(() => code !== undefined);
    rmSync(directory, { recursive: true });
  });

  function start(password: string | undefined): void {
    if (password !== undefined) writeFileSync(at('password'), password);
    const [program = '', ...args] = shell;
    running = spawn(program, [...args, at('exporter.sh')], {
      env: {
        PATH: `${at('bin')}:${process.env.PATH}`,
        IDENTITY: 'clusterwright/shop/cache',
        IDENTITY_FILE: at('password'),
        REDIS_PORT: '6379',
        METRICS_PORT: '9121',
      },
      stdio: 'ignore',
    });
    running.once('exit', (ended) => {
      code = ended;
    });
  }
  const told = (password: string): string =>
    `{"redis://clusterwright%2Fshop%2Fcache@127.0.0.1:6379":"${password}"} --web.listen-address=:9121 ` +
    '--redis.addr=redis://127.0.0.1:6379 --redis.user=clusterwright/shop/cache ' +
    `--redis.password-file=${at('run/passwords.json')} --connection-timeout=5s --disable-scrape-endpoint`;

  it('it has the password in a file for its own server, and neither in an argument nor in the environment', async () => {
    start('s3cret+/=_.-\n');
    await eventually(() => read('environment') !== '' && read('environment').endsWith('\n'));
    expect(starts()).toEqual([told('s3cret+/=_.-')]);
    expect(read('environment')).toContain('IDENTITY_FILE=');
    expect(read('environment')).not.toContain('s3cret');
    expect(spawnSync('stat', ['-c', '%a', at('run/passwords.json')], { encoding: 'utf8' }).stdout).toBe('600\n');
  });

  it.each([
    ['67108864', '53687091'],
    ['max', undefined],
    [undefined, undefined],
  ])('its runtime spares memory below the limit of the container, which is %s', async (limit, spared) => {
    mkdirSync(at('sys/cgroup'), { recursive: true });
    if (limit !== undefined) writeFileSync(at('sys/cgroup/memory.max'), `${limit}\n`);
    start('word\n');
    await eventually(() => read('environment').endsWith('\n'));
    expect(/^GOMEMLIMIT=(.*)$/m.exec(read('environment'))?.[1]).toBe(spared);
  });

  it('it can open few files and connections, and cannot raise that', async () => {
    start('word\n');
    await eventually(() => read('environment').endsWith('\n'));
    expect(read('files')).toBe('20\n');
    const [pid] = readFileSync(`/proc/${running.pid}/task/${running.pid}/children`, 'utf8').split(' ');
    expect(readFileSync(`/proc/${pid}/limits`, 'utf8')).toMatch(/^Max open files +20 +20 /m);
  });

  it.each([
    ['without a newline', 'word', 'word'],
    ['of two lines', 'first\nsecond\n', 'first'],
    ['that could end the string', 'a","b":"c\n', ''],
    ['that is empty', '', ''],
    ['that is not there', undefined, ''],
  ])('a password %s', async (_, file, used) => {
    start(file);
    await eventually(() => starts()[0] !== '');
    expect(starts()).toEqual([told(used)]);
  });

  it('an exporter that ends starts again, and the shell goes on', async () => {
    start('word\n');
    for (const times of [1, 2, 3]) {
      await eventually(() => startsOf('word') === times);
      writeFileSync(at('crash'), '');
    }
    await eventually(() => startsOf('word') === 4);
    expect(code).toBeUndefined();
  });

  it('an exporter with another password starts when the file changes', async () => {
    start('first\n');
    await eventually(() => startsOf('first') === 1);
    writeFileSync(at('password'), 'second\n');
    await eventually(() => startsOf('second') === 1);
    expect([startsOf('first'), code]).toEqual([1, undefined]);
  });

  it('it ends at once when the pod ends', async () => {
    start('word\n');
    await eventually(() => startsOf('word') === 1);
    running.kill('SIGTERM');
    await eventually(() => code !== undefined);
    expect(code).toBe(0);
  });
});
