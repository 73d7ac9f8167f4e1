/**
 * Stands for the agent that archives the log. It has a slot at the primary, which keeps the log that the store has not taken, and reports
 * as the agent does. What the store has is a position alone: nothing can be restored from it. A base backup is a moment in which the
 * store answers. What is left out: the pieces of the log, retention, the log of earlier timelines.
 */
import { type ArchiveReport, archiveReportPath, archiveReportPort } from '../../../src/backup/archive-report.ts';
import type { PostgresSource } from '../../../src/engines/postgres/backup/schemas.ts';
import { archiveSlot } from '../../../src/engines/postgres/names.ts';
import type { ProgramContext, RunningProgram } from '../world/workload.ts';
import type { Processes } from './processes.ts';
import type { Server } from './server.ts';
import { type Data, lsnText } from './wal.ts';

const everyMs = 1_000;

/** What the store has: it outlives the pod. */
export interface ArchivedLog {
  /** Records, as counted from the first one; undefined before the first. */
  stored: number | undefined;
  hasBase: boolean;
  storedAt: number;
}

/** `reachStore` rejects where the store does not answer. */
export function archiving(
  processes: Processes,
  { network, time, ip, exit }: ProgramContext,
  source: PostgresSource,
  reachStore: () => Promise<void>,
): RunningProgram {
  const { archived } = processes;
  const timeText = (): string => new Date(time.now()).toISOString();
  let report: ArchiveReport = { state: 'starting', since: timeText() };
  let gap: string | undefined;
  let hasEnded = false;

  const enter = (state: ArchiveReport['state'], more: Partial<ArchiveReport> = {}): void => {
    const since = report.state === state ? report.since : timeText();
    const { stored, storedAt } = archived;
    report = {
      ...{ state, since, hasBase: archived.hasBase },
      ...(stored === undefined ? {} : { end: lsnText(stored), storedAt: new Date(storedAt).toISOString() }),
      ...(gap === undefined ? {} : { gap }),
      ...more,
    };
  };
  const failing = (reason: string, message: string): void => enter('failing', { problem: { reason, message } });

  function primary(): Server | undefined {
    for (const { host } of source.members) {
      const address = network.resolve(host);
      const server = address === undefined ? undefined : processes.at(address)?.server;
      if (server?.isUp === true && server.role === 'primary' && network.reaches(ip, server.ip)) return server;
    }
    return undefined;
  }

  /** The slot is there afterwards. What is stored does not lead to it where the log in between is gone. */
  function reserve({ slots, wal, removed }: Data): void {
    const held = slots.get(archiveSlot);
    if (held !== undefined && held >= removed) return;
    const { stored } = archived;
    const leadsOn = stored !== undefined && stored >= removed && stored <= wal.length;
    if (stored !== undefined && !leadsOn) {
      archived.hasBase = false;
      gap = `the log before ${lsnText(wal.length)} is gone`;
    }
    slots.set(archiveSlot, leadsOn ? stored : wal.length);
  }

  async function round(): Promise<void> {
    const server = primary();
    if (server === undefined) return failing('SourceUnreachable', 'no member is primary');
    reserve(server.data);
    try {
      await reachStore();
    } catch {
      return failing('TargetUnreachable', 'the target does not answer');
    }
    if (hasEnded) return;
    reserve(server.data);
    const end = server.data.wal.length;
    server.data.slots.set(archiveSlot, end);
    Object.assign(archived, { stored: end, storedAt: time.now(), hasBase: true } satisfies typeof archived);
    gap = undefined;
    enter('following');
  }

  const close = network.listen(ip, archiveReportPort, (stream) => {
    stream.on('error', () => stream.destroy());
    stream.once('data', () => {
      const status = report.state === 'following' ? 200 : 503;
      stream.end(`HTTP/1.0 ${status} -\r\nContent-Type: application/json\r\n\r\n${JSON.stringify(report)}`);
    });
  });
  const end = (): void => {
    hasEnded = true;
    close();
  };
  const run = async (): Promise<void> => {
    if (hasEnded) return;
    await round();
    if (!hasEnded) time.after(everyMs, () => void run());
  };
  time.after(everyMs, () => void run());
  return {
    exec: () => Promise.resolve(false),
    get: (_, path) => Promise.resolve(path === archiveReportPath && report.state === 'following'),
    terminate() {
      if (hasEnded) return;
      end();
      exit(0);
    },
    kill: end,
  };
}
