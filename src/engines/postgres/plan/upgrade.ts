/**
 * A major upgrade that is under way, stage by stage. Each reconcile decides from the record, Kubernetes and the members alone, so the
 * operator may be killed after any write. The order, and why, is in ADR 33.
 */
import type { Situation } from '../observe/situation.ts';
import { planUndo } from './upgrade-cancel.ts';
import { planUpgrading } from './upgrade-data.ts';
import type { UpgradePlan } from './upgrade-plan.ts';
import { planStopping } from './upgrade-stop.ts';
import { planStarting, planSwitching } from './upgrade-switch.ts';

/** Undefined where the cluster is planned like any other. */
export function continueUpgrade(situation: Situation): UpgradePlan | undefined {
  const { upgrade } = situation;
  if (upgrade === undefined) return undefined;
  const { stage } = upgrade;
  switch (stage) {
    case 'finishing':
    case 'cancelled':
      return undefined;
    case 'stopping':
      return planStopping(situation, upgrade);
    case 'upgrading':
      return planUpgrading(situation, upgrade);
    case 'undoing':
      return planUndo(situation, upgrade);
    case 'switching':
      return planSwitching(situation, upgrade);
    case 'starting':
      return planStarting(situation, upgrade);
    default:
      return stage satisfies never;
  }
}
