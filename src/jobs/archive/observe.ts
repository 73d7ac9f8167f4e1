/** What is known of an archive: what its pod says, and where that does not follow the log, what the database says. Only reads. */
import type { Cluster } from '../../api/cluster.ts';
import {
  type ArchiveReport,
  archiveReportPath,
  archiveReportPort,
  parseArchiveReport,
} from '../../backup/archive-report.ts';
import type { ArchiveSupport, KeptLog } from '../../engine/backup-support.ts';
import type { EngineContext } from '../../engine/engine-context.ts';
import { within } from '../../engine/within.ts';
import type { Children, Pod } from '../../resources/children.ts';

const answerMs = 1000;
/** Beyond the grace that a pod has to stop, which the time of its deletion includes: its node does not answer. */
const stuckMs = 60_000;

export interface ArchiveSeen {
  /** Absent: the pod does not answer. */
  readonly report?: ArchiveReport;
  /** Why there is no report. */
  readonly silence?: string;
  /** Asked for only where the log is not followed. */
  readonly kept?: KeptLog;
  /** Milliseconds. */
  readonly at: number;
}

export async function observeArchive<Spec>(
  cluster: Cluster<Spec>,
  pod: Pod | undefined,
  children: Children,
  support: ArchiveSupport<Spec>,
  io: EngineContext,
): Promise<ArchiveSeen> {
  const said = await reportOf(pod, io);
  const isFollowing = said.report?.state === 'following';
  const kept = isFollowing ? undefined : await support.kept(cluster, children, io);
  return { ...said, ...(kept === undefined ? {} : { kept }), at: io.now() };
}

async function reportOf(pod: Pod | undefined, io: EngineContext): Promise<Pick<ArchiveSeen, 'report' | 'silence'>> {
  if (pod === undefined) return { silence: 'its pod is not there' };
  const { podIP, phase } = pod.status ?? {};
  const silent = (why: string) => ({ silence: stuckWords(pod, io.now()) ?? why });
  if (podIP === undefined || phase !== 'Running') return silent(`its pod is ${phase ?? 'not scheduled'}`);
  try {
    const { body } = await within(io, answerMs, pod.metadata.name, (signal) =>
      io.exchange({ host: podIP, port: archiveReportPort, method: 'GET', path: archiveReportPath, signal }),
    );
    const report = parseArchiveReport(body);
    return report === undefined ? { silence: 'what its pod answers is no report' } : { report };
  } catch (error) {
    io.signal.throwIfAborted();
    return silent(`its pod does not answer: ${(error as Error).message}`);
  }
}

function stuckWords({ metadata: { deletionTimestamp, name, namespace } }: Pod, now: number): string | undefined {
  if (deletionTimestamp === undefined || now - Date.parse(deletionTimestamp) <= stuckMs) return undefined;
  return `its node does not stop the pod, and Kubernetes makes no other one before; once the node is off, delete it by force: kubectl delete pod -n ${namespace} ${name} --force`;
}
