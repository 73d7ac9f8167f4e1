/**
 * Carries out an issue: reads the Secrets as they are now, makes the keys, and writes the Secret under the condition that
 * it is still the one that the plan rests on. The keys are nowhere else.
 */
import type { KubeObject } from '../api/object.ts';
import { secrets } from '../api/resource.ts';
import type { Randomness } from '../certificates/certificate.ts';
import { digestOf, type Values } from '../certificates/facts.ts';
import { type Issue, issued, type Material, sourceOf } from '../certificates/issue.ts';
import { certManagerPrefix, isLeftByCertManager, secretConflict, sourceConflict } from '../plan/conflict.ts';
import type { ObjectStep } from '../plan/plan.ts';
import { isAlreadyExists, isNotFound } from './api-error.ts';
import type { KubeClient } from './client.ts';
import { NameConflict } from './name-conflict.ts';

export type IssueStep = Extract<ObjectStep, { readonly type: 'issue' }>;

export interface IssuerOptions {
  readonly client: Pick<KubeClient, 'get' | 'create' | 'mergePatch'>;
  readonly onSecret?: (secret: KubeObject, values: Values) => void;
  readonly onStaleSecret?: (namespace: string, name: string) => void;
  readonly now?: () => number;
  readonly randomness?: Randomness;
}

/** The Secrets that the steps of one plan have made so far, by name: what comes after need not read them back. */
export type Made = Map<string, Values>;

export interface Issuer {
  issue(step: IssueStep, made: Made, signal: AbortSignal): Promise<void>;
}

const absent = digestOf(undefined);
const outdated = 'it is not as it was when this was decided';

export function createIssuer(options: IssuerOptions): Issuer {
  const { client, onSecret, onStaleSecret, now = Date.now, randomness } = options;

  async function read(namespace: string, name: string, signal: AbortSignal): Promise<KubeObject | undefined> {
    try {
      return await client.get({ resource: secrets, namespace, name }, { signal });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  return {
    async issue(step, earlier, signal) {
      const { object, issue } = step;
      const { name, namespace = '' } = object.metadata;
      const source = sourceOf(issue);
      const known = source === undefined ? undefined : earlier.get(source);
      const [live, from] = await Promise.all([
        // One that is not there is created, which fails where it is there by now.
        issue.seen === absent ? undefined : read(namespace, name, signal),
        source === undefined || known !== undefined ? undefined : read(namespace, source, signal),
      ]);
      refuseOthers(step, live);
      if (from !== undefined) refuse(sourceConflict(step, from));
      const own = live === undefined ? undefined : valuesOf(live);
      if (digestOf(own) !== issue.seen) {
        onStaleSecret?.(namespace, name);
        throw new Error(outdated);
      }
      const made = makeOf(
        issue,
        { own, source: known ?? (from === undefined ? undefined : valuesOf(from)) },
        namespace,
      );
      try {
        const written = await write(object, live, made, signal);
        onSecret?.(written, made);
        earlier.set(name, made);
      } catch (error) {
        if (!isAlreadyExists(error)) throw error;
        refuseOthers(step, await read(namespace, name, signal));
        onStaleSecret?.(namespace, name);
        throw new Error(outdated, { cause: error });
      }
    },
  };

  function makeOf(issue: Issue, material: Material, namespace: string): Values {
    try {
      return issued(issue, material, now(), randomness);
    } catch (error) {
      const source = sourceOf(issue);
      if (source !== undefined) onStaleSecret?.(namespace, source);
      throw error;
    }
  }

  async function write(
    object: KubeObject,
    live: KubeObject | undefined,
    values: Values,
    signal: AbortSignal,
  ): Promise<KubeObject> {
    if (live !== undefined) {
      const { name, namespace = '', uid, resourceVersion } = live.metadata;
      const gone = Object.keys((live.data ?? {}) as Values).filter((key) => !(key in values));
      const data = { ...encoded(values), ...Object.fromEntries(gone.map((key) => [key, null])) };
      const ref = { resource: secrets, namespace, name };
      const metadata = { uid, resourceVersion, ...(isLeftByCertManager(live) ? takenOver(live, object) : {}) };
      return client.mergePatch(ref, { metadata, data }, { signal });
    }
    return client.create({ ...object, data: encoded(values) }, { signal });
  }
}

function refuseOthers(step: IssueStep, live: KubeObject | undefined): void {
  refuse(live === undefined ? undefined : secretConflict(step, live));
}

function refuse(whose: string | undefined): void {
  if (whose !== undefined) throw new NameConflict(whose);
}

function takenOver({ metadata: { annotations = {} } }: KubeObject, { metadata: { labels } }: KubeObject): object {
  const theirs = Object.keys(annotations).filter((key) => key.startsWith(certManagerPrefix));
  return { labels, annotations: Object.fromEntries(theirs.map((key) => [key, null])) };
}

function valuesOf(secret: KubeObject): Values {
  return Object.fromEntries(
    Object.entries((secret.data ?? {}) as Values).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]),
  );
}

function encoded(values: Values): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString('base64')]));
}
