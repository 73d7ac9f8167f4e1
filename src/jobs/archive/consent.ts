/**
 * Who may change a cluster may not make pods. So the name of a ServiceAccount or of a claim in `backup.target` is not enough for the pod of
 * the archive either: both are asked, as for a Job of backups. The pod runs on without us, so the ServiceAccount is asked again in every look.
 */
import type { Cluster } from '../../api/cluster.ts';
import type { KubeObject } from '../../api/object.ts';
import { statefulSets } from '../../api/resource.ts';
import type { EngineContext } from '../../engine/engine-context.ts';
import type { ObjectStep } from '../../plan/plan.ts';
import { refOf } from '../../plan/ref.ts';
import type { StatefulSet } from '../../resources/children.ts';
import type { PodSpec } from '../../resources/plain.ts';
import { refusalToMake, refusalToRun } from '../target-claim.ts';
import { archiveName } from './objects.ts';

export interface Consented {
  readonly steps: readonly ObjectStep[];
  /** Why there is no archive, or none that may be changed. */
  readonly refusal?: string;
}

/** `steps` make or change what is wanted. Without consent none is taken, and an archive whose ServiceAccount has withdrawn its word ends. */
export async function withConsent(
  cluster: Cluster,
  steps: readonly ObjectStep[],
  live: StatefulSet | undefined,
  io: Pick<EngineContext, 'claim' | 'serviceAccount'>,
): Promise<Consented> {
  const own = `${archiveName(cluster.metadata.name)}-0`;
  const claim: EngineContext['claim'] = async (name) => {
    const found = await io.claim(name);
    // The archive itself writes there.
    return found && { ...found, pods: found.pods.filter(({ metadata }) => metadata.name !== own) };
  };
  const made = steps.flatMap((step) =>
    step.type === 'create' || step.type === 'apply' ? (podOf(step.object) ?? []) : [],
  );
  const running = made.length > 0 || live === undefined ? undefined : podOf(live);
  const outcome =
    running === undefined
      ? await refusalToMake(made, { claim, serviceAccount: (name) => io.serviceAccount(name) })
      : await refusalToRun(running, io);
  if (outcome === undefined || outcome.state === 'settled') return { steps };
  const { message } = outcome;
  const isWithdrawn = live !== undefined && outcome.state === 'blocked' && (await isRefusedToRun(live, io));
  return { steps: isWithdrawn ? removal(live, message) : [], refusal: message };
}

async function isRefusedToRun(live: KubeObject, io: Pick<EngineContext, 'serviceAccount'>): Promise<boolean> {
  const pod = podOf(live);
  return pod !== undefined && (await refusalToRun(pod, io))?.state === 'blocked';
}

function podOf({ kind, spec }: KubeObject): PodSpec | undefined {
  const { template } = (spec ?? {}) as { readonly template?: { readonly spec?: PodSpec } };
  return kind === 'StatefulSet' ? template?.spec : undefined;
}

/** It keeps nothing, and the database keeps the log for it. */
function removal(live: KubeObject, reason: string): ObjectStep[] {
  const ref = refOf(live, statefulSets);
  return ref === undefined || live.metadata.deletionTimestamp !== undefined ? [] : [{ type: 'delete', ref, reason }];
}
