/** Phase and conditions, from what the rules of a mode have found: the same for every mode. */
import type { Cluster } from '../../../api/cluster.ts';
import type { DesiredCondition } from '../../../api/condition.ts';
import type { Phase } from '../../../api/status.ts';
import { desiredConditions } from '../../../engine/desired-conditions.ts';
import type { Outcome } from '../../../plan/plan.ts';
import { awaitedExpansion, expandingVolumes } from '../../../plan/volume-expansion.ts';
import type { MemberFinding } from '../client/findings.ts';
import type { RedisSpec } from '../kind/schema.ts';

export interface Judgement {
  readonly phase: Phase;
  readonly conditions: readonly DesiredCondition[];
}

export interface Found {
  readonly cluster: Cluster<RedisSpec>;
  readonly outcome: Outcome;
  readonly initialized: boolean;
  /** All data has a primary. */
  readonly isServed: boolean;
  /** Clients are led to the right members. */
  readonly isReachable: boolean;
  /** Its data is on its way: until it is there the cluster is being created. */
  readonly isAwaited?: boolean;
  /** What users could notice, findings among them. Empty where nobody can tell. */
  readonly problems: readonly string[];
  readonly findings: readonly MemberFinding[];
  /** The spec asks for something that is not there yet. */
  readonly isChanging: boolean;
  readonly isGrowing: boolean;
}

export function judged(found: Found): Judgement {
  const { cluster, outcome, initialized, isServed, isReachable, isAwaited, problems, findings, isChanging, isGrowing } =
    found;
  const [finding] = findings;
  if (outcome.state === 'blocked') {
    return {
      phase: 'Blocked',
      conditions: desiredConditions('False', outcome.reason, outcome.message, {
        degraded: initialized && (!isServed || problems.length > 0),
        stalled: true,
      }),
    };
  }
  if (isServed && isReachable && problems.length === 0 && !isChanging && !isGrowing) {
    return {
      phase: 'Ready',
      conditions: desiredConditions('True', 'AllMembersReady', 'every member is in sync and reachable', {}),
    };
  }
  if (finding !== undefined && outcome.state === 'settled' && !isChanging) {
    const { type, message } = finding;
    return { phase: 'Degraded', conditions: desiredConditions('False', type, message, { degraded: true }) };
  }
  const reason = outcome.state === 'wait' ? outcome.reason : 'Updating';
  const message = outcome.state === 'wait' ? outcome.message : 'changes are being applied';
  const { status = {}, metadata } = cluster;
  const { phase: before, observedGeneration } = status;
  if (before === undefined || before === 'Creating' || isAwaited === true) {
    return { phase: 'Creating', conditions: desiredConditions('False', reason, message, { progressing: true }) };
  }
  const wasUpdating = before === 'Updating' && !awaitedExpansion(status);
  const asked = isChanging || wasUpdating || observedGeneration !== metadata.generation;
  // Volumes may take for ever, and no change that anybody asks for fills a disk.
  const isFull = findings.some(({ type }) => type === 'DiskFull');
  const updating = asked ? !isFull : reason === expandingVolumes && problems.length === 0;
  if (updating && isServed) {
    return { phase: 'Updating', conditions: desiredConditions('False', reason, message, { progressing: true }) };
  }
  return {
    phase: 'Degraded',
    conditions: desiredConditions('False', reason, message, { progressing: true, degraded: true }),
  };
}
