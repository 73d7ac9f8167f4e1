/**
 * What differs between the object we want and the one that is there.
 *
 * Only fields that we set are compared: the API server fills in defaults, and others may own the rest. Lists of named
 * things are compared by name and tolerate additions, as server-side apply does; a field that we no longer set shows in
 * the fingerprint that every desired object carries. Selectors and the rules of a NetworkPolicy are compared as a whole, and an apply
 * replaces them as a whole: with one label more a Service leads to nobody, and with one selector more a rule lets others in.
 */
import { createHash } from 'node:crypto';
import { restartAnnotation } from '../api/maintenance.ts';
import type { KubeObject } from '../api/object.ts';
import { compareQuantities } from '../api/quantity.ts';
import { memoize } from './memoize.ts';
import type { FieldChange } from './plan.ts';

/**
 * Fingerprint of what was last applied. Without it, a field taken out of the desired object would never be noticed. That of a StatefulSet has a
 * second part, after a dash, for the pod template alone.
 */
export const fingerprintAnnotation = 'clusterwright.dev/desired';
const fingerprintPath = `metadata.annotations[${fingerprintAnnotation}]`;

/** Immutable once the StatefulSet exists; growth of volumes is the claims' business. */
function withoutClaimTemplates(object: KubeObject): KubeObject {
  if (object.kind !== 'StatefulSet') return object;
  const { volumeClaimTemplates: _, ...spec } = object.spec as Record<string, unknown>;
  return { ...object, spec };
}

export const fingerprinted = memoize((object: KubeObject): KubeObject => {
  const parts = [withoutClaimTemplates(object), ...(object.kind === 'StatefulSet' ? [askedTemplate(object)] : [])];
  const annotations = { ...object.metadata.annotations, [fingerprintAnnotation]: parts.map(hash).join('-') };
  return { ...object, metadata: { ...object.metadata, annotations } };
});

const hash = (part: unknown): string =>
  createHash('sha256')
    .update(JSON.stringify(part ?? null))
    .digest('hex')
    .slice(0, 16);

/** Without a request to restart, which is no change of the template's own. */
function askedTemplate(object: KubeObject): unknown {
  const { template } = object.spec as { readonly template?: Template };
  const { [restartAnnotation]: _, ...annotations } = template?.metadata?.annotations ?? {};
  return inOrder({ ...template, metadata: { ...template?.metadata, annotations } });
}

/** By the names of fields, so that nothing depends on the order in which code has set them. */
function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (!isFields(value)) return value;
  const names = Object.keys(value).sort();
  return Object.fromEntries(names.map((name) => [name, inOrder(value[name])]));
}

interface Template {
  readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> };
}

/** Of the pod template that the changes of a StatefulSet leave. Empty where they tell none. */
export function templatePrint(changes: readonly FieldChange[]): string {
  return String(changes.find(isFingerprint)?.to ?? '').split('-')[1] ?? '';
}

export const isFingerprint = ({ path }: FieldChange): boolean => path === fingerprintPath;

/**
 * Whether these changes of a StatefulSet leave its pod template another one, but for a request to restart. Also where fields are only removed. What an
 * operator without the second part has written may be another template wherever the whole differs.
 */
export function hasOtherTemplate(changes: readonly FieldChange[]): boolean {
  const print = changes.find(isFingerprint);
  if (print?.from === undefined || print.to === undefined) return false;
  const [from = [], to = []] = [print.from, print.to].map((value) => String(value).split('-'));
  return from.length === 1 ? from[0] !== to[0] : from[1] !== to[1];
}

const templatePath = 'spec.template';

/** Paths of the pod template that these changes of a StatefulSet write. The path of the template itself stands for fields that are only removed. */
export function templatePaths(changes: readonly FieldChange[]): readonly string[] {
  const paths = changes.map(({ path }) => path).filter((path) => path.startsWith(templatePath));
  return paths.length === 0 && hasOtherTemplate(changes) ? [templatePath] : paths;
}

type Fields = Readonly<Record<string, unknown>>;

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The key by which the API server merges a list, where its items have one. What does not tell them apart is no key. */
function mergeKey(items: readonly unknown[]): string | undefined {
  return ['name', 'topologyKey', 'ip'].find((key) => {
    const values = items.map((item) => (isFields(item) ? item[key] : undefined));
    const isNamed = values.length > 0 && values.every((value) => typeof value === 'string');
    return isNamed && new Set(values).size === values.length;
  });
}

const quantityPath = /\.(requests|limits|capacity)\[?\.?[a-z./-]+\]?$|\.sizeLimit$/;

function equalLeaf(path: string, wanted: unknown, has: unknown): boolean {
  if (wanted === has) return true;
  const comparable = (v: unknown): v is string | number => typeof v === 'string' || typeof v === 'number';
  return quantityPath.test(path) && comparable(wanted) && comparable(has) && compareQuantities(wanted, has) === 0;
}

function step(path: string, key: string): string {
  const plain = /^[A-Za-z0-9_-]+$/.test(key) ? key : `[${key}]`;
  return path === '' || plain.startsWith('[') ? `${path}${plain}` : `${path}.${plain}`;
}

const wholeKeys: readonly string[] = ['selector', 'podSelector', 'ingress'];
const inWhole = new RegExp(`\\.(${wholeKeys.join('|')})([.[]|$)`);

function compare(path: string, wanted: unknown, has: unknown, changes: FieldChange[]): void {
  if (isFields(wanted) && isFields(has)) {
    if (inWhole.test(path)) {
      const added = Object.entries(has).filter(([key]) => !(key in wanted));
      changes.push(...added.map(([key, from]) => ({ path: step(path, key), from })));
    }
    for (const [key, value] of Object.entries(wanted)) compare(step(path, key), value, has[key], changes);
  } else if (Array.isArray(wanted) && Array.isArray(has)) {
    compareLists(path, wanted, has, changes);
  } else if (isEmpty(wanted) && has === undefined) {
    // The API server drops empty maps and lists of optional fields.
  } else if (!equalLeaf(path, wanted, has)) {
    changes.push({ path, ...(has === undefined ? {} : { from: has }), to: wanted });
  }
}

function isEmpty(value: unknown): boolean {
  return (Array.isArray(value) && value.length === 0) || (isFields(value) && Object.keys(value).length === 0);
}

function compareLists(path: string, wanted: readonly unknown[], has: readonly unknown[], changes: FieldChange[]): void {
  const key = mergeKey(wanted);
  if (key === undefined) {
    if (wanted.length !== has.length) changes.push({ path, from: has, to: wanted });
    else
      wanted.forEach((item, i) => {
        compare(`${path}[${i}]`, item, has[i], changes);
      });
    return;
  }
  for (const item of wanted as readonly Fields[]) {
    const counterpart = has.find((other) => isFields(other) && other[key] === item[key]);
    compare(`${path}[${item[key]}]`, item, counterpart, changes);
  }
}

/**
 * True only where nothing differs, item by item in the same order; without a path or a list being made, since nearly
 * every comparison of a controller finds nothing.
 */
function plainlyEqual(wanted: unknown, has: unknown): boolean {
  if (wanted === has) return true;
  if (isFields(wanted) && isFields(has)) {
    for (const key in wanted) {
      if (!plainlyEqual(wanted[key], has[key])) return false;
      if (wholeKeys.includes(key) && !plainlyEqual(has[key], wanted[key])) return false;
    }
    return true;
  }
  if (!Array.isArray(wanted) || !Array.isArray(has)) return false;
  return wanted.length === has.length && wanted.every((item, i) => plainlyEqual(item, has[i]));
}

/** Leaf by leaf what `wanted` would change about `has`; empty when there is nothing to do. */
export function difference(wanted: KubeObject, has: KubeObject): FieldChange[] {
  if (plainlyEqual(withoutClaimTemplates(wanted), has)) return [];
  const changes: FieldChange[] = [];
  compare('', withoutClaimTemplates(wanted), has, changes);
  return changes;
}
