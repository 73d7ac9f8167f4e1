/**
 * Another controller, which somebody has started: only what the API server, its audit log and the kernel tell. Its
 * clusters stay; each size has a namespace of its own.
 */
import { openAuditLog } from './audit-log.ts';
import { openCensus } from './census.ts';
import { connect, createNamespace, discover } from './connection.ts';
import { measureConverge } from './converge.ts';
import { pause } from './in-flight.ts';
import type { Options, RunningSubject } from './options.ts';
import type { Recorder } from './recorder.ts';
import { runningSubject } from './subject.ts';
import { clusterName, templateOf } from './workload.ts';

/** A cluster on its own is done when nothing has changed for so long. */
const probeQuietMs = 20_000;
const probeAtMostMs = 180_000;

export async function runRunning(options: Options, running: RunningSubject, recorder: Recorder): Promise<void> {
  const manifest = await templateOf(running.manifestTemplate, running.kind);
  const found = await connect(running.kubeconfig);
  const resource = await discover(found.client, manifest('r000000', 'bench').apiVersion, running.kind);
  await found.close();
  const { client, close } = await connect(running.kubeconfig, resource);
  const subject = runningSubject(running);
  const idle = await subject.usage();
  if (idle !== undefined) await recorder.set({ idleRssBytes: idle.rssBytes });
  const run = Date.now().toString(36);
  const open = async (namespace: string) => {
    await createNamespace(client, namespace);
    return await openCensus(client, resource, namespace);
  };
  try {
    const probe = await open(`bench-${run}-probe`);
    await client.create(manifest(clusterName(0), `bench-${run}-probe`));
    await probe.quiet(probeQuietMs, probeAtMostMs);
    const childrenEach = probe.children;
    probe.close();
    await recorder.set({ childrenEach });

    for (const n of options.sizes) {
      const namespace = `bench-${run}-${n}`;
      const census = await open(namespace);
      const log = running.auditLog === undefined ? undefined : await openAuditLog(running.auditLog, running.userAgent);
      const scene = { client, workload: { resource, manifest }, namespace, census, subject, serverPids: [] };
      await recorder.add('converged', await measureConverge(scene, n, childrenEach));
      if (log !== undefined) {
        const converge = await log.take();
        await pause(options.rest * 1000);
        const rest = { seconds: options.rest, requests: await log.take() };
        await recorder.add('counted', { n, live: false, converge, rest });
      }
      census.close();
    }
  } finally {
    await close();
  }
}
