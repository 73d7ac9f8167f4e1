/**
 * What members go on running while the version of the spec may not be rolled out: each one what it runs now, and a new
 * one what the others run. So a pod that Kubernetes makes again meanwhile starts what its data is fit for.
 */
import { inRegistry } from '../../../api/image.ts';
import type { ObjectStep } from '../../../plan/plan.ts';
import type { StatefulSet } from '../../../resources/children.ts';
import { releasedImage } from '../kind/released-image.ts';
import { minorNumber, patchNumber, versionLabel } from '../kind/versions.ts';
import { podName } from '../names.ts';
import { answering } from '../observe/observed.ts';
import type { Situation } from '../observe/situation.ts';
import type { PinnedVersion } from '../resources/resources.ts';

const writtenIn = (set: StatefulSet | undefined): string | undefined =>
  set?.spec?.template?.metadata?.labels?.[versionLabel];

/** Undefined where nothing of the cluster says anything. */
export function pinnedVersion(situation: Situation, index: number): PinnedVersion | undefined {
  const { cluster, sets, observed } = situation;
  const live = new Map(
    answering(observed.members).flatMap(({ pod, version }) => (version === '' ? [] : [[pod, version]])),
  );
  const version =
    live.get(podName(cluster.metadata.name, index)) ??
    writtenIn(sets.get(index)) ??
    earliest([...live.values()]) ??
    earliest([...sets.values()].flatMap((set) => writtenIn(set) ?? []));
  return version === undefined ? undefined : { version, image: imageOf(situation, version) };
}

function earliest(versions: readonly string[]): string | undefined {
  const place = (version: string): number => minorNumber(version) * 1000 + patchNumber(version);
  return [...versions].sort((a, b) => place(a) - place(b))[0];
}

/** A template that is overwritten by now told it; then only the pod does, as its machine calls it. */
function imageOf({ cluster, sets, pods, spec, observed }: Situation, version: string): string {
  const set = [...sets.values()].find((candidate) => writtenIn(candidate) === version);
  const written = set?.spec?.template?.spec?.containers?.find(({ name }) => name === 'etcd')?.image;
  if (written !== undefined) return written;
  if (spec.image === undefined) return inRegistry(releasedImage(version), cluster.imageRegistry);
  const names = new Set(answering(observed.members).flatMap((m) => (m.version === version ? [m.pod] : [])));
  const pod = [...pods.values()].find(({ metadata }) => names.has(metadata.name));
  return pod?.status?.containerStatuses?.find(({ name }) => name === 'etcd')?.image ?? spec.image;
}

/** Whether the step leaves alone what a member starts with, or gives it back its version. */
export function keeps({ children }: Situation, step: ObjectStep): boolean {
  if (step.type !== 'apply' || step.object.kind !== 'StatefulSet') return true;
  const live = children.statefulSet(step.object.metadata.name);
  const isOther = writtenIn(live) !== writtenIn(step.object as StatefulSet);
  return isOther || step.changes.some(({ path }) => path === 'spec.replicas');
}
