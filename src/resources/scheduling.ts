/** Where pods go: spread over nodes, the user's constraints on top. */
import type { PodSpec } from './plain.ts';

export interface Scheduling {
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly tolerations?: readonly unknown[];
  readonly affinity?: unknown;
  /** `Required` leaves a pod pending rather than putting two on one node. */
  readonly topologySpread: 'Preferred' | 'Required';
  readonly priorityClassName?: string;
}

export function schedulingFields(scheduling: Scheduling, selector: Readonly<Record<string, string>>): Partial<PodSpec> {
  const { nodeSelector, tolerations, affinity, topologySpread, priorityClassName } = scheduling;
  return {
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: 'kubernetes.io/hostname',
        whenUnsatisfiable: topologySpread === 'Required' ? 'DoNotSchedule' : 'ScheduleAnyway',
        labelSelector: { matchLabels: selector },
      },
    ],
    ...(nodeSelector === undefined ? {} : { nodeSelector }),
    ...(tolerations === undefined ? {} : { tolerations: tolerations as PodSpec['tolerations'] & {} }),
    ...(affinity === undefined ? {} : { affinity: affinity as PodSpec['affinity'] & {} }),
    ...(priorityClassName === undefined ? {} : { priorityClassName }),
  };
}
