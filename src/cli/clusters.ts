/**
 * From documents to clusters: which of them are ours, and are they valid.
 *
 * Manifests of a namespace or a Secret may stand in the same file; they are skipped, and said to be. What looks like ours and
 * is not (a kind or a group misspelt, another version) is a fault.
 */

import { dirname } from 'node:path';
import type { Cluster } from '../api/cluster.ts';
import { apiVersionOf, type KubeObject } from '../api/object.ts';
import { type ValidateOptions, validateCluster } from '../api/validate.ts';
import type { Violation } from '../api/violation.ts';
import type { KindHandler } from '../engine/engine.ts';
import { BadInput, badInput, type Fault } from './fault.ts';
import { type ManifestDocument, parsePath } from './manifest.ts';

/** A document that is one of our kinds. Nothing else about it has been checked. */
export interface WrittenCluster {
  readonly engine: KindHandler;
  readonly object: KubeObject;
  readonly document: ManifestDocument;
}

/**
 * Our documents among these, in their order, and notes on those that are skipped.
 *
 * @throws BadInput when one of them only looks like ours, or none is
 */
export function ownClusters(
  engines: readonly KindHandler[],
  documents: readonly ManifestDocument[],
): { readonly clusters: readonly WrittenCluster[]; readonly notes: readonly string[] } {
  const clusters: WrittenCluster[] = [];
  const skipped: ManifestDocument[] = [];
  const faults: Fault[] = [];
  for (const document of documents) {
    const { source } = document;
    const object = document.value as KubeObject;
    const engine = engines.find(({ kind }) => kind.resource.kind === object?.kind);
    const fault = typeFault(engines, engine, document.value);
    if (fault !== undefined) {
      faults.push({ source, ...document.locate(parsePath(fault.path)), ...fault });
    } else if (engine === undefined) {
      skipped.push(document);
    } else {
      clusters.push({ engine, object, document });
    }
  }
  if (faults.length > 0) throw new BadInput(faults);
  const [source, ...others] = new Set(documents.map((document) => document.source));
  if (clusters.length === 0 && source !== undefined) {
    const known = engines.map(({ kind }) => kind.resource.kind).join(', ');
    // Several sources are the files of one folder.
    const place = others.length === 0 ? source : dirname(source);
    throw badInput(place, `no object in it is of a kind of ${groupsOf(engines).join(' or ')}: ${known}`);
  }
  return { clusters, notes: skippedNotes(skipped, groupsOf(engines).join(' or ')) };
}

/** More than these in a file are counted: a file may hold an operator with all its objects. */
const namedSkipped = 3;

function skippedNotes(skipped: readonly ManifestDocument[], groups: string): string[] {
  const sources = [...new Set(skipped.map(({ source }) => source))];
  return sources.flatMap((source) => {
    const documents = skipped.filter((document) => document.source === source);
    if (documents.length > namedSkipped) {
      return [`${source}: ${documents.length} objects are skipped: not of a kind of ${groups}`];
    }
    return documents.map(({ value, locate }) => {
      const { kind, metadata } = value as KubeObject;
      return `${source}:${locate([]).line}: ${kind}/${metadata?.name ?? ''} is skipped: not a kind of ${groups}`;
    });
  });
}

function groupsOf(engines: readonly KindHandler[]): string[] {
  return [...new Set(engines.map(({ kind }) => kind.resource.group))];
}

function typeFault(
  engines: readonly KindHandler[],
  engine: KindHandler | undefined,
  value: unknown,
): { readonly path: string; readonly message: string } | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { path: '', message: 'must be a Kubernetes object: a mapping with apiVersion, kind and metadata' };
  }
  const { apiVersion, kind } = value as { readonly apiVersion?: unknown; readonly kind?: unknown };
  if (typeof apiVersion !== 'string') return { path: 'apiVersion', message: 'is required, as a string' };
  if (typeof kind !== 'string') return { path: 'kind', message: 'is required, as a string' };
  if (engine === undefined) {
    const [group] = apiVersion.split('/');
    const ofGroup = engines.filter((candidate) => candidate.kind.resource.group === group);
    if (ofGroup.length === 0) return undefined;
    const known = ofGroup.map((candidate) => candidate.kind.resource.kind).join(', ');
    return { path: 'kind', message: `${group} has no kind ${kind}; its kinds are: ${known}` };
  }
  const wanted = apiVersionOf(engine.kind.resource);
  return apiVersion === wanted ? undefined : { path: 'apiVersion', message: `must be ${wanted} for a ${kind}` };
}

/** The namespace in which an object is meant to be: its own, or else the one that is asked for. */
export function namespaceOf(
  { object, document }: WrittenCluster,
  asked: { readonly namespace?: string | undefined; readonly fallback: string },
): string {
  const own = object.metadata?.namespace;
  if (typeof own !== 'string' || own === '') return asked.namespace ?? asked.fallback;
  if (asked.namespace !== undefined && own !== asked.namespace) {
    const { source } = document;
    const path = 'metadata.namespace';
    const message = `is ${own}, but --namespace says ${asked.namespace}`;
    throw new BadInput([{ source, ...document.locate(parsePath(path)), path, message }]);
  }
  return own;
}

/** Validated and with its defaults. @throws BadInput with every rule that it breaks */
export function validCluster({ engine, document }: WrittenCluster, object: unknown, options: ValidateOptions): Cluster {
  const verdict = validateCluster(engine.kind, object, options);
  if (verdict.ok) return verdict.cluster;
  throw invalid(document, verdict.violations);
}

/** Every rule that it breaks, with its place. */
export function invalid({ source, locate }: ManifestDocument, violations: readonly Violation[]): BadInput {
  return new BadInput(
    violations.map(({ path, rule, message }) => ({ source, ...locate(parsePath(path)), path, message, rule })),
  );
}

/** Calls `each` for every item and throws what went wrong with all of them together. */
export async function allOrFaults<Item, Result>(
  items: readonly Item[],
  each: (item: Item) => Promise<Result> | Result,
): Promise<Result[]> {
  const results: Result[] = [];
  const faults: Fault[] = [];
  for (const item of items) {
    try {
      results.push(await each(item));
    } catch (error) {
      if (!(error instanceof BadInput)) throw error;
      faults.push(...error.faults);
    }
  }
  if (faults.length > 0) throw new BadInput(faults);
  return results;
}
