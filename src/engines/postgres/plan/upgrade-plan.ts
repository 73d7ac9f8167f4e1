/** What a stage of an upgrade asks for: steps, and what is written down with them in the same reconcile. */
import type { Outcome, Step } from '../../../plan/plan.ts';
import type { PostgresAction } from '../action.ts';
import { isGoing, podOf, type Situation } from '../observe/situation.ts';
import type { Roster } from '../resources/roster.ts';
import type { UpgradeRecord } from '../resources/upgrade-record.ts';

export interface UpgradePlan {
  readonly steps: readonly Step<PostgresAction>[];
  readonly outcome: Outcome;
  /** It begins with this plan, or with the backup that this plan takes: the members stop. */
  readonly begins?: true;
  /** That backup is at work. */
  readonly prepares?: true;
  /** Undefined: the upgrade is over. */
  readonly record: UpgradeRecord | undefined;
  /** Default: all members. */
  readonly isRunning?: (index: number) => boolean;
  /** Default: as it is. */
  readonly roster?: Roster;
  /** Default: as it is. */
  readonly cluster?: Situation['cluster'];
}

/** How often to look again where no watch would tell. */
export const upgradeRecheckMs = 500;

/** Nobody could be stopped: the volume would go with its pod. */
export function volumesGoing(situation: Situation): string | undefined {
  const [going] = [...situation.roster.keys()].filter((index) => isGoing(situation, index));
  return going === undefined
    ? undefined
    : `somebody has deleted the volume of ${podOf(situation, going)}, and it goes when the pod stops: replace that member before the upgrade`;
}
