/**
 * The faults of a plan that happen to the world and not to the wire: to processes, volumes and packets of real pods, to
 * objects that somebody else changes, to the operator's own process and its lease.
 */

import type { KubeObject } from '../../../src/api/object.ts';
import { leases } from '../../../src/api/resource.ts';
import { leaseName } from '../../../src/jobs/permissions.ts';
import { instanceLabel } from '../../../src/resources/metadata.ts';
import { isNotFound } from '../../../src/runtime/api-error.ts';
import { microTime } from '../../../src/runtime/lease.ts';
import { cutRules } from '../../../src/sandbox/faults/cut.ts';
import { type PodRef, podName } from '../../../src/sandbox/faults/pod.ts';
import { killProcess } from '../../../src/sandbox/faults/process.ts';
import { fillVolume, freeVolume } from '../../../src/sandbox/faults/volume.ts';
import { addresses } from '../../../src/sandbox/layout.ts';
import { addRules, removeRules, tagPrefix } from '../../../src/sandbox/netfilter.ts';
import { removeByName } from '../../support/kubernetes.ts';
import { childResources } from '../../support/resources.ts';
import { until } from '../../support/until.ts';
import { copyOf } from '../copies.ts';
import type { Fault } from '../plan.ts';
import type { Operator } from './operator.ts';
import { clusterName, type Place } from './place.ts';

/** Where a plan does not say how long. */
const defaultMs = 6_000;
/** Longer than the lease lasts: another process takes it over meanwhile. */
const pausedMs = 20_000;

function pass(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Packet filters are rewritten as a whole: one change at a time. */
let filtering: Promise<unknown> = Promise.resolve();
function exclusively<T>(work: () => Promise<T>): Promise<T> {
  const done = filtering.then(work, work);
  filtering = done.catch(() => undefined);
  return done;
}

/** Resolves when the fault is over; rejects when it could not happen. */
export async function afflict(place: Place, operator: Operator, fault: Fault): Promise<void> {
  switch (fault.do) {
    case 'loseLease':
      return loseLease(place, operator, fault.how);
    case 'freezeView':
      operator.restart();
      return freeLease(place);
    case 'expire':
    case 'skipVersions':
      // The wire says so; a real server need not forget anything.
      return;
    case 'apiDown':
      return operator.refuse(fault.forMs);
    case 'drift':
      return drift(place, fault);
    case 'kill':
    case 'freeze':
    case 'isolate':
    case 'fillDisk':
      return breakMember(place, fault);
    case 'flap': {
      const { spec = {} } = (await place.cluster.object()) as { spec?: Record<string, unknown> };
      const before = Object.fromEntries(Object.keys(fault.spec).map((key) => [key, spec[key] ?? null]));
      await place.cluster.change(fault.spec);
      await pass(fault.forMs);
      return place.cluster.change(before);
    }
    default:
      throw new Error(`${fault.do} is not for real pods`);
  }
}

/** As if the lease of a dead process had run out already. */
export async function freeLease({ client, namespace }: Place): Promise<void> {
  try {
    await removeByName(client, await client.get({ resource: leases, namespace, name: leaseName }));
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

async function loseLease(
  place: Place,
  operator: Operator,
  how: Extract<Fault, { do: 'loseLease' }>['how'],
): Promise<void> {
  switch (how) {
    case 'stolen': {
      const { client, namespace } = place;
      const lease = await client.get({ resource: leases, namespace, name: leaseName });
      const spec = {
        ...(lease.spec as object),
        holderIdentity: 'somebody-else',
        renewTime: microTime(Date.now()),
      };
      await client.mergePatch({ resource: leases, namespace, name: leaseName }, { spec });
      return;
    }
    case 'unrenewed':
      // The wire sees to it.
      return;
    case 'paused':
      return operator.pause(pausedMs);
    default:
      return how satisfies never;
  }
}

async function breakMember(
  place: Place,
  fault: Extract<Fault, { do: 'kill' | 'freeze' | 'isolate' | 'fillDisk' }>,
): Promise<void> {
  const { cluster, namespace } = place;
  const name = await until(
    'the member that breaks',
    async () =>
      fault.member === 'primary' ? (await cluster.primary()).metadata.name : `${clusterName}-${fault.member}`,
    { withinMs: 15_000 },
  );
  const pod = { namespace, name };
  const forMs = fault.forMs ?? defaultMs;
  switch (fault.do) {
    case 'kill':
      await until(`${name} running`, () => killProcess(pod), { withinMs: 20_000 });
      return;
    case 'freeze':
      await until(`${name} running`, () => killProcess(pod, { signal: 'SIGSTOP' }), { withinMs: 20_000 });
      await pass(forMs);
      // Its kubelet may have ended it meanwhile: whoever runs there now is not stopped.
      await killProcess(pod, { signal: 'SIGCONT' }).catch(() => undefined);
      return;
    case 'isolate':
      return isolate(place, pod, fault.from ?? 'everybody', forMs);
    case 'fillDisk':
      await fillVolume(pod);
      await pass(forMs);
      return freeVolume(pod);
    default:
      return fault.do satisfies never;
  }
}

/**
 * Cuts a pod off from every other, whoever comes while it lasts included, or from those of its cluster that are there.
 * This machine, and so the operator, reaches it.
 */
async function isolate({ cluster }: Place, pod: PodRef, from: 'everybody' | 'present', forMs: number): Promise<void> {
  const tag = `${tagPrefix}isolated:${podName(pod)}`;
  const { data, sentinels } = await cluster.pods();
  const ipOf = (name: string): string => data.find(({ metadata }) => metadata.name === name)?.status?.podIP ?? '';
  const address = ipOf(pod.name);
  const present = [...data, ...sentinels].flatMap(({ status }) => status?.podIP ?? []);
  const others = from === 'everybody' ? [addresses.podRange] : present.filter((other) => other !== address);
  await exclusively(() => addRules(others.flatMap((other) => cutRules(tag, address, other))));
  try {
    await pass(forMs);
  } finally {
    await exclusively(() => removeRules((each) => each === tag));
  }
}

async function drift(place: Place, fault: Extract<Fault, { do: 'drift' }>): Promise<void> {
  const { client, namespace } = place;
  const resource = childResources.find(({ plural }) => plural === fault.resource);
  if (resource === undefined) throw new Error(`${fault.resource} is nothing that the operator makes`);
  const ref = { resource, namespace, name: fault.name };
  const object = await until(`${fault.resource}/${fault.name}`, () => client.get(ref), { withinMs: 15_000 });
  switch (fault.how) {
    case 'delete':
      return removeByName(client, object, { propagation: 'Background' });
    case 'edit':
      await client.mergePatch(ref, edited(object));
      return;
    case 'relabel':
      await client.mergePatch(ref, { metadata: { labels: { [instanceLabel]: 'somebody-else' } } });
      return;
    case 'disown':
      await client.mergePatch(ref, { metadata: { ownerReferences: null } });
      return;
    case 'copy':
      await client.create(copyOf(object));
      return;
    default:
      return fault.how satisfies never;
  }
}

/** A change of a field that the operator sets. */
function edited({ kind, data, spec }: KubeObject): object {
  switch (kind) {
    case 'ConfigMap': {
      const [first = 'redis.conf', text = ''] = Object.entries(data as Record<string, string>)[0] ?? [];
      return { data: { [first]: `${text}\n# edited by somebody else\n` } };
    }
    case 'Service':
      return {
        spec: {
          publishNotReadyAddresses: (spec as { publishNotReadyAddresses?: boolean }).publishNotReadyAddresses !== true,
        },
      };
    case 'StatefulSet':
      return { spec: { minReadySeconds: 7 } };
    case 'PodDisruptionBudget':
      return { spec: { maxUnavailable: 2 } };
    default:
      return { metadata: { labels: { 'app.kubernetes.io/part-of': 'somebody-else' } } };
  }
}
