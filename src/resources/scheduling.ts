/** Where pods go: spread over nodes, the user's constraints on top. */
import type { PodSpec } from './plain.ts';

export interface Scheduling {
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly tolerations?: readonly unknown[];
  readonly affinity?: unknown;
  /** `Required` leaves a pod pending rather than putting two on one node. */
  readonly topologySpread: 'Preferred' | 'Required';
  /** The same for the zones of the nodes. Absent: zones do not matter. */
  readonly zoneSpread?: 'Preferred' | 'Required';
  readonly priorityClassName?: string;
}

export function schedulingFields(scheduling: Scheduling, selector: Readonly<Record<string, string>>): Partial<PodSpec> {
  const { nodeSelector, tolerations, affinity, topologySpread, zoneSpread, priorityClassName } = scheduling;
  const spread = (topologyKey: string, how: 'Preferred' | 'Required') => ({
    maxSkew: 1,
    topologyKey,
    whenUnsatisfiable: how === 'Required' ? 'DoNotSchedule' : 'ScheduleAnyway',
    labelSelector: { matchLabels: selector },
  });
  return {
    topologySpreadConstraints: [
      spread('kubernetes.io/hostname', topologySpread),
      ...(zoneSpread === undefined ? [] : [spread('topology.kubernetes.io/zone', zoneSpread)]),
    ],
    ...(nodeSelector === undefined ? {} : { nodeSelector }),
    ...(tolerations === undefined ? {} : { tolerations: tolerations as PodSpec['tolerations'] & {} }),
    ...(affinity === undefined ? {} : { affinity: affinity as PodSpec['affinity'] & {} }),
    ...(priorityClassName === undefined ? {} : { priorityClassName }),
  };
}
