/** What a custom resource and its pods say of themselves: the part of being whole that is the same for all engines. */

import type { KubeObject } from '../../src/api/object.ts';
import { isCopy } from './copies.ts';
import type { SimulatedWorld } from './subject.ts';

type Fields = Readonly<Record<string, unknown>>;
export type Pods = ReadonlyMap<string, KubeObject>;

export const addressOf = (pod: KubeObject | undefined): string =>
  (pod?.status as { podIP?: string } | undefined)?.podIP ?? '';

/** By name. */
export function podsOf({ kubernetes, cluster }: SimulatedWorld, component: string): Pods {
  return new Map(
    kubernetes
      .objects()
      .filter((object) => !isCopy(object))
      .filter(
        ({ kind, metadata: { labels = {} } }) =>
          kind === 'Pod' &&
          labels['app.kubernetes.io/instance'] === cluster &&
          labels['app.kubernetes.io/component'] === component,
      )
      .map((pod) => [pod.metadata.name, pod]),
  );
}

/** Not as a resource that is whole says of itself. */
export function statusComplaints({ metadata, status }: KubeObject): string[] {
  const { observedGeneration, conditions = [] } = (status ?? {}) as {
    readonly observedGeneration?: number;
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason: string;
      readonly message: string;
    }[];
  };
  const wanted = { Ready: 'True', Progressing: 'False', Degraded: 'False' } as const;
  return [
    ...(observedGeneration === metadata.generation ? [] : ['the status is of an older generation']),
    ...Object.entries(wanted).flatMap(([type, value]) => {
      const condition = conditions.find((candidate) => candidate.type === type);
      return condition?.status === value
        ? []
        : [`${type} is ${condition?.status}: ${condition?.reason}: ${condition?.message}`];
    }),
  ];
}

/** The pods with these names of a set, and no others, ready and with its template. `revisionOf`: the set's, by pod. */
export function podComplaints(
  pods: Pods,
  names: readonly string[],
  revisionOf: (pod: string) => string | undefined,
): string[] {
  return [
    ...names.filter((name) => !pods.has(name)).map((name) => `pod ${name} is missing`),
    ...[...pods].flatMap(([name, pod]) => {
      if (!names.includes(name)) return [`pod ${name} is too many`];
      if (pod.metadata.deletionTimestamp !== undefined) return [`pod ${name} is stopping`];
      if (!isReady(pod)) return [`pod ${name} is not ready`];
      return pod.metadata.labels?.['controller-revision-hash'] === revisionOf(name)
        ? []
        : [`pod ${name} runs an old template`];
    }),
  ];
}

/** The revision that a StatefulSet's pods are to run. */
export function revisionOfSet({ kubernetes }: SimulatedWorld, set: string): string | undefined {
  const found = kubernetes.objects().find(({ kind, metadata }) => kind === 'StatefulSet' && metadata.name === set);
  return (found?.status as { readonly updateRevision?: string } | undefined)?.updateRevision;
}

export function isReady({ status }: KubeObject): boolean {
  const { conditions = [] } = (status ?? {}) as { readonly conditions?: readonly Fields[] };
  return conditions.some(({ type, status: value }) => type === 'Ready' && value === 'True');
}
