/**
 * The Services of `access` and the NetworkPolicy, of every kind and whatever a plan comes to: an engine decides nothing about them. A cluster
 * that is blocked may have members that run, and clients. See ADR 41.
 */
import type { Cluster } from '../api/cluster.ts';
import type { KubeObject } from '../api/object.ts';
import { networkPolicies, services } from '../api/resource.ts';
import type { Children } from '../resources/children.ts';
import { accessMayFail } from './access.ts';
import { conflict } from './conflict.ts';
import { type Desired, objectSteps } from './objects.ts';
import type { ObjectStep, Plan, Step } from './plan.ts';
import { surplusSteps } from './surplus.ts';

export interface WantedAccess {
  readonly children: readonly Desired[];
  /** All children that the spec asks for. A label that somebody has changed makes none of them one that goes. */
  readonly desired: readonly Desired[];
  /** The other Services of the cluster. If another owner has one of them, the cluster is in conflict over its name. */
  readonly services: readonly KubeObject[];
}

/** `desired`: all children that the spec asks for. */
export function wantedAccess(desired: readonly Desired[]): WantedAccess {
  const isAccess = ({ mayFail }: Desired): boolean => mayFail?.finding === accessMayFail.finding;
  const others = desired.filter((child) => !isAccess(child)).map(({ object }) => object);
  return { children: desired.filter(isAccess), desired, services: others.filter(({ kind }) => kind === services.kind) };
}

/**
 * The plan with these steps in the place of those that the engine may have planned for the same objects. A Service exposes the cluster: for
 * one that has not been formed yet, it is created when the engine plans that.
 */
export function withAccess(cluster: Cluster, children: Children, wanted: WantedAccess, plan: Plan): Plan {
  const asked = objectSteps(wanted.children, children);
  const surplus = surplusSteps(cluster, children, wanted.desired);
  const own = new Set([...wanted.children.map(({ object }) => keyOf(object.kind, object)), ...surplus.map(keyOfStep)]);
  const planned = plan.steps.filter((step) => own.has(keyOfStep(step)));
  const others = plan.steps.filter((step) => !planned.includes(step));
  if (isNameTaken(wanted, children)) return { ...plan, steps: others };
  const isFormed = cluster.status?.initialized === true;
  const mayCreate = (step: ObjectStep): boolean =>
    isFormed || kindOf(step) === networkPolicies.kind || planned.some((each) => keyOfStep(each) === keyOfStep(step));
  const steps = asked.filter((step) => step.type !== 'create' || mayCreate(step));
  return { ...plan, steps: [...others, ...steps, ...surplus] };
}

function kindOf(step: ObjectStep): string {
  return 'object' in step ? step.object.kind : step.ref.resource.kind;
}

function keyOf(kind: string, { metadata }: Pick<KubeObject, 'metadata'>): string {
  return `${kind}/${metadata.name}`;
}

/** Undefined for what is done to the database itself. */
function keyOfStep(step: Step): string | undefined {
  if (step.type === 'act') return undefined;
  return 'object' in step ? keyOf(step.object.kind, step.object) : `${step.ref.resource.kind}/${step.ref.name}`;
}

/** An earlier cluster of the name still has it, and pods with the same labels. */
function isNameTaken(wanted: WantedAccess, children: Children): boolean {
  return wanted.services.some((service) => {
    const live = children.get(service.kind, service.metadata.name);
    return live !== undefined && conflict(service, live) !== undefined;
  });
}
