/**
 * The only writer. It runs the steps of a plan in order. After the first that fails, it runs only those that have a finding of their own.
 * What was done shows in the world, and the next pass decides anew.
 *
 * An object is created by POST, which never takes over one that is there. A change is a server-side apply of what we
 * want; before the first one, the fields that the POST left to an `Update` entry become ours, or a field we no longer
 * set would stay for ever.
 */
import { randomInt } from 'node:crypto';
import type { KubeObject, ObjectRef } from '../api/object.ts';
import { resourceOf } from '../api/resource.ts';
import { Refused } from '../engine/refused.ts';
import { claimConflict, claimsFor } from '../plan/claimed.ts';
import { conflict, secretConflict } from '../plan/conflict.ts';
import { difference } from '../plan/difference.ts';
import { isIneffective } from '../plan/kept-fields.ts';
import { exactly } from '../plan/objects.ts';
import { type EngineAction, findingOf, type Generated, isOptional, type ObjectStep, type Step } from '../plan/plan.ts';
import { isSuperseded, writesTemplate } from '../plan/template-use.ts';
import { filledSecret } from '../resources/secret.ts';
import { ApiUnreachable, isAlreadyExists } from './api-error.ts';
import type { Cache } from './cache.ts';
import type { KubeClient } from './client.ts';
import { createIssuer, type Made } from './issuer.ts';
import { NameConflict } from './name-conflict.ts';
import { takeOverPatch } from './ownership.ts';
import { markRefusal, type ResizeStep, resize } from './resize.ts';
import type { UnansweredWrites } from './unanswered-writes.ts';

/** A step could not be done. The cause is the API server's or the database's own answer. */
export class StepFailed extends Error {
  readonly code = 'StepFailed';
  readonly step: Step;
  constructor(step: Step, cause: unknown) {
    super(`${describeStep(step)}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    this.name = 'StepFailed';
    this.step = step;
  }
}

/** The step has failed since nobody has answered: it may have been done. */
export function isUnanswered(step: Step, failure: unknown): boolean {
  return (
    failure instanceof StepFailed &&
    failure.step === step &&
    failure.cause instanceof ApiUnreachable &&
    failure.cause.maybeSent
  );
}

export function describeStep(step: Step): string {
  switch (step.type) {
    case 'create':
      return `create ${step.object.kind} ${step.object.metadata.name}`;
    case 'apply':
      return `update ${step.object.kind} ${step.object.metadata.name}`;
    case 'issue':
      return `issue ${step.object.kind} ${step.object.metadata.name}: ${step.reason}`;
    case 'patch':
      return `patch ${step.ref.resource.kind} ${step.ref.name}`;
    case 'resize':
      return `resize ${step.ref.resource.kind} ${step.ref.name} in place`;
    case 'delete':
      return `delete ${step.ref.resource.kind} ${step.ref.name}: ${step.reason}`;
    case 'act':
      return step.summary;
    default:
      return step satisfies never;
  }
}

/** Learns what came of each step, also where another one ends the run. */
export interface StepObserver {
  /** The step succeeded. `answer`: what a change has made of its object, as the API server said. */
  done(step: Step, answer?: KubeObject): void;
  /** Other steps need not wait for it. */
  failed(failure: StepFailed): void;
}

export interface Executor {
  /** Resolves with the failures of steps that others need not wait for; rejects with StepFailed or NameConflict. */
  run(
    steps: readonly Step[],
    act: (action: EngineAction) => Promise<void>,
    signal: AbortSignal,
    observer?: StepObserver,
  ): Promise<readonly StepFailed[]>;
}

export interface ExecutorOptions {
  readonly client: KubeClient;
  readonly cache: Pick<Cache, 'observeWrite' | 'observeRead' | 'observeDelete' | 'entry'>;
  /** Random characters for generated Secrets. */
  readonly generate?: (length: number) => string;
  /** Sees every generated Secret, so that its values can be kept out of the log and need not be read back. */
  readonly onSecret?: (secret: KubeObject, values: Readonly<Record<string, string>>) => void;
  /** A Secret is not what it was taken for. */
  readonly onStaleSecret?: (namespace: string, name: string) => void;
  /** The API server does not take it. The step counts as done: the next pass restarts the pod. */
  readonly onResizeRefused?: (step: Pick<ResizeStep, 'ref' | 'containers'>, words: string) => void;
  /** Wall time in milliseconds. Default: the system's. */
  readonly now?: () => number;
  /** Whether this process may still change anything: asked right before every engine action. Default always. */
  readonly mayWrite?: () => boolean;
  /** Learns of every engine action. What the client writes it knows from elsewhere. */
  readonly writes?: Pick<UnansweredWrites, 'track'>;
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

export function randomText(length: number): string {
  return Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('');
}

export function createExecutor(options: ExecutorOptions): Executor {
  const { client, cache, generate = randomText, onSecret, mayWrite = () => true } = options;
  const issuer = createIssuer(options);

  async function takeAction(action: EngineAction, act: (action: EngineAction) => Promise<void>): Promise<undefined> {
    if (!mayWrite()) throw new Error('not done, because this process does not hold the lease');
    if (options.writes === undefined) await act(action);
    else {
      await options.writes.track((sent) => {
        sent();
        return act(action);
      });
    }
    return undefined;
  }

  async function create(object: KubeObject, generated: readonly Generated[], signal: AbortSignal): Promise<void> {
    const random = Object.fromEntries(generated.map(({ key, length }) => [key, generate(length)]));
    const values = filledSecret(object, random);
    const filled = generated.length === 0 ? object : { ...object, stringData: values };
    try {
      const made = await client.create(filled, { signal });
      if (generated.length > 0) onSecret?.(made, values);
      cache.observeWrite(made);
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      // A Secret that is kept outlives its cluster, and is found again by the next one of the name.
      if (generated.length > 0) return refuseForeign(object, generated, error, signal);
      await adopt(object, error, signal);
    }
  }

  async function refuseForeign(
    object: KubeObject,
    generated: readonly Generated[],
    cause: unknown,
    signal: AbortSignal,
  ): Promise<void> {
    if (!generated.some(({ isOursAlone }) => isOursAlone === true)) return;
    const { name, namespace } = object.metadata;
    const ref = { resource: resourceOf(object), name, ...(namespace === undefined ? {} : { namespace }) };
    const whose = secretConflict({ type: 'create', object, generate: generated }, await client.get(ref, { signal }));
    if (whose !== undefined) throw new NameConflict(whose, { cause });
  }

  /** The object exists, and the cache does not have it yet: ours if the same cluster controls it. */
  async function adopt(object: KubeObject, cause: unknown, signal: AbortSignal): Promise<void> {
    const { name, namespace } = object.metadata;
    const ref = { resource: resourceOf(object), name, ...(namespace === undefined ? {} : { namespace }) };
    const live = await client.get(ref, { signal });
    const whose = conflict(object, live);
    if (whose !== undefined) throw new NameConflict(whose, { cause });
    cache.observeRead(live);
    if (object.kind === 'Job') return relabel(object, live, ref, signal);
    // Ours under another's labels is seen by no watch of ours: nobody would notice that it differs.
    if (difference(object, live).length > 0) await apply(exactly(object, live), signal);
  }

  /** A Job is made once, and is what it was when it was made: only what it is found by is set right. */
  async function relabel(object: KubeObject, live: KubeObject, ref: ObjectRef, signal: AbortSignal): Promise<void> {
    const { labels = {} } = object.metadata;
    if (Object.entries(labels).every(([label, value]) => live.metadata.labels?.[label] === value)) return;
    const metadata = { labels, uid: live.metadata.uid };
    cache.observeWrite(await client.mergePatch(ref, { metadata }, { signal }));
  }

  async function apply(object: KubeObject, signal: AbortSignal): Promise<KubeObject> {
    if (cache.entry(object)?.postOwned === true) {
      const { name, namespace } = object.metadata;
      const ref = { resource: resourceOf(object), name, ...(namespace === undefined ? {} : { namespace }) };
      const patch = takeOverPatch(await client.get(ref, { signal }));
      if (patch !== undefined) cache.observeWrite(await client.jsonPatch(ref, patch, { signal }));
    }
    const written = await client.apply(object, { force: true, signal });
    cache.observeWrite(written);
    return written;
  }

  /** The watch knows them: they have been there for longer than the cluster that would take them. */
  function refuseClaims(step: ObjectStep): void {
    for (const claim of claimsFor(step)) {
      const live = cache.entry(claim)?.object;
      const whose = live === undefined ? undefined : claimConflict(claim, live);
      if (whose !== undefined) throw new NameConflict(whose);
    }
  }

  /** `unmarked`: the UIDs of pods that are not resized after all. Resolves with the object that a change has made. */
  async function runObjectStep(
    step: ObjectStep,
    made: Made,
    unmarked: Set<string>,
    signal: AbortSignal,
  ): Promise<KubeObject | undefined> {
    refuseClaims(step);
    switch (step.type) {
      case 'create':
        await create(step.object, step.generate ?? [], signal);
        return undefined;
      case 'apply':
        return apply(step.object, signal);
      case 'issue':
        await issuer.issue(step, made, signal);
        return undefined;
      case 'patch': {
        const metadata = { ...(step.patch.metadata as object | undefined), uid: step.ref.uid };
        const write = async (): Promise<KubeObject> => {
          const written = await client.mergePatch(step.ref, { ...step.patch, metadata }, { signal });
          cache.observeWrite(written);
          return written;
        };
        if (step.resizing !== true) return write();
        const refusal = await markRefusal(step, write);
        if (refusal === undefined) return undefined;
        unmarked.add(step.ref.uid);
        options.onResizeRefused?.({ ref: step.ref, containers: [] }, refusal.words);
        return undefined;
      }
      case 'resize': {
        if (unmarked.has(step.ref.uid)) return undefined;
        const refusal = await resize(client, step, { signal }, (pod) => cache.observeWrite(pod));
        if (refusal !== undefined) options.onResizeRefused?.(step, refusal.words);
        return undefined;
      }
      case 'delete': {
        const removal = await client.remove(step.ref, { signal });
        if (removal.outcome === 'terminating') cache.observeWrite(removal.object);
        else cache.observeDelete(step.ref);
        // A new cluster of the name would take its values for those of a Secret that is there.
        if (step.ref.resource.kind === 'Secret') options.onStaleSecret?.(step.ref.namespace ?? '', step.ref.name);
        return undefined;
      }
      default:
        return step satisfies never;
    }
  }

  return {
    async run(steps, act, signal, observer) {
      const failures: StepFailed[] = [];
      const made: Made = new Map();
      const unmarked = new Set<string>();
      const written = new Set<string>();
      let ended: StepFailed | undefined;
      for (const step of steps) {
        // Who may connect rests on no other step: a database that runs must not stay open because something else fails.
        if (ended !== undefined && findingOf(step) === undefined) continue;
        if (isSuperseded(step, written)) continue;
        signal.throwIfAborted();
        try {
          const answer = await (step.type === 'act'
            ? takeAction(step.action, act)
            : runObjectStep(step, made, unmarked, signal));
          if (writesTemplate(step) && answer !== undefined) {
            const { name } = step.object.metadata;
            if (!isIneffective(step, answer)) written.add(name);
          }
          observer?.done(step, answer);
        } catch (error) {
          signal.throwIfAborted();
          if (error instanceof NameConflict && findingOf(step) === undefined) throw error;
          const failure = new StepFailed(step, error);
          if (isOptional(step) || error instanceof Refused) {
            failures.push(failure);
            observer?.failed(failure);
          } else if (error instanceof ApiUnreachable) throw failure;
          else ended = failure;
        }
      }
      if (ended !== undefined) throw ended;
      return failures;
    },
  };
}
