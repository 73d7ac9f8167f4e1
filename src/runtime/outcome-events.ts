/** Events on the custom resource: one when a cluster turns, none when a pass finds what the last one found. */
import type { Cluster } from '../api/cluster.ts';
import type { ClusterStatus } from '../api/status.ts';
import type { KindHandler } from '../engine/engine.ts';
import type { Plan } from '../plan/plan.ts';
import type { EventRecorder } from './event-recorder.ts';

/** A member is replaced, or its data deleted: the status may say so for a moment only, and people look for it afterwards. */
const memorable: readonly string[] = ['Replacing', 'Reinitializing'];

export function outcomeEvents(recorder: EventRecorder) {
  return (engine: KindHandler, cluster: Cluster, before: ClusterStatus | undefined, plan: Plan): void => {
    const regarding = {
      resource: engine.kind.resource,
      namespace: cluster.metadata.namespace,
      name: cluster.metadata.name,
      ...(cluster.metadata.uid === undefined ? {} : { uid: cluster.metadata.uid }),
    };
    for (const step of plan.steps) {
      if (step.type === 'act' && step.event !== undefined) {
        recorder.record({ regarding, type: 'Normal', reason: 'RoleMoves', action: step.event, note: step.summary });
      }
      if (step.type === 'resize') {
        const amounts = step.changes.map(({ path, to }) => `${path.replace(/^spec\.\w+/, '')} ${to}`).join(', ');
        const note = `resize ${step.ref.name} in place: ${amounts}`;
        recorder.record({ regarding, related: step.ref, type: 'Normal', reason: 'Resize', action: 'ResizePod', note });
      }
      if (step.type === 'delete' && step.ref.resource.kind === 'Pod') {
        const note = `restart ${step.ref.name}: ${step.reason}`;
        recorder.record({ regarding, related: step.ref, type: 'Normal', reason: 'Restart', action: 'DeletePod', note });
      }
    }
    if (plan.outcome.state === 'wait' && memorable.includes(plan.outcome.reason)) {
      const { reason, message } = plan.outcome;
      if (before?.plan?.waitingFor !== message)
        recorder.record({ regarding, type: 'Warning', reason, action: 'Reconcile', note: message });
    }
    if (plan.outcome.state === 'blocked' && before?.plan?.blockedBy !== plan.outcome.message) {
      const { reason, message } = plan.outcome;
      recorder.record({ regarding, type: 'Warning', reason, action: 'Reconcile', note: message });
    }
  };
}
