/** Objects with statuses as the operator writes them, and what Argo CD is to say of each: test data in the layout of Argo CD's own tests. */
import { parse } from 'yaml';
import { mergeConditions } from '../../api/condition.ts';
import type { KindDefinition } from '../../api/kind.ts';
import { apiVersionOf, type KubeObject } from '../../api/object.ts';
import { unobservedStatus } from '../../api/observed-generation.ts';
import type { Phase } from '../../api/status.ts';
import { desiredConditions, type Judged } from '../../engine/desired-conditions.ts';
import type { KindHandler } from '../../engine/engine.ts';

export interface Health {
  readonly status: 'Healthy' | 'Progressing' | 'Degraded' | 'Suspended';
  readonly message: string;
}

export interface HealthExample {
  /** Of the file. */
  readonly name: string;
  readonly object: KubeObject;
  readonly health: Health;
}

const at = '2030-06-01T12:00:00Z';
const generation = 2;
const notObserved: Health = { status: 'Progressing', message: 'Waiting for the operator to observe the resource' };

export type HealthRow = readonly [
  phase: Phase,
  health: Health['status'],
  ready: 'True' | 'False',
  reason: string,
  message: string,
  judged: Judged,
];

/** A status for each phase of a kind; phases that the kind does not have are left out. */
const rows: readonly HealthRow[] = [
  ['Creating', 'Progressing', 'False', 'Forming', 'the first member starts', { progressing: true }],
  ['Ready', 'Healthy', 'True', 'AllMembersReady', 'every member is in sync and reachable', {}],
  ['Updating', 'Progressing', 'False', 'Updating', 'changes are being applied', { progressing: true }],
  ['Degraded', 'Degraded', 'False', 'MembersNotReady', 'a member is missing', { progressing: true, degraded: true }],
  ['Blocked', 'Degraded', 'False', 'NameConflict', 'a name is taken', { stalled: true }],
  ['Invalid', 'Degraded', 'False', 'InvalidSpec', 'the spec violates a rule', { stalled: true }],
  ['Paused', 'Suspended', 'True', 'AllMembersReady', 'every member is in sync and reachable', {}],
  ['Pending', 'Progressing', 'False', 'Starting', 'its Job is being started', { progressing: true }],
  ['Running', 'Progressing', 'False', 'Running', 'the agent reads the data', { progressing: true }],
  ['Verified', 'Healthy', 'True', 'Verified', 'it was read back from its target and found whole', {}],
  ['Failed', 'Degraded', 'False', 'AgentFailed', 'the target refuses', { degraded: true, stalled: true }],
  ['Active', 'Healthy', 'True', 'Scheduled', 'the last run was verified', {}],
  ['Suspended', 'Suspended', 'True', 'Suspended', 'no more runs begin', {}],
];

export function healthExamples(handler: KindHandler): readonly HealthExample[] {
  const { kind } = handler;
  const phases = kind.schema.properties?.status?.properties?.phase?.enum ?? [];
  const known = rows.filter(([phase]) => phases.includes(phase));
  const [first] = known;
  return [
    { name: 'not-observed', object: exampleOf(handler, unobservedStatus), health: notObserved },
    ...(first === undefined
      ? []
      : [{ name: 'spec-changed', object: exampleOf(handler, statusOf(first, generation - 1)), health: notObserved }]),
    ...known.map((row): HealthExample => {
      const [phase, status, , , message] = row;
      return { name: phase.toLowerCase(), object: exampleOf(handler, statusOf(row)), health: { status, message } };
    }),
  ];
}

function statusOf([phase, , ready, reason, message, judged]: HealthRow, observedGeneration = generation): object {
  const conditions = mergeConditions([], desiredConditions(ready, reason, message, judged), observedGeneration, at);
  const isBlocked = phase === 'Blocked' || phase === 'Invalid';
  return { observedGeneration, phase, conditions, ...(isBlocked ? { plan: { blockedBy: message } } : {}) };
}

/** The smallest object of the kind, with more fields of its spec. */
export function exampleOf(
  { kind, reference }: Pick<KindHandler, 'kind' | 'reference'>,
  status?: object,
  more: object = {},
): KubeObject {
  const { spec } = parse(reference?.sample ?? 'spec: {}') as { readonly spec: object };
  return {
    ...identityOf(kind),
    spec: { ...spec, ...more },
    ...(status === undefined ? {} : { status }),
  };
}

function identityOf({ resource }: KindDefinition): Pick<KubeObject, 'apiVersion' | 'kind' | 'metadata'> {
  const metadata = { name: 'sample', namespace: 'databases', generation };
  return { apiVersion: apiVersionOf(resource), kind: resource.kind, metadata };
}
