/** Lists: all at once, or in pages that show one moment however long they take. */
import type { KubeObject } from '../../../src/api/object.ts';
import { badRequest, expired, Refusal } from './refusal.ts';
import { fieldSelector, labelSelector, type Selector } from './selector.ts';
import type { Location } from './served.ts';
import { type Store, textOf } from './store.ts';

type Query = Readonly<Record<string, string>>;

/** The objects that a list or watch of a place is about. */
export function selectorOf({ namespace }: Location, query: Query): Selector {
  const ofLabels = labelSelector(query.labelSelector);
  const ofFields = fieldSelector(query.fieldSelector);
  return (object) =>
    (namespace === undefined || object.metadata.namespace === namespace) && ofLabels(object) && ofFields(object);
}

/** In the order of namespace and name, as the API server keeps them. */
export function inOrder(objects: Iterable<KubeObject>): KubeObject[] {
  const keyed = [...objects].map((object) => ({ object, key: orderOf(object) }));
  keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  return keyed.map(({ object }) => object);
}

const orderOf = ({ metadata }: KubeObject): string => `${metadata.namespace ?? ''}/${metadata.name}`;

interface Continuation {
  readonly version: number;
  readonly after: string;
}

/** Refuses a version that is yet to come: asking again later may do. */
export function checkReached(store: Store, version: number): void {
  if (version <= store.version) return;
  throw new Refusal(504, 'Timeout', `Too large resource version: ${version}, current: ${store.version}`, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  });
}

export function versionOf(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined;
  if (!/^\d+$/.test(text)) throw badRequest(`invalid resource version: ${text}`);
  return Number(text);
}

/** The JSON of a list. Throws 410 when the version of a page is forgotten. */
export function listText(store: Store, location: Location, query: Query): string {
  const { served } = location;
  const selects = selectorOf(location, query);
  const from = query.continue === undefined ? undefined : continuation(query.continue);
  const asked = versionOf(query.resourceVersion);
  if (asked !== undefined) checkReached(store, asked);
  const exact = query.resourceVersionMatch === 'Exact' ? asked : undefined;
  const version = from?.version ?? exact ?? store.version;
  if (version < store.oldest) {
    const what = from === undefined ? 'resource version' : 'continue parameter';
    throw expired(`The provided ${what} is too old to display a consistent list result.`);
  }
  const held = version === store.version ? store.all(served.plural) : heldAt(store, served.plural, version);
  const all = inOrder(held).filter((object) => selects(object) && (from === undefined || orderOf(object) > from.after));
  const limit = Number(query.limit ?? 0);
  const page = limit > 0 ? all.slice(0, limit) : all;
  const last = page.at(-1);
  const more =
    last === undefined || page.length === all.length
      ? ''
      : `,"continue":"${tokenOf({ version, after: orderOf(last) })}","remainingItemCount":${all.length - page.length}`;
  const items = page.map(textOf).join(',');
  return `{"kind":"${served.kind}List","apiVersion":"${served.apiVersion}","metadata":{"resourceVersion":"${version}"${more}},"items":[${items}]}`;
}

/** What there was of a resource when the store stood at a version: today's objects, with every later change undone. */
function heldAt(store: Store, plural: string, version: number): Iterable<KubeObject> {
  const held = new Map([...store.all(plural)].map((object) => [object.metadata.uid ?? '', object]));
  for (const { before, last } of store.since(plural, version).toReversed()) {
    const uid = last.metadata.uid ?? '';
    if (before === undefined) held.delete(uid);
    else held.set(uid, before);
  }
  return held.values();
}

const tokenOf = (from: Continuation): string => Buffer.from(JSON.stringify(from)).toString('base64url');

function continuation(token: string): Continuation {
  try {
    return JSON.parse(Buffer.from(token, 'base64url').toString()) as Continuation;
  } catch (cause) {
    throw Object.assign(badRequest('continue key is not valid'), { cause });
  }
}
