/** Whether volumes can grow, told before the controller tries it. A person may know the StorageClass; the operator asks for no right to. */
import type { Cluster } from '../api/cluster.ts';
import type { Resource } from '../api/object.ts';
import { compareQuantities } from '../api/quantity.ts';
import type { FieldChange, Step } from '../plan/plan.ts';
import { dataVolumes, requestPath, storageStatus, volumesTooSmall, walVolumes } from '../plan/volume-expansion.ts';
import type { Children, Claim } from '../resources/children.ts';
import { ApiError, isNotFound } from '../runtime/api-error.ts';
import type { KubeClient } from '../runtime/client.ts';

const storageClasses: Resource = {
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'StorageClass',
  plural: 'storageclasses',
  namespaced: false,
};

/** What becomes of the steps that expand volumes, as far as their StorageClasses tell. */
export async function forecastExpansion(
  steps: readonly Step[],
  { claims }: Pick<Children, 'claims'>,
  client: Pick<KubeClient, 'get'>,
): Promise<string[]> {
  const growing = steps.flatMap((step) =>
    step.type === 'patch' && step.changes.some(isGrowth) ? [step.ref.name] : [],
  );
  const told = [dataVolumes, walVolumes].map(({ template, field }) => {
    const own = claims.filter(({ metadata: { name } }) => name.startsWith(`${template}-`));
    const back = storageStatus(own)?.minimumSize;
    const until = back === undefined ? '' : ` until ${field} is set back to ${back}`;
    return refusals(
      own.filter(({ metadata: { name } }) => growing.includes(name)),
      until,
      client,
    );
  });
  return [...new Set((await Promise.all(told)).flat())];
}

async function refusals(growing: readonly Claim[], until: string, client: Pick<KubeClient, 'get'>): Promise<string[]> {
  const byClass = new Map<string, string[]>();
  for (const { metadata, spec: { storageClassName = '' } = {} } of growing) {
    byClass.set(storageClassName, [...(byClass.get(storageClassName) ?? []), metadata.name]);
  }
  const told = [...byClass].map(async ([name, names]) => {
    const verdict = await verdictOn(name, client);
    if (verdict === undefined || verdict.isRefused !== true) return verdict === undefined ? [] : [verdict.words];
    const refusal = `the API server refuses to expand ${names.join(', ')}`;
    return [`${verdict.words}: ${refusal}, and the cluster is Blocked (${volumesTooSmall})${until}`];
  });
  return (await Promise.all(told)).flat();
}

function isGrowth({ path, from, to }: FieldChange): boolean {
  return path === requestPath && compareQuantities(String(to), String(from)) > 0;
}

/** Undefined where it allows expansion. */
async function verdictOn(
  name: string,
  client: Pick<KubeClient, 'get'>,
): Promise<{ readonly words: string; readonly isRefused?: true } | undefined> {
  if (name === '') return { words: 'the volumes have no StorageClass', isRefused: true };
  try {
    const found = (await client.get({ resource: storageClasses, name })) as { readonly allowVolumeExpansion?: boolean };
    if (found.allowVolumeExpansion === true) return undefined;
    return { words: `StorageClass ${name} does not allow volume expansion`, isRefused: true };
  } catch (error) {
    if (isNotFound(error)) return { words: `StorageClass ${name} does not exist`, isRefused: true };
    if (!(error instanceof ApiError) || error.status !== 403) throw error;
    return { words: `whether StorageClass ${name} allows volume expansion is not known: you may not read it` };
  }
}

interface Volumes {
  readonly size?: string;
  readonly storageClassName?: string;
}

interface WithStorage {
  readonly storage?: Volumes;
  readonly walStorage?: Volumes;
}

/** Without a cluster: what it takes. `former`: the cluster as it was before. */
export function expansionOffline(former: unknown, { spec }: Cluster): string[] {
  const before = (former as Partial<Cluster<WithStorage>> | undefined)?.spec;
  const now = spec as WithStorage;
  return [...growthOffline(before?.storage, now.storage), ...growthOffline(before?.walStorage, now.walStorage)];
}

function growthOffline({ size: before }: Volumes = {}, { size, storageClassName }: Volumes = {}): string[] {
  if (before === undefined || size === undefined || compareQuantities(size, before) <= 0) return [];
  const which = storageClassName === undefined ? 'the StorageClass of the volumes' : `StorageClass ${storageClassName}`;
  return [`volumes grow from ${before} to ${size} only where ${which} has allowVolumeExpansion: true`];
}
