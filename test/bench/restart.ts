/** The controller is stopped and started while all its clusters are there. */
import { pause } from './in-flight.ts';
import { held, type Subject, total } from './subject.ts';

export interface Restarted {
  readonly n: number;
  /** From the start of the process until it holds every cluster, has looked at each, and its queue is empty. */
  readonly seconds: number;
  /** The part of it until every watch had delivered its complete set. */
  readonly listedAfterSeconds: number;
  readonly cpuMs?: number;
  readonly rssBytes?: number;
}

/** `start` starts the new process. Resolves with its subject, which goes on running. */
export async function measureRestart(
  old: Subject,
  n: number,
  resource: string,
  start: () => Promise<Subject>,
): Promise<{ readonly restarted: Restarted; readonly subject: Subject }> {
  await old.stop();
  const startedAt = performance.now();
  const subject = await start();
  const deadline = startedAt + 120_000;
  let listed: number | undefined;
  for (;;) {
    const samples = await subject.samples();
    const now = performance.now();
    if (held(samples, resource) >= n) listed ??= now;
    const looked = total(samples, 'clusterwright_reconcile_total');
    if (listed !== undefined && looked >= n && total(samples, 'clusterwright_queue_depth') === 0) break;
    if (now > deadline)
      throw new Error(`after two minutes the new controller has looked at ${looked} of ${n} clusters`);
    await pause(25);
  }
  const seconds = (performance.now() - startedAt) / 1000;
  // Memory that has come to rest.
  await pause(5000);
  const usage = await subject.usage();
  return {
    subject,
    restarted: {
      n,
      seconds,
      listedAfterSeconds: (listed - startedAt) / 1000,
      ...(usage === undefined ? {} : { cpuMs: (usage.cpuSeconds * 1000) / n, rssBytes: usage.rssBytes }),
    },
  };
}
