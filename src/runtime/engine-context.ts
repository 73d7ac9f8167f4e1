/** What engines get of the outside world: connections, Secrets by name, and time. */
import { setMaxListeners } from 'node:events';
import type { KubeObject } from '../api/object.ts';
import { secrets } from '../api/resource.ts';
import type { EngineContext, SecretOwner } from '../engine/engine-context.ts';
import { instanceLabel, managedBy, managedByLabel } from '../resources/metadata.ts';
import { type Clock, sleep } from '../system/clock.ts';
import type { Dial } from '../system/dial.ts';
import { createAbortScope } from './abort-scope.ts';
import { isNotFound } from './api-error.ts';
import type { ClaimReader } from './claim-use.ts';
import type { KubeClient } from './client.ts';
import { exchangeOver } from './http-exchange.ts';
import type { AccountReader } from './service-account.ts';

/** How long the values of a Secret are taken as current. */
const secretLifeMs = 60 * 60 * 1000;
/** A refused one is not read more often than this: the refusal may stay. */
const refusedLifeMs = 5_000;

type Values = Readonly<Record<string, string>>;

interface Known {
  readonly values: Values;
  /** It was made by us, for whichever cluster. */
  readonly isOurs: boolean;
  /** The cluster that it was made for. */
  readonly of?: string | undefined;
  /** What was said of it elsewhere when it was read. */
  readonly told?: string;
}

/** Times of the monotonic clock. */
interface Entry extends Known {
  /** When it was read. */
  readonly at: number;
  /** It is read anew from then on. */
  until: number;
  /** Its values are not used any more from then on, whatever reading it comes to. */
  usableUntil: number;
  /** After a failure it is not read again before. */
  retryAt: number;
}

/** Secrets in memory, read by name when somebody needs to log in, and never all at once. */
export interface SecretReader {
  read(namespace: string, name: string, signal: AbortSignal, told?: string): Promise<Known | undefined>;
  /** Values that this process has just generated need not be read back. `of`: the cluster that they are for. */
  learn(namespace: string, name: string, values: Values, of?: string): void;
  /** Reads it, whatever is known. */
  readNow(namespace: string, name: string, signal: AbortSignal): Promise<Known | undefined>;
  /** The values did not do. */
  refuse(namespace: string, name: string): void;
  /** The values may have changed, where they are older than that: the API server is asked again, and they do where it does not answer. */
  outdate(namespace: string, name: string, olderThanMs: number): void;
  /** The resource is gone: what its Secrets said may go, too, and no watch tells of it. */
  forget(namespace: string, resource: string): void;
}

export function createSecretReader(options: {
  readonly client: Pick<KubeClient, 'get'>;
  readonly clock: Clock;
  /** Sees every value, so that it can be kept out of the log. */
  readonly onValue: (value: string) => void;
  /** A Secret that may have changed cannot be read. Nobody else is told: what is known of it goes on. */
  readonly onUnread?: (secret: { readonly namespace: string; readonly name: string; readonly err: unknown }) => void;
}): SecretReader & { readonly size: number } {
  const { client, clock, onValue, onUnread } = options;
  const known = new Map<string, Entry>();
  const learn = (namespace: string, name: string, found: Known): void => {
    for (const value of Object.values(found.values)) onValue(value);
    const at = clock.monotonic();
    const key = `${namespace}/${name}`;
    known.delete(key);
    known.set(key, { ...found, at, until: at + secretLifeMs, usableUntil: at + secretLifeMs, retryAt: at });
    forgetUnused(at);
  };
  /** What was learned first stands first: a Secret of a cluster that is gone leaves memory once its time is over. */
  const forgetUnused = (now: number): void => {
    for (const [key, { at }] of known) {
      if (at + secretLifeMs > now) return;
      known.delete(key);
    }
  };
  const get: SecretReader['read'] = async (namespace, name, signal, told) => {
    try {
      const secret = (await client.get({ resource: secrets, namespace, name }, { signal })) as KubeObject & {
        readonly data?: Values;
      };
      const values = Object.fromEntries(
        Object.entries(secret.data ?? {}).map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')]),
      );
      const { labels = {} } = secret.metadata;
      const isOurs = labels[managedByLabel] === managedBy;
      const found = { values, isOurs, of: labels[instanceLabel] ?? '', ...(told === undefined ? {} : { told }) };
      learn(namespace, name, found);
      return found;
    } catch (error) {
      if (!isNotFound(error)) throw error;
      known.delete(`${namespace}/${name}`);
      return undefined;
    }
  };
  return {
    get size() {
      return known.size;
    },
    learn: (namespace, name, values, of) => learn(namespace, name, { values, isOurs: true, of }),
    refuse(namespace, name) {
      const entry = known.get(`${namespace}/${name}`);
      if (entry === undefined) return;
      entry.usableUntil = Math.min(entry.usableUntil, entry.at + refusedLifeMs);
      entry.until = Math.min(entry.until, entry.usableUntil);
    },
    outdate(namespace, name, olderThanMs) {
      const entry = known.get(`${namespace}/${name}`);
      if (entry === undefined) return;
      entry.until = Math.min(entry.until, Math.max(entry.at + olderThanMs, entry.retryAt));
    },
    forget(namespace, resource) {
      for (const [key, { of }] of known) {
        const isNamed = key.startsWith(`${namespace}/${resource}-`);
        if (isNamed || (of === resource && key.startsWith(`${namespace}/`))) known.delete(key);
      }
    },
    readNow: (namespace, name, signal) => get(namespace, name, signal),
    async read(namespace, name, signal, told) {
      const entry = known.get(`${namespace}/${name}`);
      const isCurrent = told === undefined || entry?.told === told;
      const now = clock.monotonic();
      if (entry !== undefined && entry.until > now && isCurrent) return entry;
      const goesOn = entry !== undefined && entry.usableUntil > now && isCurrent;
      if (!goesOn) known.delete(`${namespace}/${name}`);
      try {
        return await get(namespace, name, signal, told);
      } catch (error) {
        signal.throwIfAborted();
        if (!goesOn) throw error;
        onUnread?.({ namespace, name, err: error });
        entry.retryAt = clock.monotonic() + refusedLifeMs;
        entry.until = Math.min(entry.usableUntil, entry.retryAt);
        return entry;
      }
    },
  };
}

function isOf({ isOurs, of }: Known, whose: SecretOwner | undefined): boolean {
  if (whose === undefined) return true;
  return isOurs && (whose === 'ours' || of === undefined || of === whose.of);
}

export function engineIO(options: {
  readonly namespace: string;
  readonly secrets: SecretReader;
  readonly claims: ClaimReader;
  readonly accounts: AccountReader;
  readonly dial: Dial;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly resourceSelector?: string | undefined;
}): EngineContext {
  const { namespace, secrets: reader, claims, accounts, dial, clock, signal, resourceSelector } = options;
  // As many at once as there are questions to the members.
  setMaxListeners(0, signal);
  /** The signal of a listener lives as long as its cluster: nothing short-lived may stay tied to it. */
  async function following<T>(also: AbortSignal, work: (both: AbortSignal) => Promise<T>): Promise<T> {
    const scope = createAbortScope(signal, also);
    try {
      return await work(scope.signal);
    } finally {
      scope.dispose();
    }
  }
  return {
    dial: (host, port, also) => following(also, (both) => dial(host, port, both)),
    exchange: (request) => following(request.signal, (both) => exchangeOver(dial, { ...request, signal: both })),
    signal,
    now: () => clock.now(),
    secret: async (name, whose, told) => {
      const found = await reader.read(namespace, name, signal, told);
      return found === undefined || isOf(found, whose) ? found?.values : {};
    },
    secretNow: async (name) => (await reader.readNow(namespace, name, signal))?.values,
    secretRefused: (name) => reader.refuse(namespace, name),
    secretOutdated: (name, olderThanMs) => reader.outdate(namespace, name, olderThanMs),
    claim: (name) => claims(namespace, name, signal),
    serviceAccount: (name) => accounts(namespace, name, signal),
    sleep: (ms, also) => sleep(clock, ms, signal, also),
    ...(resourceSelector === undefined ? {} : { resourceSelector }),
  };
}
