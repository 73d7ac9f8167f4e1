/**
 * A Job of a major upgrade, simulated: the translation of its script, with programs that take their time. The process ignores SIGTERM, as
 * a shell does that is the first process of its container.
 */
import { paths, postgresNames } from '../../../../src/engines/postgres/names.ts';
import type { ProgramContext, RunningProgram } from '../../world/workload.ts';
import { endpointsOf } from '../entrances.ts';
import type { Processes } from '../processes.ts';
import { append, copyOf, type Data, link, newDatabase, timelineOf } from '../wal.ts';
import { type Mode, ProgramFailed, runUpgrade, type UpgradeShell } from './script.ts';

const durations = {
  read: 200,
  copy: 900,
  initdb: 400,
  check: 300,
  aside: 200,
  link: 300,
  start: 300,
  stop: 200,
} as const;
/** Between two looks for the lock of the volume. */
const lockMs = 100;

/** `versions`: those that the image has. */
export function upgrading(versions: readonly number[], processes: Processes, context: ProgramContext): RunningProgram {
  const { env, time, random, volume, leave, exit, pod } = context;
  const mode = context.command.at(-1) as Mode;
  const disk = volume(paths.volume) ?? new Map<string, unknown>();
  const { name } = pod.metadata;
  const used = new Set<Data>();
  let hasEnded = false;

  /** Never comes back once it is killed. */
  const pause = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      time.after(ms, () => {
        if (!hasEnded) resolve();
      });
    });

  /** Members that run, behind a Service. */
  const running = (service: string) => {
    const { world } = processes;
    if (world === undefined) return [];
    return endpointsOf(world, service).flatMap((ip) => {
      const server = processes.at(ip)?.server;
      return server?.isUp === true && context.network.reaches(context.ip, ip) ? [server] : [];
    });
  };
  const names = postgresNames(processes.world?.cluster ?? '');

  const shell: UpgradeShell = {
    old: env.OLD ?? '',
    next: env.NEW ?? '',
    volume: disk,
    has: (version) => versions.includes(Number(version)),
    async baseBackup() {
      await pause(durations.copy);
      const [source] = [...running(names.replicas), ...running(names.primary)];
      if (source === undefined) throw new ProgramFailed('pg_basebackup: error: connection to server failed');
      return copyOf(source.data);
    },
    async initdb() {
      await pause(durations.initdb);
      const systemId = String(7_600_000_000_000_000_000n + BigInt(Math.floor(random() * 2 ** 52)));
      return newDatabase(systemId, Number(env.NEW));
    },
    async pgUpgrade(how, old, made) {
      if (old.user !== undefined) processes.onMisuse(`pg_upgrade runs on data that ${old.user} runs on`);
      await pause(durations.check);
      if (old.isControlAside || !old.control.startsWith('shut down'))
        throw new ProgramFailed('The source cluster was not shut down cleanly.');
      if (how === 'check') return;
      old.isControlAside = true;
      await pause(durations.aside);
      link(old, made);
      await pause(durations.link);
    },
    async start(_, data) {
      await pause(durations.start);
      processes.onStarted(name, data);
      data.user = name;
      used.add(data);
      // Recovered from its own log, as after a crash.
      data.control = 'in production';
    },
    async stop(_, data) {
      await pause(durations.stop);
      append(data, [{ timeline: timelineOf(data), change: { what: 'shutdown' } }]);
      data.control = 'shut down';
      data.user = undefined;
      used.delete(data);
    },
    async vacuum() {
      await pause(durations.read);
      if (!running(names.primary).some(({ role }) => role === 'primary'))
        throw new ProgramFailed('vacuumdb: error: connection to server failed');
    },
  };

  const end = (): void => {
    hasEnded = true;
    for (const data of used) data.user = undefined;
    if (disk.get(lock) === pod.metadata.uid) disk.delete(lock);
  };
  const run = async (): Promise<void> => {
    await pause(durations.read);
    if (mode !== 'after') {
      while (disk.has(lock)) await pause(lockMs);
      disk.set(lock, pod.metadata.uid);
    }
    const { code, message } = await runUpgrade(mode, shell);
    if (code === 0 && mode !== 'after') tell();
    end();
    leave(message);
    exit(code);
  };
  const tell = (): void => {
    if (mode === 'rehearse') processes.onRehearsed(Number(env.OLD), Number(env.NEW));
    const data = disk.get('data') as Data | undefined;
    if (mode === 'upgrade' && data !== undefined) processes.onUpgraded(data);
  };
  void run();
  return {
    exec: () => Promise.resolve(false),
    terminate: () => undefined,
    kill: end,
  };
}

/** Of the volume, which a process has until it ends: see `locked.py`. */
const lock = 'lock';
