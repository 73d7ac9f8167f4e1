/** Our own controller, from nothing: each measure on a control plane of its own, so that none pays for another. */
import type { Cluster } from '../../src/api/cluster.ts';
import type { RedisSpec } from '../../src/engines/redis/kind/schema.ts';
import { measureAnswers } from './answers.ts';
import { type AuditLog, openAuditLog } from './audit-log.ts';
import { measureCeiling } from './ceiling.ts';
import { openCensus } from './census.ts';
import { measureChurn } from './churn.ts';
import { benchNamespace, type ControlPlane, requireNoSandbox, withControlPlane } from './control-plane.ts';
import { measureConverge, type Scene } from './converge.ts';
import { measureFloor } from './floor.ts';
import { pause } from './in-flight.ts';
import { createPods } from './live-pods.ts';
import type { Options, OwnSubject, Part } from './options.ts';
import { measureRechecks } from './rechecks.ts';
import type { Recorder } from './recorder.ts';
import { measureRestart } from './restart.ts';
import type { Counted } from './results.ts';
import { measureSchedules } from './schedules.ts';
import { startStandIn } from './stand-in.ts';
import { type Subject, startSubject, takeBundle } from './subject.ts';
import { measureSynth } from './synth.ts';
import { childrenToCreate, clusterName, type OwnWorkload, understood } from './workload.ts';

/** From here on a size is large enough for a restart to tell something. */
const restartFrom = 1000;
/** The floor of more clusters takes minutes, and is linear. */
const floorUpTo = 1000;
const synthSizes = [1, 100, 1000];
const scheduleSizes = [250, 500, 1000, 2000];
const recheckSizes = [100, 1000];
/** Clusters, and how many of them are hostile. */
const answerSizes = [
  [1000, 0],
  [1000, 100],
] as const;
/** They need no control plane, and run beside a sandbox. */
const inProcess: readonly Part[] = ['synth', 'schedules', 'rechecks', 'answers'];

const sample = (workload: OwnWorkload, i: number) => {
  const manifest = workload.manifest(clusterName(i), benchNamespace);
  const metadata = { ...manifest.metadata, uid: '00000000-0000-4000-8000-000000000000', generation: 1 };
  return understood(workload, { ...manifest, metadata });
};

export async function runOwn(options: Options, { workload }: OwnSubject, recorder: Recorder): Promise<void> {
  const wanted = (part: Part): boolean => options.only.length === 0 || options.only.includes(part);
  const childrenEach = childrenToCreate(workload, sample(workload, 0)).length;
  await recorder.set({ childrenEach });
  if (wanted('synth')) for (const n of synthSizes) await recorder.add('synthesized', measureSynth(workload, n));
  if (wanted('schedules')) for (const n of scheduleSizes) await recorder.add('scheduled', await measureSchedules(n));
  if (wanted('rechecks')) for (const n of recheckSizes) await recorder.add('rechecked', await measureRechecks(n));
  if (wanted('answers') && workload.hasStandIn) {
    await takeBundle();
    for (const [n, hostile] of answerSizes) {
      await recorder.add('answered', await measureAnswers(workload, n, hostile, options.nodeFlags));
    }
  }
  if (options.only.length > 0 && options.only.every((part) => inProcess.includes(part))) return;
  await requireNoSandbox();
  await takeBundle();
  if (wanted('ceiling')) {
    await withControlPlane(workload, {}, async ({ client }) => {
      for (const ceiling of await measureCeiling(client, workload)) await recorder.add('ceilings', ceiling);
    });
  }
  for (const n of options.sizes) {
    if (wanted('floor') && n <= floorUpTo) {
      await withControlPlane(workload, {}, async (plane) =>
        recorder.add('floors', await measureFloor(plane, workload, n)),
      );
    }
    if (wanted('converge'))
      await withControlPlane(workload, {}, (plane) => converge(plane, workload, n, childrenEach, options, recorder));
  }
  if (wanted('audit') && options.live > 0) {
    await withControlPlane(workload, { audit: true }, (plane) =>
      count(plane, workload, childrenEach, options, recorder),
    );
  }
}

async function converge(
  plane: ControlPlane,
  workload: OwnWorkload,
  n: number,
  childrenEach: number,
  options: Options,
  recorder: Recorder,
): Promise<void> {
  const start = (): Promise<Subject> => startSubject(plane.kubeconfig, options.nodeFlags);
  let subject = await start();
  try {
    await pause(2000);
    const idle = await subject.usage();
    if (idle !== undefined) await recorder.set({ idleRssBytes: idle.rssBytes });
    const scene = await openScene(plane, workload, subject);
    try {
      await recorder.add('converged', await measureConverge(scene, n, childrenEach));
      if (n >= restartFrom) {
        const { restarted, subject: next } = await measureRestart(subject, n, workload.resource.plural, start);
        subject = next;
        await recorder.add('restarts', restarted);
      }
      if (n === options.sizes.at(-1)) {
        const { change = workload.change } = options;
        for (const rate of options.rates) {
          const found = await measureChurn({ ...scene, subject }, n, rate, options.churnSeconds, change);
          await recorder.add('churned', found);
        }
      }
    } finally {
      scene.census.close();
    }
  } finally {
    await subject.stop();
  }
}

async function openScene(plane: ControlPlane, workload: OwnWorkload, subject: Subject): Promise<Scene> {
  const { client, apiServerPid, etcdPid } = plane;
  return {
    client,
    workload,
    namespace: benchNamespace,
    census: await openCensus(client, workload.resource, benchNamespace),
    subject,
    serverPids: [apiServerPid, etcdPid],
  };
}

/** Requests, by the audit log, of clusters without pods and then, where there is a stand-in, of the same with pods that answer. */
async function count(
  plane: ControlPlane,
  workload: OwnWorkload,
  childrenEach: number,
  options: Options,
  recorder: Recorder,
): Promise<void> {
  const { live: n } = options;
  let subject = await startSubject(plane.kubeconfig, options.nodeFlags);
  const scene = await openScene(plane, workload, subject);
  const standIn = workload.hasStandIn
    ? await startStandIn(n, (i) => sample(workload, i) as Cluster<RedisSpec>)
    : undefined;
  try {
    await pause(1000);
    const log = await openAuditLog(plane.auditLog ?? '', subject.userAgent);
    const restart = async (): Promise<Pick<Counted, 'restart' | 'restarted'>> => {
      await log.take();
      const start = (): Promise<Subject> => startSubject(plane.kubeconfig, options.nodeFlags);
      const done = await measureRestart(subject, n, workload.resource.plural, start);
      subject = done.subject;
      return { restart: await log.take(), restarted: done.restarted };
    };

    await measureConverge(scene, n, childrenEach);
    const converged = await log.take();
    const rest = await rested(log, options.rest);
    await recorder.add('counted', { n, live: false, converge: converged, rest, ...(await restart()) });
    if (standIn === undefined) return;

    await log.take();
    await createPods(plane.client, n);
    await scene.census.quiet(12_000, 90_000);
    const joined = await log.take();
    const liveRest = await rested(log, options.rest);
    const usage = await subject.usage();
    await recorder.add('counted', {
      n,
      live: true,
      converge: joined,
      rest: liveRest,
      readyClusters: scene.census.readyClusters,
      ...(usage === undefined ? {} : { rssBytes: usage.rssBytes }),
      ...(await restart()),
    });
  } finally {
    scene.census.close();
    await subject.stop();
    await standIn?.close();
  }
}

async function rested(log: AuditLog, seconds: number): Promise<Counted['rest']> {
  await log.take();
  await pause(seconds * 1000);
  return { seconds, requests: await log.take() };
}
