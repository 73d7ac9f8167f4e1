/** What the API server refuses to expand: a StorageClass that does not allow it, a quota, a webhook. Pure. */
import { shortened } from '../api/bounds.ts';
import type { DesiredCondition } from '../api/condition.ts';
import { persistentVolumeClaims } from '../api/resource.ts';
import type { StatusReport } from '../engine/engine.ts';
import { blocked, type ObjectStep, type Outcome, type Plan, type Step } from '../plan/plan.ts';
import { expandingVolumes, requestPath, volumesTooSmall } from '../plan/volume-expansion.ts';
import { ApiError } from './api-error.ts';
import type { StepFailed } from './executor.ts';
import { refusedBy } from './refused-by.ts';

type Blocked = Extract<Outcome, { state: 'blocked' }>;
export type Expansion = Extract<ObjectStep, { type: 'patch' }>;

export interface RefusedExpansion {
  /** Of the condition. */
  readonly reason: 'ExpansionNotSupported' | 'ExpansionRefused';
  /** The API server's own. */
  readonly words: string;
}

/** Undefined where none is. What was not answered, and what is not true any more, is asked for again. */
export function refusedExpansion(failures: readonly StepFailed[]): RefusedExpansion | undefined {
  const refused = failures.flatMap(({ step, cause }) => (isExpansion(step) && isRefusal(cause) ? [cause] : []));
  const [first] = refused;
  if (first === undefined) return undefined;
  const isUnsupported = refused.every(({ message }) => message.includes('storageclass that provisions the pvc'));
  return {
    reason: isUnsupported ? 'ExpansionNotSupported' : 'ExpansionRefused',
    words: `the API server refuses to expand them: ${shortened(first.message, 400)}`,
  };
}

export function isExpansion(step: Step): step is Expansion {
  return (
    step.type === 'patch' &&
    step.ref.resource === persistentVolumeClaims &&
    step.changes.some(({ path }) => path === requestPath)
  );
}

/** The API server has said no, and will say so again until somebody changes something. */
export function isRefusal(cause: unknown): cause is ApiError {
  if (!(cause instanceof ApiError)) return false;
  const { status } = cause;
  return status === 400 || status === 403 || status === 422 || refusedBy(cause) !== undefined;
}

/** Where nothing but the volumes is waited for, nothing goes on before somebody has changed something. */
export function blockedBy(refused: RefusedExpansion | undefined, { outcome }: Plan): Blocked | undefined {
  if (refused === undefined || outcome.state !== 'wait' || outcome.reason !== expandingVolumes) return undefined;
  return blocked(volumesTooSmall, withWords(outcome.message, refused));
}

/** The condition tells why, whatever else the plan waits for. */
export function withRefusal(report: StatusReport, refused: RefusedExpansion | undefined): StatusReport {
  if (refused === undefined) return report;
  const { reason } = refused;
  const told = (one: DesiredCondition): DesiredCondition =>
    one.type === volumesTooSmall ? { ...one, reason, message: withWords(one.message, refused) } : one;
  return { ...report, conditions: report.conditions.map(told) };
}

/** Steps that were refused are nobody's next step. */
export function withoutExpansions(steps: readonly Step[]): readonly Step[] {
  return steps.filter((step) => !isExpansion(step));
}

function withWords(message: string, { words }: RefusedExpansion): string {
  return shortened(`${message}; ${words}`);
}
