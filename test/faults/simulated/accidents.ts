/** The faults of a plan that befall the world rather than the wire: each begins when the wire says so. */
import { isDeepStrictEqual } from 'node:util';
import { leases } from '../../../src/api/resource.ts';
import { agentComponent, componentLabel } from '../../../src/resources/metadata.ts';
import { isNotFound } from '../../../src/runtime/api-error.ts';
import type { KubeClient } from '../../../src/runtime/client.ts';
import type { TransportRequest } from '../../../src/runtime/transport.ts';
import type { Vault } from '../backup/vault.ts';
import type { Fault } from '../plan.ts';
import type { Stage } from '../scenarios/scenario.ts';
import type { SimulatedWorld, Subject } from '../subject.ts';
import { targetOf } from '../wire/request.ts';
import { leaselessMs } from '../wire/wire.ts';
import { drift, findObject } from './drift.ts';
import type { Operators } from './operators.ts';
import { pause } from './stage.ts';

export interface Accidents {
  begin(fault: Fault): void;
  /** Somebody else changes the object of a request just before it arrives. */
  touch(request: TransportRequest): Promise<void>;
  /** Resolves when everything that was begun is done; rejects when it could not be. */
  over(): Promise<void>;
}

export function createAccidents(options: {
  readonly world: SimulatedWorld;
  readonly subject: Subject;
  readonly stage: Pick<Stage, 'change'>;
  readonly operators: Pick<Operators, 'restart' | 'pause'>;
  /** Somebody who is neither the operator nor the user. */
  readonly somebody: KubeClient;
  readonly vault: Pick<Vault, 'away'>;
}): Accidents {
  const { world, subject, stage, operators, somebody, vault } = options;
  const { kubernetes, namespace, time } = world;
  const pending: Promise<void>[] = [];

  async function stealLease(): Promise<void> {
    const lease = kubernetes.objects().find(({ kind }) => kind === 'Lease');
    if (lease === undefined) return;
    const spec = { holderIdentity: 'usurper', leaseDurationSeconds: 15, renewTime: new Date(time.now()).toISOString() };
    await somebody.mergePatch({ resource: leases, namespace, name: lease.metadata.name }, { spec });
  }

  async function flap(fault: Extract<Fault, { do: 'flap' }>): Promise<void> {
    const held = kubernetes.objects().find(({ kind }) => kind === subject.resource.kind);
    const spec = (held?.spec ?? {}) as Readonly<Record<string, unknown>>;
    if (held === undefined) return;
    const before = restoring(fault.spec, spec);
    await stage.change(fault.spec);
    await pause(world, fault.forMs);
    const now = kubernetes.objects().find(({ kind }) => kind === subject.resource.kind);
    // Who takes back a mistake takes nothing back that somebody else has wanted since.
    if (!isDeepStrictEqual(restoring(fault.spec, (now?.spec ?? {}) as typeof spec), fault.spec)) return;
    // It may be between two clusters of its name.
    await stage.change(before).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
  }

  async function happen(fault: Fault): Promise<void> {
    switch (fault.do) {
      case 'apiDown':
        await pause(world, fault.forMs);
        kubernetes.compact();
        return;
      case 'skipVersions':
        kubernetes.compact();
        return;
      case 'expire':
        if (fault.how !== 'tooLarge') kubernetes.compact();
        return;
      case 'freezeView':
        return operators.restart();
      case 'loseLease':
        if (fault.how === 'stolen') return stealLease();
        if (fault.how === 'paused') operators.pause(leaselessMs);
        return;
      case 'drift': {
        const object = findObject(kubernetes, fault.resource, fault.name, namespace);
        return object === undefined ? undefined : drift(fault, object, somebody);
      }
      case 'flap':
        return flap(fault);
      case 'killAgent':
        return killAgent(world);
      case 'storeAway':
        vault.away(fault.forMs);
        return;
      case 'kill':
      case 'freeze':
      case 'isolate':
      case 'fillDisk':
        return subject.afflict(world, fault);
      default:
      // The wire's own.
    }
  }

  return {
    begin(fault) {
      const happening = happen(fault);
      happening.catch(() => undefined);
      pending.push(happening);
    },
    async touch(request) {
      const { resource, name } = targetOf(request.path);
      const object = name === undefined ? undefined : findObject(kubernetes, resource, name, namespace);
      // Labels of pods and volumes are given once, by their StatefulSet.
      if (object === undefined || name === undefined || ['pods', 'persistentvolumeclaims'].includes(resource)) return;
      await drift({ do: 'drift', at: { ms: 0 }, how: 'relabel', resource, name }, object, somebody);
    },
    async over() {
      await Promise.all(pending);
    },
  };
}

/** The process of whichever pod is at work on a backup. */
function killAgent({ kubernetes, namespace }: SimulatedWorld): void {
  const pod = kubernetes.objects().find(({ kind, metadata, status }) => {
    const { phase, podIP } = (status ?? {}) as { readonly phase?: string; readonly podIP?: string };
    const isAtWork = podIP !== undefined && (phase === 'Running' || phase === 'Pending');
    return kind === 'Pod' && metadata.labels?.[componentLabel] === agentComponent && isAtWork;
  });
  if (pod !== undefined) kubernetes.killContainer(namespace, pod.metadata.name);
}

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The merge patch that takes back what `patch` does to `held`. */
function restoring(patch: Fields, held: Fields): Fields {
  return Object.fromEntries(
    Object.entries(patch).map(([field, value]) => {
      const before = held[field];
      return [field, isFields(value) && isFields(before) ? restoring(value, before) : (before ?? null)];
    }),
  );
}
