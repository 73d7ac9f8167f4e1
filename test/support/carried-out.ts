/** Plans as `clusterwright plan` prints them, and whether the operator of a stage then does what they say. */
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import { stringify } from 'yaml';
import { childResources, optionalResources } from '../../src/api/child-resources.ts';
import type { KubeObject } from '../../src/api/object.ts';
import { secrets } from '../../src/api/resource.ts';
import { fingerprintAnnotation } from '../../src/plan/difference.ts';
import { instanceLabel, managedBy, managedByLabel } from '../../src/resources/metadata.ts';
import { isNotFound } from '../../src/runtime/api-error.ts';
import { readForesight } from './foresight-report.ts';
import { listAll } from './kubernetes.ts';
import { doneAtFirst, heardPlan, type PrintedPlan, planned, printed } from './printed-plan.ts';
import type { Stage } from './stage.ts';
import { until } from './until.ts';

export type Change = Readonly<Record<string, unknown>>;

export interface PlannedCluster {
  readonly name: string;
  object(): Promise<KubeObject>;
  change(spec: Change): Promise<void>;
}

/** Once nothing of an earlier change is under way any more. */
export async function atRestIn(stage: Stage, subject: string): Promise<void> {
  const rest = async (): Promise<void> => {
    expect(await printed(stage.kubeconfig, subject)).toContain(': nothing to do');
  };
  await until(`${subject} at rest`, rest, { withinMs: 180_000, everyMs: 1000 });
}

/** Prints the plan of the change, makes it, and resolves with the plan once its first pass has done what it was to do. */
export async function changedAsPrinted(stage: Stage, cluster: PlannedCluster, change: Change): Promise<PrintedPlan> {
  const { kind, metadata, spec, apiVersion } = await cluster.object();
  await atRestIn(stage, `${kind}/${cluster.name}`);
  const file = join(dirname(stage.kubeconfig), 'change.yaml');
  const own = { name: cluster.name, namespace: metadata.namespace };
  await writeFile(file, stringify({ apiVersion, kind, metadata: own, spec: merged(spec as Change, change) }));
  const plan = await heardPlan(stage.kubeconfig, file);
  await cluster.change(change);
  return carriedOutIn(stage, plan, await cluster.object());
}

function merged(spec: Change, change: Change): Change {
  const entries = Object.entries(change).map(([field, value]): [string, unknown] => {
    const isObject = typeof value === 'object' && value !== null;
    return [field, isObject ? merged((spec[field] ?? {}) as Change, value as Change) : value];
  });
  return { ...spec, ...Object.fromEntries(entries) };
}

export async function carriedOutIn(stage: Stage, plan: PrintedPlan, object: KubeObject): Promise<PrintedPlan> {
  const { kind, metadata } = object;
  expect(planned(plan)).not.toEqual([]);
  await until('what was printed is what was done', async () => {
    const lines = await readForesight(stage.foresight.file);
    expect(doneAtFirst(lines, `${kind}/${metadata.name}`, metadata.generation)).toEqual(planned(plan));
  });
  return plan;
}

/** What Kubernetes makes of the rest. */
const ofOthers = ['Pod', 'PersistentVolumeClaim'];

/** All that the operator has made for a cluster. */
export async function managedObjects(stage: Stage, name: string): Promise<readonly KubeObject[]> {
  const lists = [...childResources, secrets].map((resource) =>
    listAll(stage.client, resource, stage.namespace).catch((error: unknown) => {
      if (optionalResources.includes(resource) && isNotFound(error)) return [];
      throw error;
    }),
  );
  return (await Promise.all(lists)).flat().filter(({ kind, metadata: { labels = {} } }) => {
    return labels[managedByLabel] === managedBy && labels[instanceLabel] === name && !ofOthers.includes(kind);
  });
}

export const titleOf = ({ kind, metadata }: KubeObject): string => `${kind}/${metadata.name}`;

/**
 * Of an object in a plan without a cluster, what is there in the end. The roster, and the rights of the members that are in it, are written
 * anew once they run. A Secret is filled with what the plan does not know.
 */
export function shownOf(object: KubeObject): object {
  const { ownerReferences: _, annotations = {}, ...metadata } = object.metadata;
  const { [fingerprintAnnotation]: __, ...kept } = annotations;
  const {
    data,
    stringData: ___,
    rules: ____,
    ...rest
  } = object as KubeObject & { stringData?: unknown; rules?: unknown };
  const content = data === undefined || metadata.name.endsWith('-members') ? rest : { ...rest, data };
  return { ...content, metadata: { ...metadata, ...(Object.keys(kept).length === 0 ? {} : { annotations: kept }) } };
}
